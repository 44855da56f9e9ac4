//! The parts of the README that are made from the code: keys, settings, variables. One test writes them all, since they
//! stand in one file.

use std::{fs, path::Path};

use super::{is_writing, keys, settings};

const HOW: &str = "made by GROUPDESK_PICTURES=write cargo test --test it pictures";

/// The text with what stands between the marks of a part replaced by `made`.
fn with(text: &str, part: &str, made: &str) -> String {
    let begin = format!("<!-- {part}: {HOW} -->\n");
    let end = format!("<!-- end of {part} -->\n");
    let (before, rest) = text.split_once(&begin).expect("where it begins");
    let (_, after) = rest.split_once(&end).expect("where it ends");
    format!("{before}{begin}{made}{end}{after}")
}

#[test]
fn what_the_readme_tells_of_the_code_is_what_the_code_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let kept = fs::read_to_string(&file).expect("a README");
    let parts = [
        ("keys", keys::table()),
        ("settings", settings::settings()),
        ("variables", settings::variables()),
    ];
    if is_writing() {
        let told = |text: String, (part, made): &(&str, String)| with(&text, part, made);
        fs::write(&file, parts.iter().fold(kept, told)).expect("written");
        return;
    }
    for (part, made) in parts {
        assert!(
            with(&kept, part, &made) == kept,
            "the {part} of README.md are not those in force; run GROUPDESK_PICTURES=write cargo test --test it pictures\n{made}"
        );
    }
}
