//! Import, apply and export.

use super::{
    Field, Shape, field, shape,
    shared::{DRY_RUN, NOT_STARTED, STOPPED, THE_GROUP, WARNINGS},
};

const ROW: Field = field("row", "number", "", "of the files, from 1");
const ANNOTATIONS: Field = field(
    "annotations",
    "object of anything",
    "",
    "what changes of note, labels and favourite, here alone: [before, after] by column; there only where something does",
);
const SUM_BESIDE: Field = field(
    "annotations",
    "object",
    "",
    "notes, labels and favourites; there only where a row changes some",
);
const SUM_CHANGED: Field = field("annotations.changed", "number", "", "rows that change them");
const RESEMBLES: Field = field(
    "resembles",
    "text[]",
    "",
    "known IDs that this new ID resembles; there only where there are some",
);
const ODD_CELLS: Field = field(
    "spreadsheet_cells",
    "text[]",
    "",
    "ID, name, mapping, property or note: fields with what only a spreadsheet writes, such as #N/A or 1.2E+11; there only where there are some",
);
const SUM_EMPTIED: Field = field(
    "emptied",
    "object",
    "",
    "how many values that are known now become empty or are removed",
);
const SUM_NAMES: Field = field("emptied.names", "number", "", "names");
const SUM_MAPPINGS: Field = field("emptied.mappings", "number", "", "mappings");
const SUM_PROPERTIES: Field = field(
    "emptied.properties",
    "number",
    "",
    "groups whose properties become empty",
);
const SUM_NOTES: Field = field("emptied.notes", "number", "", "notes");
const SUM_LABELS: Field = field(
    "emptied.labels",
    "number",
    "",
    "groups that lose their labels",
);
const SUM_RESEMBLING: Field = field(
    "resembling",
    "number",
    "",
    "new IDs that resemble known ones",
);
const SUM_CELLS: Field = field(
    "spreadsheet_cells",
    "number",
    "",
    "cells with what only a spreadsheet writes",
);
const ROWS: Field = field("rows", "number", "", "rows of the files");

#[rustfmt::skip] // A table: one field a line.
pub(super) const SHAPES: &[Shape] = &[
    shape("taken-row", "a row that was taken into the directory; nothing was sent", &[&[
        field("row", "number", "", "of the file, from 1"),
        THE_GROUP,
        field("outcome", "text", "", "added, filled (something was learnt), kept (the service is known to have something else, which stays) or unchanged"),
        ANNOTATIONS,
        field("annotations_kept", "object of anything", "", "what differs from what somebody wrote here, and stays: as `annotations`; there only where something does"),
        RESEMBLES,
        ODD_CELLS,
    ]]),
    shape("taken-sum", "the last line: added + filled + kept + unchanged = rows", &[&[
        field("rows", "number", "", "rows of the file"),
        field("added", "number", "", "IDs new to the directory"),
        field("filled", "number", "", "gaps that were filled"),
        field("kept", "number", "", "rows that differ from what the service is known to have"),
        field("unchanged", "number", "", "rows that were known"),
        field("dry_run", "bool", "", "nothing was written"),
        SUM_EMPTIED,
        SUM_NAMES,
        SUM_MAPPINGS,
        SUM_PROPERTIES,
        SUM_NOTES,
        SUM_LABELS,
        SUM_RESEMBLING,
        SUM_CELLS,
        SUM_BESIDE,
        SUM_CHANGED,
        field("annotations.kept", "number", "", "rows whose note, labels or favourite differ; existing ones are kept"),
    ]]),
    shape("planned-row", "what a row needs, according to the directory; nothing was sent for it yet", &[&[
        field("row", "number", "", "of the files, from 1; missing for not_in_files"),
        THE_GROUP,
        field("plan", "text", "", "create, update, unchanged; not_known and exists: it would need --create, --update; not_in_files, with --prune-report"),
        field("request", "object of anything", "unchanged", "the body that would be sent; missing for not_in_files"),
        field("changes", "object of anything", "nothing changes", "as in `request`; missing for not_in_files"),
        field("read_at", "time", "not read in this run: it is as last known", "when the group was last seen in the service; \
        missing for not_in_files"),
        ANNOTATIONS,
        field("annotations_kept", "object of anything", "", "what differs and stays, without --update and --replace-notes; there only where something does"),
        RESEMBLES,
        ODD_CELLS,
    ]]),
    shape("plan-sum", "the last line: create + update + unchanged + not_known + exists = rows", &[&[
        DRY_RUN,
        ROWS,
        field("create", "number", "", "groups that are not in the directory"),
        field("update", "number", "", "groups that differ"),
        field("unchanged", "number", "", "groups that are as wanted"),
        field("not_known", "number", "", "groups that need --create"),
        field("exists", "number", "", "groups that need --update"),
        SUM_EMPTIED,
        SUM_NAMES,
        SUM_MAPPINGS,
        SUM_PROPERTIES,
        SUM_NOTES,
        SUM_LABELS,
        SUM_RESEMBLING,
        SUM_CELLS,
        SUM_BESIDE,
        SUM_CHANGED,
        field("annotations.kept", "number", "", "rows whose note, labels or favourite differ and stay"),
    ]]),
    shape("sent-row", "result of a sent row, as soon as it ends", &[&[
        ROW,
        THE_GROUP,
        field("outcome", "text", "", "created, existed, updated, unchanged, not_known, failed, or a value of `failure`"),
        field("note", "text", "none", "what is wrong; human-readable, may change"),
        WARNINGS,
        field("read_at", "time", "not read in this run: it is as last known", "when the group was last seen in the service"),
        field("annotated", "bool", "", "its note, labels or favourite were changed here; there only where they were"),
    ]]),
    shape("sent-sum", "the last line: created + existed + updated + unchanged + failed + unknown + done_before + not_started = rows", &[&[
        ROWS,
        field("created", "number", "", "groups that were made"),
        field("existed", "number", "", "groups that were there, unchanged"),
        field("updated", "number", "", "groups that were changed"),
        field("unchanged", "number", "", "groups that were as wanted"),
        field("failed", "number", "", "not done"),
        field("unknown", "number", "", "may or may not have taken effect"),
        field("done_before", "number", "", "done by an earlier run of the same file"),
        NOT_STARTED,
        STOPPED,
        SUM_BESIDE,
        SUM_CHANGED,
    ]]),
    shape("wrong-row", "a row that cannot be used; nothing is done then", &[&[
        field("file", "text", "", "the file, or standard input"),
        ROW,
        field("line", "number", "", "of the file, where the row begins"),
        field("error", "text", "", "what is wrong; human-readable, may change"),
    ]]),
    shape("wrong-sum", "the last line; the exit code is 2", &[&[
        ROWS,
        field("bad", "number", "", "how many of them are wrong"),
        field("error", "text", "", "the same, human-readable; may change"),
    ]]),
    shape("exported", "a group as import and apply read it; --format jsonl has one on each line. A field with an unknown value \
    is missing", &[&[
        THE_GROUP,
        field("name", "text", "", "its name"),
        field("mapping", "object of text", "", "data source IDs by schema ID"),
        field("properties", "object of anything", "", "its properties"),
        field("note", "text", "", "what people noted of it; this and what follows only where --columns asks for it"),
        field("labels", "text[]", "", "its labels, without the #"),
        field("favourite", "bool", "", "true: it is a favourite"),
    ]]),
];
