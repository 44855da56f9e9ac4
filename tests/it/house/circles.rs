//! Circular dependencies between files: none of these files can be understood, moved or tested without the others. What
//! a file uses of its enclosing modules does not count, because otherwise all private parts of a module would form one
//! circle with it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    rules::{inside_the_crate, module_of},
    source::{Path, paths, tokens},
};

/// How many re-exports are followed to find the definition of a name.
const LONGEST_WAY: usize = 8;

struct File<'f> {
    name: &'f str,
    module: Vec<String>,
    paths: Vec<Path>,
    /// The names that the file imports, and so re-exports to its submodules.
    imports: BTreeMap<String, Vec<String>>,
}

impl<'f> File<'f> {
    fn read(name: &'f str, text: &str) -> Self {
        let is_of_tests = |path: &Path| path.inside.iter().any(|module| module == "tests");
        let mut paths = paths(&tokens(text));
        paths.retain(|path| !is_of_tests(path));
        Self {
            name,
            module: module_of(name),
            paths,
            imports: BTreeMap::new(),
        }
    }
}

/// Every dependency that is part of a circle, as `file uses file, which leads back`.
pub(super) fn circles(files: &[(String, String)]) -> Vec<String> {
    let mut arrows = arrows(files);
    // A file that uses no other, or that no other uses, is in no circle.
    loop {
        let used: BTreeSet<&str> = arrows.values().flatten().copied().collect();
        let open: BTreeSet<&str> = arrows.keys().copied().collect();
        let left: BTreeMap<&str, BTreeSet<&str>> = arrows
            .iter()
            .filter(|(from, _)| used.contains(*from))
            .map(|(from, to)| (*from, to & &open))
            .filter(|(_, to)| !to.is_empty())
            .collect();
        if left == arrows {
            break;
        }
        arrows = left;
    }
    let all = arrows
        .iter()
        .flat_map(|(from, to)| to.iter().map(move |to| (*from, *to)));
    all.filter(|(from, to)| leads(&arrows, to, from))
        .map(|(from, to)| format!("{from} uses {to}, which leads back"))
        .collect()
}

fn leads(arrows: &BTreeMap<&str, BTreeSet<&str>>, from: &str, to: &str) -> bool {
    let (mut open, mut seen) = (vec![from], BTreeSet::new());
    while let Some(here) = open.pop() {
        if here == to {
            return true;
        }
        if seen.insert(here) {
            open.extend(arrows.get(here).into_iter().flatten());
        }
    }
    false
}

/// Which file of `src` uses which.
fn arrows(files: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let sources = files.iter().filter(|(name, _)| name.starts_with("src/"));
    let mut files: Vec<File> = sources.map(|(name, text)| File::read(name, text)).collect();
    let modules: BTreeMap<Vec<String>, usize> = (0..files.len())
        .map(|at| (files[at].module.clone(), at))
        .collect();
    for file in &mut files {
        let imports = file.paths.iter().filter(|path| path.is_import);
        file.imports = imports
            .filter_map(|path| {
                let target = target(file.name, &file.module, path, &modules)?;
                Some((target.last()?.clone(), target))
            })
            .collect();
    }
    let arrows = files.iter().map(|file| {
        let targets = file
            .paths
            .iter()
            .filter_map(|path| target(file.name, &file.module, path, &modules))
            .filter_map(|target| owner(target, &files, &modules))
            .map(|at| &files[at])
            .filter(|used| !file.module.starts_with(&used.module));
        (file.name, targets.map(|used| used.name).collect())
    });
    let arrows: BTreeMap<_, _> = arrows.collect();
    arrows
}

/// Where a path leads, from the root of the crate; `None` if it is not in the crate.
fn target(
    file: &str,
    module: &[String],
    path: &Path,
    modules: &BTreeMap<Vec<String>, usize>,
) -> Option<Vec<String>> {
    inside_the_crate(file, path).or_else(|| {
        let first = path.segments.first().filter(|_| !path.is_word)?;
        let below = [module, std::slice::from_ref(first)].concat();
        let is_below = modules.contains_key(&below);
        is_below.then(|| [module, &path.segments].concat())
    })
}

/// The number of the file that defines the name, through any number of re-exports.
fn owner(
    mut target: Vec<String>,
    files: &[File],
    modules: &BTreeMap<Vec<String>, usize>,
) -> Option<usize> {
    for _ in 0..LONGEST_WAY {
        let length = (0..=target.len())
            .rev()
            .find(|length| modules.contains_key(&target[..*length]))?;
        let at = modules[&target[..length]];
        let handed_on = target
            .get(length)
            .and_then(|name| files[at].imports.get(name));
        match handed_on {
            Some(meant) => target = [meant.as_slice(), &target[length + 1..]].concat(),
            None => return Some(at),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let owned = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        circles(&owned.collect::<Vec<_>>())
    }

    const ROOM: (&str, &str) = (
        "src/room/mod.rs",
        "mod one; mod two; mod three; pub use two::Two; pub struct Desk;",
    );

    #[test]
    fn a_circle_is_found_however_it_is_written() {
        for (one, two) in [
            ("use crate::room::two::f;", "use super::one::g;"),
            ("fn g() { super::two::f() }", "use super::{one, three};"),
            // Re-exported by the enclosing module.
            ("use super::Two;", "pub struct Two; use super::one::g;"),
            (
                "use crate::{room::Two};",
                "fn f() { crate::room::one::g() }",
            ),
        ] {
            let files = [ROOM, ("src/room/one.rs", one), ("src/room/two.rs", two)];
            let expected = [
                "src/room/one.rs uses src/room/two.rs, which leads back",
                "src/room/two.rs uses src/room/one.rs, which leads back",
            ];
            assert_eq!(found(&files), expected, "{one} {two}");
        }
    }

    #[test]
    fn a_long_circle_is_found_and_nothing_beside_it() {
        let mut files = vec![
            ROOM,
            ("src/room/one.rs", "use super::two::f;"),
            ("src/room/two.rs", "use super::three::h;"),
            ("src/room/three.rs", "use crate::attic;"),
            ("src/attic.rs", "use crate::room::one::g;"),
            ("src/main.rs", "use groupdesk::attic;"),
        ];
        assert_eq!(found(&files).len(), 4);
        files[3].1 = "use crate::cellar;";
        assert_eq!(found(&files), Vec::<String>::new());
    }

    #[test]
    fn a_module_and_its_parts_are_no_circle() {
        for one in [
            "use super::{Desk, two::f};",
            "mod tests { use crate::room::two::f; use super::super::three; }",
            "// use super::three::h;\nfn g() { f(\"super::three::h\") }",
        ] {
            let files = [
                ROOM,
                ("src/room/one.rs", one),
                ("src/room/two.rs", "use super::Desk;"),
                ("src/room/three.rs", "use super::{Desk, one::g};"),
            ];
            assert_eq!(found(&files), Vec::<String>::new(), "{one}");
        }
    }
}
