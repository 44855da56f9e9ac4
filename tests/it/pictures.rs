//! The pictures show what the console draws now, and docs/reference has what the code and the program say.
//! `GROUPDESK_PICTURES=write cargo test --test it pictures` writes them anew.

mod keys;
mod reference;
mod settings;
mod svg;
mod tasks;

use std::{env, fs, path::Path};

use ratatui::buffer::Buffer;
use svg::svg;

use crate::{
    console::{a_world, open},
    support::{console::text_of, normalized::steady, world::Side},
};

const SIZE: (u16, u16) = (100, 28);

/// Whether the stored files are to be written anew.
fn is_writing() -> bool {
    env::var_os("GROUPDESK_PICTURES").is_some_and(|value| value == "write")
}

/// Compares a picture with the screen after a script, or writes it when asked to.
async fn picture(name: &str, side: Side, script: &str) {
    let world = a_world().await;
    let mut console = open(&world, side, SIZE).await;
    console.keys(script).await;
    compare_or_write(name, console.buffer());
}

/// Compares a picture with a screen, or writes it when asked to.
fn compare_or_write(name: &str, screen: &Buffer) {
    let screen = steady(screen);
    let drawn = svg(&screen, &format!("groupdesk: {name}"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/screens")
        .join(format!("{name}.svg"));
    if is_writing() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, drawn).expect("written");
        return;
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == drawn,
        "{} is not what is drawn now; look at it, then run GROUPDESK_PICTURES=write cargo test --test it pictures\n{}",
        file.display(),
        text_of(&screen)
    );
}

/// One test per picture, so that every difference is reported.
macro_rules! pictures {
    ($($name:ident $side:ident $script:literal;)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            Box::pin(picture(stringify!($name), Side::$side, $script)).await;
        })*
    };
}

pictures! {
    list Production "<down><down>";
    edit Testing "e<tab><right><enter><end>9<enter><down>Da55<tab>66<enter>";
    review Production "e<end> plc<tab><right><enter><end>9<enter><ctrl-s>";
    rotated Production "tT<shift-tab>leaked in a ticket<tab>acme-eu<enter>";
}
