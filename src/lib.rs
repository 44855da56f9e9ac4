//! groupdesk: a safe terminal console and command line for a *User Group Service*.
//!
//! The top-level modules ("rooms") and what each may use. Dependencies only point downwards; `tests/it/house.rs`
//! checks them:
//!
//! ```text
//! main -> cli -> everything below
//! demo -> { operations, service, directory, config, api::wire, platform, domain }
//! tui -> { operations, config, search, formats, platform, domain, intake }
//! operations -> { api, directory, config, search, formats, platform, domain, intake }
//! directory -> { db, search, formats, platform, domain }
//! service -> { db, api::wire, platform, intake }
//! api -> { config, formats, domain, intake } config -> { platform, domain, intake }
//! formats -> { search, domain, intake }      search -> { domain, intake }
//! db -> platform                             domain -> intake::duration, intake::text
//! platform, intake -> nothing of ours
//! ```
//!
//! `service` must not share our validation or the way we judge answers: a test could then agree with our own mistake.
//!
//! The rooms from the bottom up, and where to look in them (`*` marks a file or folder that is not public):
//!
//! - [`domain`]: the rules, without I/O and without a clock. A group and what is known of it ([`domain::group`],
//!   [`domain::known`], [`domain::size`]), what an edit changes and how it merges with concurrent changes
//!   ([`domain::change`], [`domain::merge`], [`domain::draft`]), the state machines of a rotation and of a batch
//!   ([`domain::rotation`], [`domain::batch`], [`domain::handoff`]), tokens and their ages ([`domain::token`],
//!   [`domain::age`]), the history and what it can still undo ([`domain::history`], [`domain::undo`]), making hostile
//!   text visible ([`domain::text`]).
//! - [`intake`]: every text from outside passes it: encodings, line ends, empty and foreign files, invisible signs; then
//!   the parsers of durations, pairs, addresses and lists of ids.
//! - [`platform`]: the operating system, each facility in one place: private files ([`platform::private_files`]), child
//!   processes ([`platform::child`]), the clocks (`clock`*).
//! - [`search`]: the filter language, the rows of all groups that filters run over (`row`), the order of
//!   rows, and known ids similar to a typed one ([`search::suggest`]).
//! - [`formats`]: groups as CSV, JSON lines and JSON, read row by row; strict JSON parsing ([`formats::strict_json`]).
//! - [`config`]: the configuration. [`config::Settings`] is the entry point, `schema`* what the file may contain,
//!   [`config::reference`] what every setting means; API keys (`key`*, `key_command`*, [`config::keyring`]), guards
//!   ([`config::guard`]), changes that groupdesk itself makes to the file ([`config::edit`]).
//! - [`api`]: the service as its callers see it. [`api::wire`] is its JSON, [`api::client`] the three requests,
//!   [`api::answer`] the only place where an answer is judged, [`api::probe`] a test request that creates nothing,
//!   [`api::inspect`] and [`api::recording`] what a person may see of an exchange, with secrets masked (`masking`*).
//! - `db`*: statements with their values and rows (`value`*, `record`*), and transactions that read,
//!   decide and write (`tx`*); files of SQLite (`file`*); PostgreSQL on its own connections (`lane`*, `postgres`*);
//!   SQLite on a thread of its own (`Worker`): a piece of work is a closure and a reply (`task`*), and everything that
//!   is queued becomes one transaction (`session`*). Each user says what its own file contains (`Database`).
//! - [`directory`]: what groupdesk remembers. Every query is a method of [`directory::Directory`], its SQL is in
//!   `sql`*; the journal is replayed with the rules of the domain (`replay`*).
//! - [`operations`]: what an operator can do; each operation records what it did before it returns. `groups`* looks up,
//!   creates and updates, `rotation`* is the only way a token is rotated, settled and recovered, [`operations::batch`]
//!   rotates many, `answer`* derives the consequences of an answer, `handoff`* the hand-off, `files`* rows of files,
//!   `profiles`* places and new profiles, [`operations::doctor`] finds what is wrong.
//! - [`service`]: a User Group Service of our own, for `serve`, `demo` and tests. `rules`* decides, [`service::store`]
//!   stores, [`service::keys`] authorises; `observe`*, `metrics`* and `access_log`* are for its operators.
//! - [`tui`]: the console. [`tui::state`] is its pure state, with [`tui::app`] above it; [`tui::panes`] are
//!   its screens, [`tui::keymap`] its keys, [`tui::runtime`] the event loop and the jobs that call `operations`,
//!   [`tui::terminal`] the terminal.
//! - [`demo`]: the world that the demo, the tests and the pictures share.
//! - [`cli`]: the command line. `args`* defines the arguments, `commands`* has one module per command, `input`* reads
//!   files and answers to prompts, `output`* prints, `process`* holds streams, signals and exit codes.

pub mod api;
pub mod cli;
pub mod config;
mod db;
pub mod demo;
pub mod directory;
pub mod domain;
pub mod formats;
pub mod intake;
pub mod operations;
pub mod platform;
pub mod search;
pub mod service;
pub mod tui;
