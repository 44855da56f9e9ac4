//! What this desk is told: profiles, where API keys come from, and the care of private files.

pub mod files;
pub mod profile;
