//! How to get to every place in the demo's world: what is typed, and what the screen then shows.

use super::{PATIENCE, Scene};
use crate::support::pty::{Program, Session};

pub(super) type Steps = &'static [(&'static str, &'static str)];

/// Every pane, and every field of the form.
#[rustfmt::skip] // A table: one case per line.
pub(super) const PLACES: [(&str, Steps); 30] = [
    ("list", &[]),
    ("filter", &[("/", "\n filter")]),
    ("marked", &[(" ", "1 marked")]),
    ("detail", &[("\r", "read at")]),
    ("compare", &[("x", "Compare acme-eu")]),
    ("form: name", &[("e", "Edit acme-eu")]),
    ("form: mapping", &[("e", "Edit acme-eu"), ("\t", "━━ Mapping")]),
    ("form: cell", &[("e", "Edit acme-eu"), ("\tl\r\x15999", "was 213")]),
    ("form: properties", &[("e", "Edit acme-eu"), ("\t\t", "━━ Properties")]),
    ("review", &[("e", "Edit acme-eu"), ("x\x13", "y updates acme-eu")]),
    ("token", &[("t", "T rotates it")]),
    ("rotate: check", &[("t", "T rotates it"), ("T", "y rotates the token")]),
    ("rotate: reason", &[("t", "T rotates it"), ("T", "y rotates the token"), ("\x1b[Zleaked", "leaked")]),
    ("write", &[("t", "T rotates it"), ("w", "write")]),
    ("history", &[("2", "› History")]),
    ("rotations", &[("3", "› Rotations")]),
    ("requests", &[("\r", "read at"), ("4", "1 this session")]),
    ("request", &[("\r", "read at"), ("4", "1 this session"), ("\r", "› Request ")]),
    ("open", &[("o", "› Open or create")]),
    ("whose", &[("W", "Whose token is this?")]),
    ("help", &[("?", "Keys: Groups")]),
    ("palette", &[("?", "Keys: Groups"), ("/", "find  /")]),
    ("profiles", &[("P", "Profiles")]),
    ("messages", &[("m", "› Messages")]),
    ("copy", &[("y", "Copy")]),
    ("bulk: check", &[("*", "marked"), ("T", "› Bulk rotation")]),
    ("bulk: words", &[(" ", "1 marked"), ("T", "Type rotate 1 in"), ("rotate", "rotate")]),
    ("production", &[("P", "Profiles"), ("\x1b[A\r", "13 groups")]),
    ("one key more", &[("\x03", "Ctrl-C again quits")]),
    ("a resized one", &[("\r", "read at")]),
];

/// A text that the screen shows as long as the place is open.
pub(super) fn sign_of(steps: Steps) -> &'static str {
    match steps.last() {
        // A warning disappears after a while.
        None | Some((_, "Ctrl-C again quits")) => "10 groups",
        Some((_, there)) => there,
    }
}

/// A console in a place.
#[track_caller]
pub(super) fn at(program: Program, steps: Steps) -> Session {
    let mut session = program.start();
    session.wait_for("10 groups", PATIENCE);
    for (keys, there) in steps {
        session.type_until(keys, there, PATIENCE);
    }
    session
}

impl Scene {
    /// A console without any configured profile.
    pub(super) fn first_start(&self) -> Session {
        let mut session = self.place.groupdesk(&[]).start();
        session.wait_for("No profile is configured yet", PATIENCE);
        session
    }
}
