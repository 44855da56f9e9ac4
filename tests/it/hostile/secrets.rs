//! Canaries: API keys and tokens of a shape that nothing else has, through every command and every place of the console,
//! with a service that repeats them wherever it can. Afterwards they are searched for in everything that is left, also
//! encoded and reversed.

mod canary;
mod commands;
mod console;
mod crashes;
mod echo;
mod memory;
mod program;

/// An API key; with characters that every encoding changes.
const KEY: &str = "kAy/7f3+91e=0c\"4d8b&265Zq";
/// The key of a profile that is never used.
const OTHER_KEY: &str = "0tH\"er+Key/5b1e=0c77&9a3dXw";
/// The key that a command prints, and the one in a file.
const TOLD_KEY: &str = "T0ld/K\"ey=c81d+22f7&aa90Lm";
const FILED_KEY: &str = "F1led\"K/ey+e4b7=90d3&11c6Pv";
/// The token at first, and the one after a rotation, in the shape that tokens have: a client that was never told one must
/// know it by that.
const TOKEN: &str = "c4a9e107d35b8f26c4b1e90a7d53f86e21b0d9a47c6e58f3a1d72b904e6cf835";
const NEW_TOKEN: &str = "9f3b61d7e0ca25847b1e6fd3920c85a4e7f14d6b83a9052ce6d81f7b304a95ce";

const ALL: [&str; 6] = [KEY, OTHER_KEY, TOLD_KEY, FILED_KEY, TOKEN, NEW_TOKEN];
