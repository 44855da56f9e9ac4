//! The dimensions of a case: faults, the points where the rotation is killed, the kinds of recovery and the points
//! where that is killed.

use super::*;

/// "Bytes out, no answer" (docs/design/rotation.md): seen by the proxy, and the process is killed from outside.
pub(super) const BYTES_OUT: u8 = 4;
/// "During the hand-off command": the command has its token, and the process is killed from outside.
pub(super) const HANDING_OFF: u8 = 13;

/// How the open rotation is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RecoveryKind {
    /// By a look-up of the group.
    LookUp,
    /// By the recovery that a console starts.
    Recover,
    /// By `groupdesk rotations check`, the shipped program.
    Settle,
}

impl RecoveryKind {
    pub(super) const ALL: [Self; 3] = [Self::LookUp, Self::Recover, Self::Settle];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) fault: Fault,
    /// Where the rotation is killed, by the number in docs/design/rotation.md; `None`: it is not.
    pub(super) kill: Option<u8>,
    /// Where the first two recoveries are killed.
    pub(super) again: Option<u8>,
    pub(super) way: RecoveryKind,
}

impl Case {
    pub(super) const KILLS: [Option<u8>; 13] = [
        None,
        Some(1),
        Some(2),
        Some(3),
        Some(BYTES_OUT),
        Some(5),
        Some(6),
        Some(7),
        Some(8),
        Some(9),
        Some(10),
        Some(11),
        Some(HANDING_OFF),
    ];
    /// A recovery is not killed, or before its get, during it, after it, or after its commit.
    pub(super) const AGAIN: [Option<u8>; 5] = [None, Some(9), Some(BYTES_OUT), Some(10), Some(11)];

    /// Every combination with a look-up, the last dimension changing fastest; a third of them for each other kind of
    /// recovery.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let every = |way, step, from| Self::all_by(way).skip(from).step_by(step);
        every(RecoveryKind::LookUp, 1, 0)
            .chain(every(RecoveryKind::Recover, 3, 1))
            .chain(every(RecoveryKind::Settle, 3, 2))
    }

    fn all_by(way: RecoveryKind) -> impl Iterator<Item = Self> {
        let with = move |fault, kill| {
            Self::AGAIN.map(|again| Self {
                fault,
                kill,
                again,
                way,
            })
        };
        Fault::ALL.iter().copied().flat_map(move |fault| {
            Self::KILLS
                .into_iter()
                .flat_map(move |kill| with(fault, kill))
        })
    }

    /// Half of the pairs of a fault and a point, cycling through the points and kinds of recovery.
    pub(super) fn spread() -> Vec<Self> {
        let (kills, agains) = (Self::KILLS.len(), Self::AGAIN.len());
        let chosen = |(index, case): (usize, Self)| {
            let (again, kill) = (index % agains, index / agains % kills);
            let fault = index / agains / kills;
            let way = RecoveryKind::ALL[(fault / 2 + kill / 2) % RecoveryKind::ALL.len()];
            let is_chosen =
                (fault + kill).is_multiple_of(2) && again == (fault / 2 + kill) % agains;
            is_chosen.then_some(Self { way, ..case })
        };
        let all = Self::all_by(RecoveryKind::LookUp).enumerate();
        all.filter_map(chosen).collect()
    }
}
