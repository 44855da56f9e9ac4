//! The intake: every text from outside passes here, whatever brings it: files, standard input, variables, pasted text,
//! key files and key commands, certificates, the editor. It removes byte order marks, reads UTF-8 and marked UTF-16,
//! accepts line ends of all three kinds, and names what cannot be read: the place, the sign and the number of places, or
//! the kind of file. Then come the parsers of small texts: durations, pairs, addresses to listen on and lists of ids.
//! The house rules find readers outside it.

pub mod command;
pub mod decoder;
pub mod duration;
pub mod fault;
pub mod ids;
pub mod json_key;
pub mod kind;
pub mod listen;
pub mod pairs;
pub mod pem;
pub mod proxy;
pub mod secret;
pub mod signs;
pub mod text;

#[cfg(test)]
mod tests;
