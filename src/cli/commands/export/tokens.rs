//! Reads the token of every group that the service is known to have, and writes the tokens to a file of their own.

use std::{path::Path, sync::Arc};

use crate::{
    cli::{
        commands::{
            batch::tokens::TokenLines,
            run::{RunReport, Summary, follow},
        },
        error::CliError,
        input::listing::Listing,
        output::{self, progress::Progress, token_file::is_output},
        process::{
            exit::{Exit, RunEnd},
            signals::Signals,
        },
        session::Session,
    },
    domain::{refresh::Counts, text::counted},
    operations::{
        GroupRead, Reading, Refresh,
        run::{RunLimits, Sum},
    },
};

pub(super) async fn read(
    session: &Session,
    signals: &mut Signals,
    listing: &Listing,
    file: &Path,
    pace: RunLimits,
) -> Result<Exit, CliError> {
    session.say_where();
    let operations = &session.operations;
    operations.ready().await?;
    let lines = TokenLines::create(file, operations.directory().fingerprinter())?;
    let mut plan = Refresh::default();
    session
        .each_listed(listing, async |groups| {
            for (group, _) in groups {
                if group.last_seen.is_some() {
                    plan.ids.push(group.id);
                } else {
                    plan.never_seen += 1;
                }
            }
            Ok(true)
        })
        .await?;
    if plan.never_seen > 0 {
        output::alarm(&format!(
            "! skipped {} that {} never seen in the service: reading one could create it",
            counted(plan.never_seen, "group"),
            if plan.never_seen == 1 { "was" } else { "were" }
        ));
    }
    let run = operations.run_refresh(None, plan, pace, false, Some(Arc::new(lines)))?;
    let report = Report {
        file,
        stopped_by: None,
    };
    follow(session, signals, run, report).await
}

struct Report<'f> {
    file: &'f Path,
    /// An alarm, or a failure that every other read would meet too.
    stopped_by: Option<Exit>,
}

impl RunReport for Report<'_> {
    type Of = Reading;

    fn ended(&mut self, _: &Session, progress: &Progress, read: &GroupRead) -> Option<Counts> {
        if let Some(failure) = &read.failure {
            progress.alarm(format!("x \"{}\": {failure}", read.user_group_id));
            let exit = Exit::from(failure.class());
            if matches!(exit, Exit::Key | Exit::Guarded | Exit::Usage) {
                self.stopped_by.get_or_insert(exit);
            }
        }
        if read.not_kept.is_some() {
            self.stopped_by.get_or_insert(Exit::Usage);
        }
        for warning in read.warnings.iter().filter(|warning| warning.is_alarm()) {
            progress.alarm(format!("x \"{}\": {warning}", read.user_group_id));
            self.stopped_by.get_or_insert(Exit::Guarded);
        }
        Some(read.counts)
    }

    fn again(&self) -> Option<String> {
        None
    }

    async fn summary(self, _: &Session, Sum { counts, halt }: Sum<Counts>) -> Summary {
        let kept = counts.read() - counts.alarms();
        let all = counted(counts.planned(), "token");
        let place = self.file.display();
        let text = match kept {
            _ if is_output(self.file) => format!("read {kept} of {all}"),
            0 => format!("read 0 of {all}; {place} was not created"),
            _ => format!("saved {kept} of {all} to {place}"),
        };
        let exit = Exit::from_run(&RunEnd {
            unknown: 0,
            alarms: counts.alarms(),
            // The groups themselves were exported.
            done: usize::from(self.stopped_by.is_none()),
            is_left: kept < counts.planned(),
            first_failure: self.stopped_by,
            halt: halt.as_ref(),
        });
        Summary {
            exit,
            alarms: Vec::new(),
            result: None,
            said: Some(text),
            next: Vec::new(),
            is_left: false,
        }
    }
}
