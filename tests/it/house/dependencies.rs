//! Repeats the licence and source checks of cargo-deny, as far as `cargo metadata` allows, so that they run everywhere.

use std::{collections::BTreeSet, path::Path, process::Command};

use serde_json::Value;

/// The licences that `deny.toml` allows, and the exceptions for single packages.
struct Rules {
    allowed: BTreeSet<String>,
    exceptions: Vec<(String, BTreeSet<String>)>,
    sources: BTreeSet<String>,
}

fn texts(value: &toml::Value) -> BTreeSet<String> {
    let texts = value.as_array().expect("a list").iter();
    texts
        .map(|text| text.as_str().expect("a text").to_owned())
        .collect()
}

impl Rules {
    /// `usual` is the registry that is allowed if the file says nothing about registries, as in cargo-deny.
    fn read(text: &str, usual: &str) -> Self {
        let rules: toml::Table = text.parse().expect("TOML");
        let licenses = &rules["licenses"];
        let exceptions = licenses["exceptions"].as_array().expect("a list").iter();
        Self {
            allowed: texts(&licenses["allow"]),
            exceptions: exceptions
                .map(|one| {
                    (
                        one["name"].as_str().expect("a name").to_owned(),
                        texts(&one["allow"]),
                    )
                })
                .collect(),
            sources: match rules["sources"].get("allow-registry") {
                Some(named) => texts(named),
                None => BTreeSet::from([usual.to_owned()]),
            },
        }
    }

    /// Why a package is not allowed; `None` if it is.
    fn complaint(&self, package: &Value) -> Option<String> {
        let name = package["name"].as_str().expect("a name");
        // A package without a source is this very package.
        if let Some(source) = package["source"].as_str() {
            let registry = source.strip_prefix("registry+");
            if !registry.is_some_and(|registry| self.sources.contains(registry)) {
                return Some(format!("{name} comes from {source}"));
            }
            let Some(license) = package["license"].as_str() else {
                return Some(format!("{name} names no licence"));
            };
            let may = |one: &str| {
                let mut more = self.exceptions.iter().filter(|(of, _)| of == name);
                self.allowed.contains(one) || more.any(|(_, also)| also.contains(one))
            };
            if !is_fine(license, &may) {
                return Some(format!("{name} is licensed {license}"));
            }
        }
        None
    }
}

/// Evaluates an SPDX expression. AND binds more strongly than OR; the old `/` means OR.
fn is_fine(expression: &str, may: &impl Fn(&str) -> bool) -> bool {
    let text = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut at = 0;
    either(&words, &mut at, may) && at == words.len()
}

fn either(words: &[&str], at: &mut usize, may: &impl Fn(&str) -> bool) -> bool {
    let mut fine = both(words, at, may);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        fine |= both(words, at, may);
    }
    fine
}

fn both(words: &[&str], at: &mut usize, may: &impl Fn(&str) -> bool) -> bool {
    let mut fine = one(words, at, may);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        fine &= one(words, at, may);
    }
    fine
}

fn one(words: &[&str], at: &mut usize, may: &impl Fn(&str) -> bool) -> bool {
    let word = words.get(*at).copied().unwrap_or_default();
    *at += 1;
    if word == "(" {
        let fine = either(words, at, may);
        *at += 1;
        return fine;
    }
    if words.get(*at) == Some(&"WITH") {
        let whole = format!(
            "{word} WITH {}",
            words.get(*at + 1).copied().unwrap_or_default()
        );
        *at += 2;
        return may(&whole);
    }
    may(word)
}

#[test]
fn every_dependency_has_an_allowed_licence_and_source() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("deny.toml")).expect("deny.toml");
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", &host])
        .current_dir(root)
        // rustc hangs under `faketime`.
        .env_remove("LD_PRELOAD")
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    // The default registry of cargo. Everything else must come from there as well.
    let serde = packages.iter().find(|package| package["name"] == "serde");
    let usual = serde.and_then(|serde| serde["source"].as_str());
    let usual = usual.and_then(|source| source.strip_prefix("registry+"));
    let rules = Rules::read(&text, usual.expect("serde comes from a registry"));
    assert!(packages.len() > 100, "{} packages", packages.len());
    let complaints: Vec<_> = packages
        .iter()
        .filter_map(|one| rules.complaint(one))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    // An exception for a package that is no longer used would allow it to come back unnoticed.
    for (name, _) in &rules.exceptions {
        assert!(
            packages.iter().any(|one| one["name"] == **name),
            "{name} is not used"
        );
    }
}

#[test]
fn licences_are_judged_as_they_are_written() {
    let may = |one: &str| ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].contains(&one);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("MIT AND (GPL-3.0 OR ISC)", true),
        ("ISC AND GPL-3.0 OR MIT", true),
        ("(MIT OR ISC) AND GPL-3.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("MIT AND", false),
        ("", false),
    ] {
        assert_eq!(is_fine(expression, &may), expected, "{expression}");
    }
    let rules = Rules::read(
        "[licenses]\nallow = [\"MIT\"]\nexceptions = [{ name = \"x\", allow = [\"WTFPL\"] }]\n[sources]\nunknown-git = \"deny\"",
        "https://r",
    );
    for (name, source, license, expected) in [
        ("x", "registry+https://r", "WTFPL", false),
        ("y", "registry+https://r", "WTFPL", true),
        ("y", "registry+https://other", "MIT", true),
        ("y", "git+https://r", "MIT", true),
    ] {
        let package = serde_json::json!({"name": name, "source": source, "license": license});
        assert_eq!(rules.complaint(&package).is_some(), expected, "{package}");
    }
}
