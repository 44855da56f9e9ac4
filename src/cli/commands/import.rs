//! `import`: takes the rows of a file into the directory without sending anything. With `--create` and `--update` it
//! also sends them to the service after a confirmation, and continues where an interrupted run of the same file
//! stopped.

pub(crate) mod checked;
pub(crate) mod plan;
pub(super) mod resembling;
pub(crate) mod send;
pub(crate) mod shown;

use sha2::{Digest, Sha256};

use self::{
    checked::{Checked, chunk},
    plan::ImportOptions,
    resembling::{Losses, ODD, ODDITIES, Oddities, Resembling, SpreadsheetCells, odd, of_row},
    shown::{ANNOTATED_ROW, ROWS_ANNOTATED, ShownPlan, annotated_row, rows_annotated},
};
use super::prelude::*;
use crate::{
    cli::args::Speed,
    domain::{annotation::AnnotationPlan, known::ImportResult},
    formats::Plan,
    operations::{self, Imported},
};

/// Import groups from CSV or JSON into the directory, or also into the service
#[derive(Debug, Args)]
#[command(
    after_help = "Columns, or keys of JSON objects: user_group_id, name, mapping, properties, and note, labels, favourite, \
        which stay in the directory and are never sent. Mapping and properties are JSON. Existing notes and labels \
        are kept and reported, unless you use --update or --replace-notes. Every row is checked before anything is \
        done. An imported ID counts as known: import only IDs that exist in the service, or use --create. To resume \
        an interrupted --create or --update, run the same command again."
)]
pub(crate) struct Import {
    /// CSV, JSON lines or a JSON array; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Also send a get-or-create for each row
    #[arg(long)]
    create: bool,
    /// Also update groups that differ from their row; IDs never seen in the service also need --create
    #[arg(long)]
    update: bool,
    /// Read the groups of the file before the plan
    #[arg(long)]
    refresh: bool,
    /// Also replace notes, labels and favourites that differ, as --update does
    #[arg(long)]
    replace_notes: bool,
    /// Start with the first row, even if an earlier run of this file was interrupted
    #[arg(long, alias = "again")]
    restart: bool,
    #[command(flatten)]
    replace: Replace,
    #[command(flatten)]
    speed: Speed,
    #[command(flatten)]
    mutation: Mutation,
}

impl Run for Import {
    #[rustfmt::skip] // A table: one command a line.
    const PAGES: &'static [Page] = &[
        page("import", &["groupdesk import groups.csv", "groupdesk import - --create --dry-run < groups.jsonl"],
            &[
            lines("FILE", &[&TAKEN, &TAKEN_SUM]),
            lines("FILE --create --update", &[&send::ROW, &send::SUM]),
            lines("FILE --create --update --dry-run", &[&shown::ROW, &shown::SUM]),
            lines("FILE and apply PATH, where rows are wrong", &[&checked::WRONG, &checked::WRONG_SUM]),
        ]),
    ];

    async fn run(self, global: &Global) -> Result<Exit, CliError> {
        run(global, self).await
    }
}

impl Import {
    /// Refuses what an import that sends nothing would leave out without a word.
    fn sends_nothing(&self) -> Result<(), CliError> {
        let options = [
            (self.refresh, "--refresh"),
            (self.restart, "--restart"),
            (self.mutation.curl, "--curl"),
        ];
        match options.into_iter().find(|(is_set, _)| *is_set) {
            None => Ok(()),
            Some((_, name)) => Err(CliError::Usage(format!(
                "{name} needs --create or --update; nothing was changed"
            ))),
        }
    }
}

async fn run(global: &Global, arguments: Import) -> Result<Exit, CliError> {
    if !arguments.create && !arguments.update {
        arguments.sends_nothing()?;
    }
    if !arguments.update && !arguments.replace.fields().is_empty() {
        return Err(CliError::Usage(
            "--replace-mapping and --replace-properties need --update; nothing was changed".into(),
        ));
    }
    let mut signals = Signals::new()?;
    let sources = vec![arguments.file.clone()];
    let checked = signals.unless_signalled(Checked::of(sources, global.json));
    let Some(checked) = checked.await? else {
        return Ok(Exit::Usage);
    };
    let session = signals.unless_signalled(Session::open(global)).await?;
    let sending = Sending {
        create: arguments.create,
        update: arguments.update,
        only_differences: false,
    };
    let sends = sending.create || sending.update;
    let options = ImportOptions {
        sending,
        sends,
        replace: arguments.replace,
        refreshes: arguments.refresh,
        replaces: arguments.update || arguments.replace_notes,
    };
    let review = Review::before_sending(&session, &arguments.mutation);
    if sends {
        session.operations.sending_permitted(sending, 0)?;
        session.say_where();
    }
    let prepared = async {
        session.say_other_places().await?;
        if !sends {
            let dry_run = arguments.mutation.dry_run;
            let taken = import_rows(&session, &checked, options.replaces, dry_run);
            return taken.await.map(Err);
        }
        let digest = digest(&checked, sending);
        let operations = &session.operations;
        let is_dry_run = arguments.mutation.dry_run;
        if !is_dry_run {
            operations.place_to_write().await?;
        }
        let before = operations.open_import(digest).await?;
        let before = before.filter(|import| !import.done.is_empty());
        let continued = before.as_ref().filter(|_| !arguments.restart);
        let done = continued.map_or(&[][..], |import| &import.done);
        let left = checked.rows - done.len();
        let permit = operations.sending_permitted(sending, left)?;
        let permit = permit.replacing(arguments.replace.fields());
        if is_dry_run {
            let shown = plan::print_plan(&session, &checked, options, false).await?;
            shown::print_summary(&session, sending, &shown)?;
            return Ok(Err(shown.exit_of_dry_run().unwrap_or(Exit::Done)));
        }
        let mut shown = ShownPlan::default();
        if left > 0 {
            if let Some(import) = continued {
                print_continuation(import, checked.rows);
            }
            shown = plan::print_review(&session, &checked, options, done).await?;
            let (count, what) = if sending.create {
                (left, "Each row is sent. Groups cannot be deleted.")
            } else {
                let what = "Only groups that differ from their rows are updated.";
                (shown.plan.update, what)
            };
            let is_sent = shown.to_send(sending) > 0;
            if is_sent {
                review.can_ask()?;
            }
            operations.ready().await?;
            if is_sent {
                let words = format!("import {count} in {}", operations.profile().name);
                review.ask_losing(shown.lost(), what, &words).await?;
            } else {
                send::ask_without_change(&review, &shown).await?;
            }
        }
        // Nothing is recorded before the reply.
        let import = operations.begin_import(digest, arguments.restart).await?;
        Ok(Ok((import, permit, shown)))
    };
    // What was taken in may be taken in again.
    let prepared: Result<_, Exit> = signals.unless_signalled(prepared).await?;
    let (import, permit, shown) = match prepared {
        Ok(ready) => ready,
        Err(exit) => return Ok(exit),
    };
    let rows = shown.into_rows(&checked, permit, Some(import))?;
    send::run(&session, &mut signals, rows, arguments.speed.pace()).await
}

/// Identifies the journal of this file and of what was requested with it.
fn digest(checked: &Checked, sending: Sending) -> [u8; 32] {
    let options = [u8::from(sending.create), u8::from(sending.update)];
    let digest = Sha256::new().chain_update(options);
    digest.chain_update(checked.digest).finalize().into()
}

fn print_continuation(import: &operations::Import, rows: usize) {
    output::context(&format!(
        "resuming the import started {} by {}: {} of {} done. To start over, add --restart",
        when::second(import.started_at),
        import.by,
        import.done.len(),
        counted(rows, "row"),
    ));
}

/// How many rows had which result.
#[derive(Default)]
struct Tally {
    added: usize,
    filled: usize,
    kept: usize,
    unchanged: usize,
    /// Rows whose note, labels or favourite were changed; below, rows whose annotations differ and were kept.
    annotated: usize,
    annotations_kept: usize,
}

impl Tally {
    fn count(
        &mut self,
        Imported {
            result,
            annotations,
        }: &Imported,
    ) {
        self.annotated += usize::from(!annotations.changed.is_empty());
        self.annotations_kept += usize::from(!annotations.kept.is_empty());
        match result {
            ImportResult::Added => self.added += 1,
            ImportResult::Filled => self.filled += 1,
            ImportResult::Kept => self.kept += 1,
            ImportResult::Unchanged => self.unchanged += 1,
        }
    }
}

/// Takes the rows into the directory. Sends nothing.
async fn import_rows(
    session: &Session,
    checked: &Checked,
    replaces: bool,
    dry_run: bool,
) -> Result<Exit, CliError> {
    let operations = &session.operations;
    session.say_unknown_key().await?;
    plan::refuse_secrets(session, checked).await?;
    let mut rows = checked.read()?;
    let mut tally = Tally::default();
    let mut resembling = Resembling::default();
    let mut spreadsheet = SpreadsheetCells::default();
    let mut losses = Losses::default();
    while let Some(next) = rows.recv().await {
        let (numbers, mut rows): (Vec<_>, Vec<_>) = chunk(next)?.into_iter().unzip();
        let ids: Vec<_> = rows.iter().map(|row| row.id.clone()).collect();
        let known = operations.show_by_ids(ids.clone()).await?;
        plan::complete(session, &mut rows, &numbers, &known, false).await?;
        let mut oddities = Vec::with_capacity(rows.len());
        for ((row, number), known) in rows.iter().zip(&numbers).zip(&known) {
            let there = known.as_ref().filter(|group| group.is_seen());
            let there = there.map(DesiredFields::of);
            let spreadsheet = spreadsheet.check(*number, row, there.as_ref());
            let resembles = match known {
                None => resembling.check(session, *number, &row.id).await?,
                Some(_) => Vec::new(),
            };
            oddities.push(Oddities {
                resembles,
                spreadsheet,
            });
        }
        let taken = if dry_run {
            let annotations = plan::annotation_plans(session, &rows, replaces).await?;
            let known = rows.iter().zip(known).zip(annotations);
            known
                .map(|((row, known), annotations)| Imported {
                    result: preview_import(known, row),
                    annotations,
                })
                .collect()
        } else {
            let taken = operations.import(rows, replaces).await?;
            if taken.iter().any(is_change) {
                output::note_change();
            }
            taken
        };
        let mut lines = String::new();
        let rows = numbers.into_iter().zip(ids).zip(taken).zip(oddities);
        for (((number, id), taken), oddities) in rows {
            tally.count(&taken);
            losses.annotations(&taken.annotations);
            let Imported {
                result,
                annotations,
            } = taken;
            if session.json {
                let line = taken_row((number, &id), result, &annotations, &oddities);
                lines.push_str(&output::compact(line));
                lines.push('\n');
                continue;
            }
            if result == ImportResult::Kept {
                output::say(&format!(
                    "! row {number}: \"{id}\" differs from the last known values in the service, which are kept"
                ));
            }
            print_annotations(number, id.as_str(), &annotations);
        }
        if !lines.is_empty() {
            output::result(&lines)?;
        }
    }
    let lost = losses.in_words().map(|lost| format!("! {lost}"));
    let warnings = [lost, resembling.in_words(), spreadsheet.in_words()];
    for warning in warnings.iter().flatten() {
        output::context(warning);
    }
    if session.json {
        let odd = odd(&losses, &resembling, &spreadsheet);
        output::json_line(taken_sum(&tally, checked.rows, dry_run, odd))?;
    } else {
        print_tally(session, &tally, checked.rows, dry_run)?;
    }
    Ok(Exit::Done)
}

shape! {
    TAKEN = "taken-row", "a row that was imported into the directory; nothing was sent";
    fn taken_row((number, id): (usize, &UserGroupId), result: ImportResult, annotations: &AnnotationPlan, oddities: &Oddities) {
        "row": number = number, "row number in the file, from 1";
        "user_group_id": text = id.as_str(), "the group";
        "outcome": text = result.as_str(), "added, filled (missing values were added), kept (differs from the last known values in the service) or unchanged";
        ..ANNOTATED_ROW = annotated_row(annotations);
        ..ODDITIES = of_row(oddities);
    }

    TAKEN_SUM = "taken-sum", "the last line: added + filled + kept + unchanged = rows";
    fn taken_sum(tally: &Tally, rows: usize, dry_run: bool, odd: Object) {
        "rows": number = rows, "rows of the file";
        "added": number = tally.added, "IDs new to the directory";
        "filled": number = tally.filled, "rows that added missing values";
        "kept": number = tally.kept, "rows that differ from the last known values in the service";
        "unchanged": number = tally.unchanged, "rows whose values were known";
        "dry_run": bool = dry_run, "true: nothing was written";
        ..ODD = odd;
        ..ROWS_ANNOTATED = rows_annotated(tally.annotated, tally.annotations_kept);
    }
}

/// Reports annotations that are replaced and annotations that are kept, so that nothing a person wrote is lost
/// silently.
fn print_annotations(number: usize, id: &str, annotations: &AnnotationPlan) {
    for one in annotations
        .changed
        .iter()
        .filter(|one| one.is_replacement())
    {
        output::say(&format!("! row {number}: \"{id}\" {one}"));
    }
    for one in &annotations.kept {
        output::say(&format!(
            "! row {number}: \"{id}\" {one}: the existing value is kept. To replace it, add --replace-notes"
        ));
    }
}

fn is_change(taken: &Imported) -> bool {
    let is_kept = matches!(taken.result, ImportResult::Kept | ImportResult::Unchanged);
    !is_kept || !taken.annotations.changed.is_empty()
}

fn preview_import(known: Option<KnownGroup>, row: &GroupRow) -> ImportResult {
    known.map_or(ImportResult::Added, |mut group| {
        group.import(&row.fields, jiff::Timestamp::UNIX_EPOCH, "")
    })
}

fn print_tally(
    session: &Session,
    tally: &Tally,
    rows: usize,
    dry_run: bool,
) -> Result<(), CliError> {
    let Tally {
        added,
        filled,
        kept,
        unchanged,
        annotated,
        annotations_kept,
    } = *tally;
    let has_annotations = annotated + annotations_kept > 0;
    let profile = &session.operations.profile().name;
    let done = if dry_run { "Expected result" } else { "Result" };
    let annotations = if has_annotations {
        format!(
            "\nannotated  {annotated:>7}  note, labels or favourite written\n\
             left       {annotations_kept:>7}  note, labels or favourite differ; existing ones are kept"
        )
    } else {
        String::new()
    };
    output::result(&format!(
        "{}; nothing was sent. {done} in the directory of {profile}:\nadded      {added:>7}  IDs new to the \
         directory\nfilled     {filled:>7}  groups with missing values\nkept       {kept:>7}  rows that differ from the last known values \
         in the service\n\
         unchanged  {unchanged:>7}{annotations}",
        counted(rows, "row")
    ))
}

/// How many rows have which word of the plan.
fn counts(sending: Sending, plan: Plan) -> [(&'static str, usize); 5] {
    let options = |is_asked: bool, count: usize| if is_asked { (count, 0) } else { (0, count) };
    let (create, not_known) = options(sending.create, plan.create);
    let (update, exists) = options(sending.update, plan.update);
    [
        ("create", create),
        ("update", update),
        ("unchanged", plan.unchanged),
        ("not_known", not_known),
        ("exists", exists),
    ]
}
