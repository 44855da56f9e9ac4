//! The console.

pub mod picture;
pub mod terminal;
pub mod theme;
pub mod widgets;
