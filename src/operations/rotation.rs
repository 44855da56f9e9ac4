//! The life of one rotation (docs/design/rotation.md): started, settled, recovered.

pub(super) mod check;
pub(super) mod recover;
pub(super) mod rotate;
pub(super) mod settle;
pub(super) mod since_sent;
