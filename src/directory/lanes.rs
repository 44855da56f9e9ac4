//! Chooses the lane (connection to a server) for each request. Requests about a group or rotation that already has work
//! in progress use the same lane, and so stay in order. Other requests about a group use the lane with the least work,
//! preferring the first: more lanes are opened only under load. Requests about no particular group use the first lane,
//! in the order in which they are made.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{PlaceId, Record, RotationId};
use crate::domain::group::UserGroupId;

/// What must be done in order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    Group(PlaceId, UserGroupId),
    Rotation(RotationId),
}

impl Subject {
    /// The subject of a record.
    pub(super) fn of(place: PlaceId, record: &Record) -> Option<Self> {
        let entry = record.entry.as_ref().map(|entry| &entry.user_group_id);
        let observed = record.observation.as_ref().map(|observed| &observed.id);
        let group = entry.or(observed);
        let group = group.map(|id| Self::Group(place, id.clone()));
        group.or_else(|| record.rotation.as_ref().map(|step| Self::Rotation(step.id)))
    }
}

#[derive(Debug)]
struct Load {
    /// Number of requests in progress on each lane.
    requests: Vec<usize>,
    /// The lane of each subject in progress, and its number of requests.
    subjects: HashMap<Subject, (usize, usize)>,
}

pub(super) struct Lanes(Arc<Mutex<Load>>);

/// Counts as work in progress until it is dropped.
pub(super) struct LaneGuard {
    pub(super) lane: usize,
    subject: Option<Subject>,
    load: Arc<Mutex<Load>>,
}

impl Lanes {
    pub(super) fn new(count: usize) -> Self {
        Self(Arc::new(Mutex::new(Load {
            requests: vec![0; count],
            subjects: HashMap::new(),
        })))
    }

    pub(super) fn take(&self, subject: Option<Subject>) -> LaneGuard {
        let mut load = lock(&self.0);
        let under_way = subject
            .as_ref()
            .and_then(|subject| load.subjects.get(subject));
        let lane = match (&subject, under_way) {
            (None, _) => 0,
            (_, Some((lane, _))) => *lane,
            _ => {
                let requests = load.requests.iter().enumerate();
                let least = requests.min_by_key(|(_, count)| **count);
                least.map_or(0, |(lane, _)| lane)
            }
        };
        load.requests[lane] += 1;
        if let Some(subject) = &subject {
            load.subjects.entry(subject.clone()).or_insert((lane, 0)).1 += 1;
        }
        drop(load);
        LaneGuard {
            lane,
            subject,
            load: Arc::clone(&self.0),
        }
    }
}

impl Drop for LaneGuard {
    fn drop(&mut self) {
        let mut load = lock(&self.load);
        load.requests[self.lane] -= 1;
        if let Some(subject) = self.subject.take()
            && let Some((_, count)) = load.subjects.get_mut(&subject)
        {
            *count -= 1;
            if *count == 0 {
                load.subjects.remove(&subject);
            }
        }
    }
}

fn lock(load: &Mutex<Load>) -> MutexGuard<'_, Load> {
    load.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_alone_needs_one_line_and_a_thing_stays_where_it_is() {
        let lanes = Lanes::new(3);
        let group = |name: &str| {
            let id = UserGroupId::parse(name).expect("an ID");
            Some(Subject::Group(PlaceId(1), id))
        };
        let lane = |subject| lanes.take(subject).lane;
        for name in ["a", "b", "c"] {
            assert_eq!(lane(group(name)), 0, "one after another");
        }
        let first = lanes.take(group("a"));
        let second = lanes.take(group("b"));
        let third = lanes.take(group("c"));
        assert_eq!((first.lane, second.lane, third.lane), (0, 1, 2));
        assert_eq!((lane(group("b")), lane(group("c"))), (1, 2), "in order");
        assert_eq!(lane(None), 0);
        let again = lanes.take(group("b"));
        drop(second);
        assert_eq!(lane(group("b")), 1, "something of it is under way");
        drop((again, first));
        assert_eq!(lane(group("b")), 0);
        drop(third);
        let load = lock(&lanes.0);
        assert!(
            load.subjects.is_empty() && load.requests == [0, 0, 0],
            "{load:?}"
        );
    }
}
