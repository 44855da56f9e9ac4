//! groupdesk: a safe terminal console and command line for a *User Group Service*.
//!
//! What each room owns and whom it may use; arrows only downwards, checked by `tests/it/house.rs`:
//!
//! ```text
//! main -> cli -> everything below
//! demo -> { operations, service, directory, config, api::wire, platform, domain }
//! tui -> { operations, config, search, formats, platform, domain }
//! operations -> { api, directory, config, search, formats, platform, domain }
//! directory -> { database, search, formats, platform, domain }
//! service -> { database, api::wire, platform }
//! api -> { config, formats, domain }         config -> { platform, domain }
//! formats -> { search, domain }              search -> domain
//! database -> nothing of ours                platform, domain -> nothing of ours
//! ```
//!
//! `service` must not share our judging or our validation: a test could then agree with our own mistake.
//!
//! The rooms, from the ground up, and where to look in them (`*` names a file or folder that is not public):
//!
//! - [`domain`]: the rules, without I/O and without a clock. A group and what is known of it ([`domain::group`],
//!   [`domain::known`], [`domain::size`]), what an edit changes and what it meets meanwhile ([`domain::change`],
//!   [`domain::merge`], [`domain::draft`]), the state machines of a rotation and of a batch ([`domain::rotation`],
//!   [`domain::batch`], [`domain::handoff`]), tokens and their ages ([`domain::token`], [`domain::age`]), the history and
//!   what it can still undo ([`domain::history`], [`domain::undo`]), hostile text made visible ([`domain::text`]).
//! - [`platform`]: what is asked of the operating system in one place each: private files
//!   ([`platform::private_files`]), child processes ([`platform::child`]), the clocks (`clock`*).
//! - [`search`]: the filter language, the packed copy of all groups it runs over (`arena`*), the order of rows, and
//!   known ids that are near a typed one ([`search::suggest`]).
//! - [`formats`]: groups as CSV, JSON lines and JSON, read row by row; JSON read strictly ([`formats::strict_json`]).
//! - [`config`]: what the configuration says. [`config::Settings`] is the way in, `schema`* what the file may say,
//!   [`config::reference`] what every setting means; API keys (`key`*, `key_command`*, [`config::keyring`]), guards
//!   ([`config::guard`]), the file changed by groupdesk itself ([`config::edit`]).
//! - [`api`]: the service as its callers see it. [`api::wire`] is its JSON, [`api::client`] the three requests,
//!   [`api::answer`] the one way to judge an answer, [`api::probe`] a test that creates nothing, [`api::inspect`] and
//!   [`api::recording`] what a person may see of an exchange, with secrets masked (`masking`*).
//! - `database`*: statements with their values and rows (`statement`*, `value`*), and requests that read, decide and write
//!   (`request`*); PostgreSQL on lines of its own (`lane`*, `postgres`*); SQLite on a thread of its own (`Worker`), for whoever keeps
//!   something: one piece of work is a closure and
//!   a reply (`task`*), what is queued is one transaction (`session`*). Its users say how to open theirs (`Database`).
//! - [`directory`]: what is remembered. Every question is a method of [`directory::Directory`], its SQL stands in
//!   `sqlite`*; the journal is replayed by the rules of the domain (`replay`*).
//! - [`operations`]: what an operator can do; each writes down what it did before it answers. `groups`* looks up, creates
//!   and updates, `rotation`* is the one way a token is rotated, settled and recovered, [`operations::batch`] many of
//!   them, `answer`* what follows from an answer, `handoff`* the hand-off, `files`* rows of files, `profiles`* places and
//!   new profiles, [`operations::doctor`] what is wrong.
//! - [`service`]: a User Group Service of its own, for `serve`, `demo` and tests. `rules`* decides, [`service::store`]
//!   keeps, [`service::keys`] knows who may; `observe`*, `metrics`* and `access_log`* tell operators.
//! - [`tui`]: the console. [`tui::state`] is what it knows, pure, with [`tui::state::app`] as its head; [`tui::panes`] what
//!   a person sees one at a time, [`tui::keymap`] its keys, [`tui::runtime`] the loop and the jobs that ask `operations`,
//!   [`tui::terminal`] the terminal.
//! - [`demo`]: the world that the demo, the tests and the pictures share.
//! - [`cli`]: the command line. `args`* is what can be typed, `commands`* one module a command, `input`* what is typed or
//!   answered, `output`* what is printed, `process`* streams, signals and how it ends.

pub mod api;
pub mod cli;
pub mod config;
mod database;
pub mod demo;
pub mod directory;
pub mod domain;
pub mod formats;
pub mod operations;
pub mod platform;
pub mod search;
pub mod service;
pub mod tui;
