//! How the places look. `INSTA_UPDATE=always cargo test --test it console::snapshots` draws them anew; look at every
//! difference before it is committed.

use super::scene::{USUAL, a_world, open};
use crate::support::{console::text_of, steady::steady, world::Side};

const WIDE: (u16, u16) = (160, 50);
const MIDDLE: (u16, u16) = (60, 15);
const LOW: (u16, u16) = (40, 10);
const LOWEST: (u16, u16) = (40, 8);

async fn look(name: &str, side: Side, size: (u16, u16), script: &str) {
    let world = a_world().await;
    let mut console = open(&world, side, size).await;
    console.keys(script).await;
    let name = format!("{name}_{}x{}", size.0, size.1);
    let screen = text_of(&steady(console.buffer()));
    insta::with_settings!({
        snapshot_path => "snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, screen);
    });
}

/// One test a place, so that every difference is shown.
macro_rules! looks {
    ($($name:ident $side:ident $script:literal $($size:ident)+;)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            $(look(stringify!($name), Side::$side, $size, $script).await;)+
        })*
    };
}

looks! {
    list Testing "" USUAL WIDE LOW MIDDLE LOWEST;
    list_production Production "<down><down>" USUAL;
    filter Testing "/acme" USUAL;
    group Testing "<enter>" USUAL WIDE;
    edit_name Testing "e" USUAL;
    edit_mapping Testing "e<tab><right><enter><end>9<enter><down>Da55<tab>66<enter>" USUAL WIDE LOW;
    edit_properties Testing "e<tab><tab><down><end>x" USUAL WIDE;
    review Testing "e<end> plc<tab><right><enter><end>9<enter><ctrl-s>" USUAL WIDE LOW;
    review_production Production "e<end> plc<ctrl-s>" USUAL;
    result Testing "e<end> plc<ctrl-s><tab><enter>" USUAL WIDE;
    token Production "t" USUAL;
    rotate_check Testing "tT" USUAL;
    rotate_typed Production "tT<shift-tab>leaked<tab>acme" USUAL WIDE LOW;
    rotate_result Testing "tTy" USUAL WIDE;
    revealed Testing "tTyv" USUAL;
    history Testing "2" USUAL WIDE MIDDLE;
    rotations Testing "3" USUAL WIDE LOW;
    whose Testing "W" USUAL;
    create Testing "oacme-ue" USUAL LOW;
    create_form Testing "oacme-ue<enter>New" USUAL;
    create_review Testing "oacme-ue<enter>New<ctrl-s>" USUAL;
    help Testing "?" USUAL WIDE;
    palette Testing ":rot" USUAL LOW;
    profiles Testing "P" USUAL;
    messages Testing "teq<ctrl-c>m" USUAL;
    copy Testing "y" USUAL;
}
