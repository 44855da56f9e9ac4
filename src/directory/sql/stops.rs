//! Encodes why a batch stopped as text in its row. The words must not change; what a later version wrote counts as
//! unknown.

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use crate::domain::{
    batch::{Halt, LastRun, StopCause},
    group::UserGroupId,
};

#[derive(Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
enum Stored {
    Running,
    Failures { count: usize },
    Conflict { group: String },
    Alarm { group: String },
    Asked,
    Quit,
    LineLost,
    Signal,
    TakenOver,
    Internal,
    Cannot { text: String },
}

pub(super) fn text(run: &LastRun) -> Result<String, Fault> {
    let stored = match run {
        LastRun::Begun => Stored::Running,
        LastRun::Stopped(halt) => match halt {
            Halt::Failures(count) => Stored::Failures { count: *count },
            Halt::Conflict(id) => Stored::Conflict {
                group: id.to_string(),
            },
            Halt::Alarm(id) => Stored::Alarm {
                group: id.to_string(),
            },
            Halt::Asked(StopCause::Person) => Stored::Asked,
            Halt::Asked(StopCause::Quit) => Stored::Quit,
            Halt::Asked(StopCause::TerminalLost) => Stored::LineLost,
            Halt::Asked(StopCause::Signal) => Stored::Signal,
            Halt::Asked(StopCause::TakenOver) => Stored::TakenOver,
            Halt::Internal => Stored::Internal,
            Halt::Cannot(text) => Stored::Cannot { text: text.clone() },
        },
    };
    serde_json::to_string(&stored).map_err(|_| Fault::Row("batches"))
}

pub(super) fn read(text: &str) -> Option<LastRun> {
    let group = |id| UserGroupId::parse(id).ok();
    let halt = match serde_json::from_str(text).ok()? {
        Stored::Running => return Some(LastRun::Begun),
        Stored::Failures { count } => Halt::Failures(count),
        Stored::Conflict { group: id } => Halt::Conflict(group(id)?),
        Stored::Alarm { group: id } => Halt::Alarm(group(id)?),
        Stored::Asked => Halt::Asked(StopCause::Person),
        Stored::Quit => Halt::Asked(StopCause::Quit),
        Stored::LineLost => Halt::Asked(StopCause::TerminalLost),
        Stored::Signal => Halt::Asked(StopCause::Signal),
        Stored::TakenOver => Halt::Asked(StopCause::TakenOver),
        Stored::Internal => Halt::Internal,
        Stored::Cannot { text } => Halt::Cannot(text),
    };
    Some(LastRun::Stopped(halt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_back_and_one_of_a_later_version_is_none() {
        let id = UserGroupId::parse("acme").expect("an id");
        let asked = [
            StopCause::Person,
            StopCause::Quit,
            StopCause::TerminalLost,
            StopCause::Signal,
            StopCause::TakenOver,
        ];
        let halts = [
            Halt::Failures(3),
            Halt::Conflict(id.clone()),
            Halt::Alarm(id),
            Halt::Internal,
            Halt::Cannot("no \"room\"".into()),
        ];
        let halts = halts.into_iter().chain(asked.map(Halt::Asked));
        for run in halts.map(LastRun::Stopped).chain([LastRun::Begun]) {
            let stored = text(&run).expect("text");
            assert_eq!(read(&stored), Some(run), "{stored}");
        }
        assert_eq!(read("{\"why\":\"eclipse\"}"), None);
    }
}
