//! The whole console against the real service.

use crate::support::{console::Console, service::TestService};
use groupdesk::{
    config::{
        Environment,
        profile::{KeySource, Profile},
    },
    directory::Directory,
    domain::{
        change::Wanted,
        group::{EnvironmentTag, UserGroupId},
    },
    operations::{Clock, Operations},
    tui::theme::Theme,
};
use secrecy::ExposeSecret;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn scratch() {
    let service = TestService::start().await;
    let dir = Directory::open(&service.folder.path().join("directory.db")).unwrap();
    let env: Environment = [
        ("PROD", service.production_key.expose_secret().to_owned()),
        ("TEST", service.testing_key.expose_secret().to_owned()),
    ]
    .into_iter()
    .collect();
    let ops = |name: &str, key: &str, tag: EnvironmentTag, production| {
        Operations::new(
            Profile {
                name: name.into(),
                base_url: service.base_url(),
                path: "/api/user".into(),
                api_key: KeySource::Env(key.into()),
                environment: Some(tag),
                production,
                read_only: false,
                timeout: Duration::from_secs(10),
                connect_timeout: Duration::from_secs(5),
                allow_plain_http: false,
                proxy_from_environment: false,
                read_properties: true,
            },
            env.clone(),
            dir.clone(),
            "ana@bastion2".into(),
            Clock::System,
        )
    };
    let t = ops("testing", "TEST", EnvironmentTag::Testing, false);
    let p = ops("production", "PROD", EnvironmentTag::Customer, true);
    for (id, name) in [
        ("acme-eu", "Acme Europe"),
        ("acme-us", "Acme US"),
        ("globex-retail", "Globex Retail"),
        ("tokyo", "東京電力 Holdings"),
    ] {
        for o in [&t, &p] {
            o.create(
                &UserGroupId::parse(id).unwrap(),
                &Wanted {
                    name: Some(name.into()),
                    mapping: Some(
                        [
                            ("7".to_owned(), "40".to_owned()),
                            ("9".to_owned(), "213".to_owned()),
                        ]
                        .into_iter()
                        .collect(),
                    ),
                    properties: serde_json::from_str(r#"{"tier":"gold","region":"eu"}"#).unwrap(),
                },
            )
            .await
            .unwrap();
        }
    }
    for size in [(80, 24), (160, 50)] {
        let mut console = Console::open(vec![t.clone(), p.clone()], size, Theme::default()).await;
        println!("{}", console.screen());
        for step in [
            "<enter>",
            "e",
            "<tab><enter><backspace>1<enter>",
            "<ctrl-s>",
            "<tab><enter>",
            "<esc>t",
            "T",
            "<tab>y",
            "v",
            "<esc>",
            "2",
            "<esc>",
            "?",
            "<esc>",
            "o",
            "acm",
            "<esc>",
            "P",
            "<down><enter>",
            "e<tab>D<f2>",
            "y",
            "<esc>tT<tab>",
            "acme-eu",
            "<enter>",
            "m",
        ] {
            console.keys(step).await;
            println!("=== {step}\n{}", console.screen());
        }
    }
}
