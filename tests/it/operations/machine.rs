//! The state machine, cut at every prefix of its journal: what is durable is enough to go on from.
