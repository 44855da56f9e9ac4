//! What this desk is told: profiles, where API keys come from, and the care of private files. It reads, checks and
//! answers; it holds no API key itself and speaks to no service.

pub mod address;
mod comfort;
mod document;
pub mod duration;
pub mod edit;
mod environment;
mod error;
mod file;
pub mod files;
pub mod guard;
mod handoff;
mod key;
mod key_command;
mod key_error;
mod key_source;
pub mod keyring;
mod name;
pub mod new_profile;
pub mod paths;
pub mod process_group;
pub mod profile;
mod rebound;
pub mod reference;
mod schema;
pub mod scrub;
mod settings;
mod variables;

pub use comfort::{Colour, Comfort, Ground, Role};
pub use document::Spot;
pub use environment::Environment;
pub use error::{ConfigError, Problem};
pub use key::given as given_key;
pub use key_error::KeyError;
pub use name::{nearest, objection};
pub use profile::{HandOffCommand, KeySource, Profile};
pub use rebound::Rebound;
pub use settings::{Overrides, Settings, directory_of, file_of};
