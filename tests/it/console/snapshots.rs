//! Snapshots of the places. `INSTA_UPDATE=always cargo test --test it console::snapshots` writes them anew; review
//! every difference.

use super::prelude::*;

const WIDE: (u16, u16) = (160, 50);
const MIDDLE: (u16, u16) = (60, 15);
const LOW: (u16, u16) = (40, 10);
const LOWEST: (u16, u16) = (40, 8);

async fn look(name: &str, side: Side, size: (u16, u16), script: &str) {
    let world = a_world().await;
    let mut console = open(&world, side, size).await;
    console.keys(script).await;
    picture(name, &console, size);
}

fn picture(name: &str, console: &Console, size: (u16, u16)) {
    let name = format!("{name}_{}x{}", size.0, size.1);
    let screen = text_of(&steady(console.buffer()));
    assert_snapshot("console/snapshots", name, screen);
}

/// Li changes the group while it is edited here.
#[tokio::test(flavor = "multi_thread")]
async fn review_disputed() {
    for size in [USUAL, WIDE] {
        let world = a_world().await;
        let mut console = open(&world, Side::Testing, size).await;
        console.keys("e<end> plc").await;
        let mut theirs = wanted("Acme EMEA", &[("40", "999"), ("134", "386")], "{}");
        theirs.properties = None;
        li_sends(&world, &theirs).await;
        console.keys("<ctrl-s>").await;
        picture("review_disputed", &console, size);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compare() {
    for size in [USUAL, WIDE] {
        let world = a_world().await;
        let mapping = [("40", "999"), ("7", "1")];
        let theirs = wanted("Acme EMEA", &mapping, r#"{"tier":"gold"}"#);
        li_sends(&world, &theirs).await;
        let mut console = open(&world, Side::Production, size).await;
        console.keys("x<down>").await;
        picture("compare", &console, size);
    }
}

/// One test per place, so that every difference is reported.
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
    edit_rows Testing "e<tab><tab><f3><enter><ctrl-u>silver<enter><down><down>Dabeta<enter><right><right><enter>" USUAL WIDE LOW;
    edit_type Testing "e<tab><tab><f3><down><down><left><enter><left>" USUAL;
    edit_marks Testing "e<end> plc<tab><tab><down><down><down><end><left><left>1<end><enter>\"x\": 1," USUAL WIDE;
    review Testing "e<end> plc<tab><right><enter><end>9<enter><ctrl-s>" USUAL WIDE LOW;
    review_json Testing "e<end> plc<ctrl-s>v" USUAL;
    review_curl Testing "e<end> plc<ctrl-s>vv" USUAL;
    review_production Production "e<end> plc<ctrl-s>" USUAL;
    result Testing "e<end> plc<ctrl-s>y" USUAL WIDE;
    token Production "t" USUAL;
    rotate_check Testing "tT" USUAL;
    rotate_typed Production "tT<shift-tab>leaked<tab>acme" USUAL WIDE LOW;
    rotate_result Testing "tTy" USUAL WIDE;
    revealed Testing "tTyv" USUAL;
    history Testing "2" USUAL WIDE MIDDLE;
    rotations Testing "3" USUAL WIDE LOW;
    whose Testing "W" USUAL;
    create Testing "oacme-ue" USUAL LOW;
    create_copy_of Testing "oacme-new<tab>" USUAL LOW;
    create_form Testing "oacme-ue<enter>New" USUAL;
    create_review Testing "oacme-ue<enter>New<ctrl-s>" USUAL;
    help Testing "?" USUAL WIDE;
    palette Testing ":rot" USUAL LOW;
    profiles Testing "P" USUAL;
    messages Testing "teq<ctrl-c>m" USUAL;
    copy Testing "y" USUAL;
}
