//! The numbered pages: they replace each other, and a large console lists them.

use super::prelude::*;

/// The key of each page, its place, and its entry in the row.
const PAGES: [(char, &str, &str); 6] = [
    ('1', "List", "1 groups"),
    ('2', "History", "2 history"),
    ('3', "Rotations", "3 rotations"),
    ('4', "Requests", "4 requests"),
    ('5', "Batches", "5 batches"),
    ('0', "Attention", "0 attention"),
];

#[test]
fn each_page_replaces_the_one_before_and_esc_leaves_one_thing() {
    for (first, ..) in PAGES {
        for (second, place, _) in PAGES {
            let mut scene = Scene::walked(TESTING, &format!("{first}{second}"));
            scene.at(place);
            scene.walk("<esc>").at("List");
            assert_eq!(scene.app.stack.len(), 1, "{first}{second}<esc>");
        }
    }
}

#[test]
fn a_page_replaces_what_was_opened_from_the_one_before() {
    let mut scene = Scene::walked(TESTING, "3m2");
    scene.at("History");
    scene.walk("<esc>");
    assert_eq!(scene.app.stack.len(), 1, "{}", scene.screen());
    // A group is left as it was; its own history is the page that is replaced. A form and a question stay, too.
    for (keys, place) in [
        ("<enter>245<esc>", "Group"),
        ("<esc>", "List"),
        ("e<end>x<tab>2", "History"),
        ("345<esc>", "EditMapping"),
        ("<ctrl-s>", "Review"),
        ("24<esc>", "Review"),
    ] {
        scene.walk(keys).at(place);
    }
    scene.shows("Name of acme-eux");
}

#[test]
fn a_large_console_lists_the_pages_and_marks_the_open_one() {
    for size in [(120, 36), (200, 50)] {
        let mut scene = Scene::on(TESTING);
        scene.app.context.size = size;
        scene.app.context.theme = Theme {
            colour: false,
            ..Theme::default()
        };
        for (key, _, open) in PAGES {
            scene.walk(&key.to_string());
            let screen = scene.screen();
            let row = screen.lines().nth(2).expect("a third line");
            let row: Vec<&str> = row.split("  ").map(str::trim).collect();
            let mut names = PAGES.map(|(.., name)| name.to_owned());
            let open = names.iter_mut().find(|name| *name == open);
            let open = open.expect("a page");
            *open = format!("[{open}]");
            for name in names {
                let is_told = row.iter().any(|part| part.contains(&name));
                assert!(is_told, "{name}\n{screen}");
            }
        }
        scene.walk("1<enter>").shows("[1 groups]");
        let buffer = scene.buffer();
        let marked = buffer[(1, 2)].modifier.contains(Modifier::BOLD);
        assert!(marked, "{}", scene.screen());
    }
}

#[test]
fn a_small_console_keeps_its_rows_for_the_groups() {
    for size in [(80, 24), (80, 50), (120, 24)] {
        let mut scene = Scene::on(TESTING);
        scene.app.context.size = size;
        scene.walk("2").hides("3 rotations");
    }
}
