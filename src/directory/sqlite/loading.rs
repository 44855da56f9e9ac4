//! Loads all packed copies of a place, for a list. Reading rows and packing them cost about the same, so each has a thread
//! of its own. Parts of the rows go back and forth between the threads, and no more than two exist.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use rusqlite::Connection;

use super::{fault::Fault, groups};
use crate::{
    database::Tx,
    directory::PlaceId,
    domain::{group::UserGroupId, known::KnownGroup},
    search::{Builder, is_unpacked},
};

const ALL: &str = "\
SELECT user_group_id, packed FROM packed_groups WHERE place = $1 ORDER BY user_group_id";

/// Number of groups between two progress reports.
const PROGRESS_EVERY: usize = 1 << 14;

/// Number of groups in a part.
const PART: usize = 1 << 11;

/// Maximum number of copies reported for repair; if more cannot be read, the next list reports others.
const MAX_REPAIRED: usize = 1 << 14;

/// Packs all groups of a place, and returns those whose copies could not be read. `tell` receives the number loaded so far
/// and returns whether to go on.
pub(crate) fn load(
    connection: &Connection,
    place: PlaceId,
    builder: &mut Builder,
    mut tell: impl FnMut(usize) -> bool,
) -> Result<Vec<UserGroupId>, Fault> {
    let mut statement = connection.prepare_cached(ALL)?;
    let mut found = statement.query([place.0])?;
    thread::scope(|scope| {
        let (give, given) = sync_channel(1);
        let (back, taken) = sync_channel(1);
        scope.spawn(move || pack_chunks(builder, &given, &back));
        let mut packer = Packer {
            give,
            taken,
            is_busy: false,
            unreadable: Vec::new(),
        };
        let (mut part, mut count) = (Part::default(), 0_usize);
        while let Some(row) = found.next()? {
            let packed = row.get_ref(1)?.as_blob().unwrap_or_default();
            part.add(
                row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?,
                packed,
            );
            if part.ends.len() == PART {
                part = packer.hand_over(connection, place, part)?;
            }
            count += 1;
            if count.is_multiple_of(PROGRESS_EVERY) && !tell(count) {
                break;
            }
        }
        packer.hand_over(connection, place, part)?;
        packer.wait(connection, place)?;
        Ok(packer.unreadable)
    })
}

/// Rows stored one after another.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    /// For each row, where its id ends and where its copy ends.
    ends: Vec<(usize, usize)>,
}

impl Part {
    fn add(&mut self, id: &str, packed: &[u8]) {
        self.bytes.extend_from_slice(id.as_bytes());
        let id = self.bytes.len();
        self.bytes.extend_from_slice(packed);
        self.ends.push((id, self.bytes.len()));
    }

    /// Id and copy of a row.
    fn row(&self, row: usize) -> Option<(&str, &[u8])> {
        let (id, end) = *self.ends.get(row)?;
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before].1);
        let text = std::str::from_utf8(&self.bytes[start..id]).expect("it was a text");
        Some((text, &self.bytes[id..end]))
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// A part to be packed.
struct Chunk {
    part: Part,
    /// The first row to pack.
    from: usize,
    /// The group of the row before that, as read from its own row; packed first.
    own: Option<KnownGroup>,
}

/// Packs the received parts. Sends each back with the number of the row whose copy could not be read, or with the number
/// of rows.
fn pack_chunks(builder: &mut Builder, given: &Receiver<Chunk>, back: &SyncSender<(Part, usize)>) {
    while let Ok(Chunk { part, from, own }) = given.recv() {
        if let Some(group) = own {
            builder.push(&group);
        }
        let mut row = from;
        while let Some((id, packed)) = part.row(row)
            && builder.push_packed(id, packed)
        {
            row += 1;
        }
        if back.send((part, row)).is_err() {
            return;
        }
    }
}

/// The connection to the packing thread.
struct Packer {
    give: SyncSender<Chunk>,
    taken: Receiver<(Part, usize)>,
    is_busy: bool,
    unreadable: Vec<UserGroupId>,
}

impl Packer {
    /// Sends a part once the previous one is packed, and returns the previous one, emptied.
    fn hand_over(
        &mut self,
        connection: &Connection,
        place: PlaceId,
        part: Part,
    ) -> Result<Part, Fault> {
        let mut last = self.wait(connection, place)?;
        last.clear();
        self.give(part, 0, None);
        Ok(last)
    }

    fn give(&mut self, part: Part, from: usize, own: Option<KnownGroup>) {
        // If the send fails, the other thread has panicked, and so will this one.
        self.is_busy = self.give.send(Chunk { part, from, own }).is_ok();
    }

    /// Waits until everything that was sent is packed. A copy that cannot be read is read here, from its own row.
    fn wait(&mut self, connection: &Connection, place: PlaceId) -> Result<Part, Fault> {
        while self.is_busy {
            self.is_busy = false;
            let Ok((part, row)) = self.taken.recv() else {
                break;
            };
            let Some(copy) = part.row(row) else {
                return Ok(part);
            };
            let (group, repair) = read_own_row(connection, place, copy)?;
            let has_room = self.unreadable.len() < MAX_REPAIRED;
            self.unreadable.extend(repair.filter(|_| has_room));
            self.give(part, row + 1, group);
        }
        Ok(Part::default())
    }
}

/// Packs a group from its copy or, if that cannot be read, from its own row; then returns its id, to repair the copy.
pub(super) fn push(
    connection: &Connection,
    place: PlaceId,
    builder: &mut Builder,
    (id, packed): (&str, &[u8]),
) -> Result<Option<UserGroupId>, Fault> {
    if builder.push_packed(id, packed) {
        return Ok(None);
    }
    let (group, repair) = read_own_row(connection, place, (id, packed))?;
    if let Some(group) = group {
        builder.push(&group);
    }
    Ok(repair)
}

/// Reads the group from its own row; returns its id too if the copy needs repair.
fn read_own_row(
    connection: &Connection,
    place: PlaceId,
    (id, packed): (&str, &[u8]),
) -> Result<(Option<KnownGroup>, Option<UserGroupId>), Fault> {
    let Ok(id) = UserGroupId::parse(id) else {
        return Ok((None, None));
    };
    let group = groups::one(&Tx::of(connection), place, &id)?;
    let repair = group.is_some() && !is_unpacked(packed);
    Ok((group, repair.then_some(id)))
}
