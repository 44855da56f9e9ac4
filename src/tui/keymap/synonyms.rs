//! Other words for the entries of the palette, and what people look for that the service cannot do. The words for actions
//! are in `actions`.

/// Words that people use for an entry, by the word for its kind.
pub fn of_entry(kind: &str) -> &'static str {
    match kind {
        "sort" => "order column",
        "view" => "saved filter layout apply",
        "mark" => "select tick",
        "profile" => "environment context switch",
        "label" => "tag",
        "theme" => "colour color background",
        _ => "",
    }
}

/// What people look for and the service cannot do: what it is, other words for it, and why it is not possible.
pub const IMPOSSIBLE: [(&str, &str, &str); 3] = [
    (
        "delete a group",
        "remove destroy drop erase",
        "the service cannot delete groups",
    ),
    (
        "undo a rotation",
        "restore revert old token back",
        "the old token stays invalid",
    ),
    (
        "change the ID of a group",
        "rename id move",
        "the service cannot change an ID",
    ),
];
