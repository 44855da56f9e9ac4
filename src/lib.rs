//! groupdesk: a safe terminal console and command line for a *User Group Service*.
//!
//! What each room owns and whom it may use; arrows only downwards, checked by `tests/it/house.rs`:
//!
//! ```text
//! main -> cli -> { tui, operations, service, config, directory, api, domain }
//! tui -> { operations, config, domain }
//! operations -> { api, directory, config, domain }
//! api -> { domain, config }      directory -> { domain, config::files }      config -> domain
//! service -> { api::wire, config::files }                                    domain -> nothing of ours
//! ```
//!
//! `service` must not share our judging or our validation: a test could then agree with our own mistake.
//!
//! The rooms, from the ground up, and where to look in them (`*` names a file or folder that is not public):
//!
//! - [`domain`]: the rules, without I/O and without a clock. A group and what is known of it ([`domain::group`],
//!   [`domain::known`], [`domain::size`]), what an edit changes and what it meets meanwhile ([`domain::change`], [`domain::merge`],
//!   [`domain::draft`]), the state machine of a rotation and of a batch ([`domain::rotation`], [`domain::batch`],
//!   [`domain::handoff`]), tokens and their ages ([`domain::token`], [`domain::age`]), the history and what it can
//!   still tell ([`domain::history`], [`domain::past`]), ids that are near and filters ([`domain::near`],
//!   [`domain::search`]), files of groups ([`domain::exchange`], [`domain::strict_json`]), hostile text made visible
//!   ([`domain::text`]).
//! - [`config`]: what this desk is told. [`config::Settings`] is the way in, `schema`* what the file may say,
//!   [`config::reference`] what every setting means; API keys (`key`*, `key_command`*, [`config::keyring`]), guards
//!   ([`config::guard`]), the file changed by groupdesk itself ([`config::edit`]), private files ([`config::files`]).
//! - [`api`]: the service as its callers see it. [`api::wire`] is its JSON, [`api::client`] the three requests,
//!   [`api::answer`] and [`api::rotation`] what an answer means, [`api::probe`] a test that creates nothing,
//!   [`api::inspect`] and [`api::recording`] what a person may see of an exchange, with secrets masked (`masking`*).
//! - [`directory`]: what this desk remembers, on one SQLite thread (`sqlite`*, `sql`*; `request`* is all that can be
//!   asked), the journal replayed by the rules of the domain (`replay`*).
//! - [`operations`]: what an operator can do; each writes down what it did before it answers. `groups`* looks up, creates
//!   and updates, `rotating`*, `settling`* and `recovering`* are the one way a token is rotated, [`operations::bulk`] many
//!   of them, `handing`* the hand-off, `importing`* rows of files, `connecting`* new profiles, [`operations::doctor`] what
//!   is wrong with this desk.
//! - [`service`]: a User Group Service of its own, for `serve`, `demo` and tests. `rules`* decides, [`service::store`]
//!   keeps, [`service::keys`] knows who may.
//! - [`tui`]: the console. [`tui::app`] is its pure state, [`tui::panes`] its places, [`tui::keymap`] its keys,
//!   [`tui::work`] where it asks `operations`, [`tui::runner`] its loop, [`tui::terminal`] the terminal, [`tui::plain`] the
//!   same as lines, [`tui::picture`] as a picture.
//! - [`cli`]: the command line. `args`* is what can be typed, one file or folder a command, `json`* and `human`* what is
//!   printed, `exit`* and `stop`* how it ends; [`cli::demo`] is the world that the demo, the tests and the pictures share.

pub mod api;
pub mod cli;
pub mod config;
pub mod directory;
pub mod domain;
pub mod operations;
pub mod service;
pub mod tui;
