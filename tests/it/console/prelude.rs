//! What several of these tests name.

pub(super) use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

pub(super) use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
pub(super) use groupdesk::{
    directory::Directory,
    domain::{change::DesiredFields, rotation::State, text::width},
    operations::{Clock, Operations, UnknownIdPolicy},
    tui::{
        ExitReason,
        keymap::{self, Action, Focus},
        state::message::Msg,
        theme::{Palette, Theme},
    },
};
pub(super) use jiff::SignedDuration;
pub(super) use ratatui::{
    buffer::Cell,
    style::{Color, Modifier},
};
pub(super) use serde_json::{Value, json};

pub(super) use super::{
    assert_screen,
    places::SIZES,
    scene::{
        NOW, USUAL, a_world, assert_private, li_sends, open, open_with, through_a_proxy, wanted,
        write_to,
    },
};
pub(super) use crate::support::{
    assertions::is_in,
    at_once::AtOnce as _,
    console::{Console, parse, places, text_of},
    faults::{Faults, http},
    long,
    normalized::steady,
    postgres::{self, Server},
    proxy::{FaultyProxy, Gate, ProxyFault, Then},
    snapshots::assert_snapshot,
    texts::{CORPUS, assert_harmless, assert_in_columns, shown},
    world::{LI, Side, World, id},
};
