//! What is refused with exit 3, checked with a service that counts requests: none is sent.

use serde_json::{Value, json};

use super::program::Home;
use crate::support::{
    assertions::assert_has,
    faults::{Fault, Faults, json as answer},
};

/// A good answer for `acme` with this token.
pub(super) fn group(token: &str, more: &Value) -> Fault {
    let mut user_group = json!({"team_id": 7, "token": token, "name": "Acme", "provided_id": "acme", "properties": null});
    for (key, value) in more.as_object().into_iter().flatten() {
        user_group[key] = value.clone();
    }
    answer(
        "200 OK",
        &json!({"success": 1, "new_user_group": false, "user_group": user_group}),
    )
}

/// An installation that knows `acme`, and the service it knows it from.
pub(super) async fn knowing_acme(script: Vec<Fault>) -> (Home, Faults) {
    let mut home = Home::new();
    let script: Vec<_> = [group("token-0", &Value::Null)]
        .into_iter()
        .chain(script)
        .collect();
    let service = Faults::start(script).await;
    home.connect(&service.base_url(), "key-of-the-desk");
    let met = home.json(0, "get acme --exists").await;
    assert_eq!(met["outcome"], "found");
    assert_eq!(service.requests().len(), 1);
    // Connects again with a profile that may update as last known.
    home.connect(&service.base_url(), "key-of-the-desk");
    (home, service)
}

pub(super) fn methods(service: &Faults) -> Vec<String> {
    let word = |head: String| head.split(' ').next().unwrap_or_default().to_owned();
    service
        .requests()
        .iter()
        .map(|request| word(request.head()))
        .collect()
}

#[tokio::test]
async fn an_unknown_id_is_refused_and_nothing_is_sent() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    for command in [
        "get acmee",
        "update acmee --name x --yes",
        "update acmee --name x --dry-run",
        "rotate acmee --yes",
    ] {
        let ran = home.exits(3, command).await;
        ran.prints("").says("nothing was sent").says("--exists");
        ran.says("did you mean \"acme\"?").says("groupdesk create");
        let failure = home.json(3, command).await;
        assert_eq!(failure["outcome"], Value::Null);
        assert_has(&failure["error"].to_string(), "nothing was sent");
    }
    assert_eq!(service.connections(), 1, "only the meeting");
}

/// One that exists only at the service is read alone; the command that is proposed can be run.
#[tokio::test]
async fn an_unknown_id_among_several_is_refused_with_exists_too() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    home.write("ids", "acme\nzeta\n");
    for command in [
        "get zeta acme --exists --yes",
        "get zeta acme --exists --dry-run",
        "get --from ids --exists --yes",
    ] {
        let ran = home.exits(2, command).await;
        ran.prints("").says("\"zeta\" is not in the directory");
        ran.says("nothing was sent. --exists reads several groups only if the directory has them");
        ran.says("get ID --exists");
    }
    assert_eq!(service.connections(), 1, "only the meeting");
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let (home, service) = knowing_acme(vec![group("token-0", &Value::Null)]).await;
    let create = home
        .exits(0, "create acme-3 --name x\u{202e}y --dry-run")
        .await;
    create.shows("\\u202e").shows("GET http://127.0.0.1");
    create.says("similar known IDs: \"acme\"");
    assert_eq!(service.connections(), 1, "a new group is not even read");
    home.exits(0, "update acme --name x --dry-run").await;
    home.exits(0, "rotate acme --dry-run").await;
    assert!(methods(&service).iter().all(|method| method == "GET"));
}

/// The dry run of a read is refused as the read is, and accepts what it accepts.
#[tokio::test]
async fn a_dry_run_of_a_read_ends_as_the_read() {
    let zeta = group("token-1", &json!({"provided_id": "zeta"}));
    let acme = || group("token-0", &Value::Null);
    let (home, service) = knowing_acme(vec![acme(), acme(), zeta]).await;
    home.write("there", "");
    for (code, command, why) in [
        (3, "get acmee", "\"acmee\" is not in the directory"),
        (
            2,
            "get acme --token-out there",
            "cannot create the token file",
        ),
        (3, "get zeta --exists --read-only", "read-only"),
        (2, "get zeta --exists --all", "--all"),
        (0, "get acme", ""),
        (0, "get acme --reveal", ""),
        (0, "get zeta --exists", ""),
    ] {
        let before = service.connections();
        home.exits(code, &format!("{command} --dry-run"))
            .await
            .says(why);
        assert_eq!(service.connections(), before, "{command}: nothing was sent");
        home.exits(code, command).await.says(why);
    }
    assert_eq!(
        home.json(0, "get yota --exists --dry-run").await["to_read"],
        1
    );
}

/// Also one that is known from a file only: reading it could create it.
#[tokio::test]
async fn a_dry_run_of_an_update_reads_no_group_that_may_not_exist() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    let filed = home.write("rows.jsonl", r#"{"user_group_id": "filed", "name": "F"}"#);
    home.exits(0, &format!("import {filed}")).await;
    for id in ["filed", "zeta"] {
        let dry = format!("update {id} --exists --name x --dry-run");
        let ran = home.exits(3, &dry).await;
        ran.says("was never read here")
            .says(&format!("groupdesk get {id} --exists"));
    }
    assert_eq!(service.connections(), 1, "only the meeting");
}

/// A token of words, which nothing but the directory can tell from other words.
#[tokio::test]
async fn the_reason_of_a_guard_shows_no_known_token() {
    const TOKEN: &str = "plum-harbor-quilt-ember-42";
    let (home, _service) = knowing_acme(vec![group(TOKEN, &Value::Null)]).await;
    home.exits(0, "get acme").await;
    home.add_config(&format!(
        "guard = [{{operation = \"rotate\", forbid = true, reason = \"{TOKEN}\"}}, \
         {{operation = \"update\", level = \"type-id\", reason = \"once {TOKEN} was lost\"}}]\n"
    ));
    for command in [
        "rotate acme --yes",
        "rotate acme --dry-run",
        "rotate --filter acme --yes",
        "get acme",
    ] {
        let ran = home.run(command).await;
        ran.hides(TOKEN);
        if command.starts_with("rotate") {
            assert_eq!(ran.code, 3, "{command}");
            ran.says("its reason has a token");
        }
    }
}

/// What the run refuses before it asks, its dry run refuses too.
#[tokio::test]
async fn a_dry_run_of_a_file_is_refused_where_the_run_is() {
    let (home, service) = knowing_acme(vec![Fault::Close]).await;
    home.write("two.csv", "user_group_id,name\nacme,One\nnew,Two\n");
    let config = home.config();
    let said = service.connections();
    for (lines, why) in [
        (
            "guard = [{operation = \"update\", forbid = true, reason = \"freeze\"}]",
            "freeze",
        ),
        (
            "guard = [{operation = \"create\", forbid = true, reason = \"freeze\"}]",
            "freeze",
        ),
        (
            "guard = [{operation = \"bulk\", max = 1, reason = \"slowly\"}]",
            "at most 1",
        ),
        ("read_only = true", "read-only"),
    ] {
        home.write("config.toml", &format!("{config}{lines}\n"));
        for command in ["apply two.csv", "import two.csv --create --update"] {
            for more in ["--dry-run", "--yes"] {
                let ran = home.exits(3, &format!("{command} {more}")).await;
                ran.says(why);
            }
        }
    }
    home.write("config.toml", &config);
    home.exits(0, "apply two.csv --dry-run").await;
    assert_eq!(service.connections(), said, "nothing was sent");
}
