//! The configuration of this installation: profiles, the sources of API keys, and the checks on private files.
//! Everything here reads, checks and answers; it keeps no API key and talks to no service.

pub mod address;
mod directory;
pub mod edit;
mod environment;
mod error;
mod file;
pub mod guard;
mod key;
mod key_command;
mod key_source;
pub mod keyring;
mod kind;
mod name;
pub mod new_profile;
pub mod paths;
pub mod pgpass;
pub mod profile;
pub mod reference;
mod schema;
pub mod scrub;
mod settings;
mod table;
mod ui;
mod variables;

pub use directory::{DirectoryAt, TeamSettings, is_address};
pub use environment::Environment;
pub use error::{ConfigError, Problem};
pub use key::given as given_key;
pub use key_source::KeyError;
pub use name::{nearest, objection};
pub use profile::{HandOffCommand, KeySource, Profile};
pub use settings::{
    NewDirectory, Overrides, Settings, default_directory, directory_of, file_of, new_directory,
    unknown_profile,
};
pub use table::Position;
pub use ui::{Background, Colour, KeyOverride, Role, UiSettings};
