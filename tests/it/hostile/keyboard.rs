//! Anything may be typed, pasted and dragged, everywhere, while the service fails at random: nothing panics, nothing stalls,
//! and nothing is changed but from a review.

mod random;
mod session;
mod terminal;
