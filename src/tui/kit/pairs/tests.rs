//! The guarantees of the rows, for both kinds: every row stays visible, and every step can be undone. Of the properties
//! besides: both views show the same value, and what is not touched stays as it was written.

mod property_rows;
mod random;

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::*;
use crate::{
    domain::{Mapping, testing::mapping},
    tui::kit::{
        Reaction,
        json_editor::parse,
        testing::{THEME, key, row_keys, screen, typed},
    },
};

/// Written by hand.
const TEXT: &str = r#"{"tier":"gold", "seats" : 12345678901234567890.10,
  "beta": true,"owner":{ "team":"night",
    "on_call":[1,2.50] },"note":null}"#;

/// What both kinds can do.
trait Editor {
    fn press(&mut self, key: KeyEvent) -> Reaction;
    fn insert(&mut self, text: &str) -> PastedPairs;
    fn shown(&self, width: u16, height: u16) -> String;
    /// The pairs as they would be sent.
    fn pairs(&self) -> Vec<String>;
    fn is_typing(&mut self) -> bool;
    /// Keys from the key of a new row to its value.
    fn to_value(&self) -> &'static str;
}

macro_rules! editor {
    ($kind:ty, $to_value:literal) => {
        impl Editor for $kind {
            fn press(&mut self, key: KeyEvent) -> Reaction {
                self.key(key)
            }

            fn insert(&mut self, text: &str) -> PastedPairs {
                self.paste(text)
            }

            fn shown(&self, width: u16, height: u16) -> String {
                screen(width, height, |buffer, area| {
                    self.draw(buffer, area, THEME, true, &row_keys());
                })
            }

            fn pairs(&self) -> Vec<String> {
                let value = self.value().expect("valid");
                let value = serde_json::to_value(value).expect("JSON");
                let pairs = value.as_object().into_iter().flatten();
                pairs
                    .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or("no text")))
                    .collect()
            }

            fn is_typing(&mut self) -> bool {
                self.cell().is_some()
            }

            fn to_value(&self) -> &'static str {
                $to_value
            }
        }
    };
}

editor!(MappingTable, "\n");
editor!(PropertiesField, "\n\n");

/// See [`typed`].
fn keys<E: Editor + ?Sized>(editor: &mut E, text: &str) {
    for event in typed(text) {
        editor.press(event);
    }
}

fn table() -> MappingTable {
    MappingTable::new(Some(&mapping(&[("7", "40"), ("9", "134"), ("12", "5")])))
}

/// Whether the mapping differs from the usual one. A problem counts as a difference.
fn differs(changed: &MappingTable) -> bool {
    changed.value() != table().value()
}

/// Number of rows that were added, removed or changed.
fn count_changes(table: &MappingTable) -> usize {
    let rows = table.rows.iter();
    rows.filter(|row| row.mark() != Mark::Same).count()
}

fn known(json: &str) -> PropertiesField {
    PropertiesField::new(Some(&parse(json).expect("properties")))
}

/// The rows of a text that equals what was known.
fn rows_of(text: &str) -> PropertiesField {
    let mut field = known(text);
    field.set_text(text);
    assert!(field.switch());
    field
}

/// The same three pairs in both kinds.
fn both() -> [Box<dyn Editor>; 2] {
    let mut field = known(r#"{"7":"40","9":"134","12":"5"}"#);
    assert!(field.switch());
    [Box::new(table()), Box::new(field)]
}

/// Types, and checks where the focus is and what the text is then.
#[track_caller]
fn types(field: &mut PropertiesField, text: &str, place: PropertiesFocus, then: &str) {
    keys(field, text);
    assert_eq!((field.place(), &*field.text()), (place, then));
}

fn rows(added: usize, changed: usize) -> PastedPairs {
    PastedPairs::Rows { added, changed }
}

#[test]
fn rows_are_changed_added_and_removed_in_sight() {
    let mut table = table();
    keys(&mut table, "l\n⌫⌫213\njDa8\n99\nk");
    insta::assert_snapshot!(table.shown(60, 6), @r"
       SCHEMA ID     DATA SOURCE ID
     ~ 7             213             was 40
     - 9             134             will be removed
    >  12            5
     + 8             99              new
    ");
    assert_eq!(table.pairs(), ["7=213", "12=5", "8=99"]);
    assert!(differs(&table));
    assert_eq!(count_changes(&table), 3);
    let mut field = rows_of(TEXT);
    keys(&mut field, "\n␕silver\njj\njDaregion\n\neu\n");
    insta::assert_snapshot!(field.shown(76, 9), @r#"
       KEY          TYPE         VALUE
     ~ tier         text         silver                          was gold
       seats        number       12345678901234567890.10
     ~ beta         true/false   false                           was true
     - owner        JSON         {"team": "night", "on_call": [… will be removed
       note         null         null
    >+ region       text         eu                              new
    "#);
    let text = r#"{"tier":"silver", "seats" : 12345678901234567890.10,
  "beta": false,"note":null,"region": "eu"}"#;
    types(&mut field, "", PropertiesFocus::Rows, text);
}

#[test]
fn an_empty_new_row_was_never_there() {
    for mut editor in both() {
        let before = editor.pairs();
        for end in ["⎋", "\n", "↑", "⇤"] {
            keys(&mut *editor, "a");
            assert_eq!(editor.press(key(KeyCode::Tab)), Reaction::Refused);
            keys(&mut *editor, end);
            assert_eq!(editor.pairs(), before, "{end}");
            assert!(!editor.is_typing());
            assert_eq!(editor.press(key(KeyCode::Char('z'))), Reaction::Refused);
        }
    }
}

#[test]
fn esc_leaves_the_cell_as_it_was_and_what_is_brought_back_is_no_change() {
    for mut editor in both() {
        let before = editor.pairs();
        keys(&mut *editor, "\nabc");
        assert_eq!(editor.pairs()[0], "7=40abc", "what is being typed counts");
        keys(&mut *editor, "⎋");
        assert_eq!(editor.pairs(), before);
        assert_eq!(editor.press(key(KeyCode::Esc)), Reaction::Ignored);
        keys(&mut *editor, "jD");
        assert_eq!(editor.pairs(), ["7=40", "12=5"]);
        assert_eq!(editor.press(key(KeyCode::Enter)), Reaction::Refused);
        let why = "! this row will be removed; - restores it";
        assert!(editor.shown(60, 6).ends_with(why));
        keys(&mut *editor, "D");
        assert_eq!(editor.pairs(), before, "dropped and brought back");
    }
}

#[test]
fn steps_are_undone_and_redone_where_they_were_made() {
    for mut editor in both() {
        let start = editor.pairs();
        let to_value = editor.to_value();
        keys(&mut *editor, &format!("jDa8{to_value}1\n"));
        let end = editor.pairs();
        assert_eq!(end, ["7=40", "12=5", "8=1"]);
        keys(&mut *editor, "gzzz");
        assert_eq!(editor.pairs(), start);
        assert!(
            editor.shown(60, 6).contains("\n>  9 "),
            "to the row that is back"
        );
        assert_eq!(editor.press(key(KeyCode::Char('z'))), Reaction::Refused);
        keys(&mut *editor, "ZZZ");
        assert_eq!(editor.pairs(), end);
    }
}

#[test]
fn two_tabs_lead_out_of_the_table() {
    let mut table = table();
    let (tab, back) = (key(KeyCode::Tab), key(KeyCode::BackTab));
    for (event, reaction) in [
        (tab, Reaction::Ignored),
        (back, Reaction::Moved),
        (back, Reaction::Ignored),
        (tab, Reaction::Moved),
        (tab, Reaction::Ignored),
    ] {
        assert_eq!(table.key(event), reaction);
    }
    keys(&mut table, "←\n8⇥");
    assert!(table.is_editing());
    assert_eq!(table.key(tab), Reaction::Ignored);
    assert!(!table.is_editing(), "what was typed is taken over");
    assert_eq!(table.rows()[0].key, "78");
}

#[test]
fn a_pasted_pair_changes_the_row_that_is_there_in_one_step() {
    for mut editor in both() {
        keys(&mut *editor, "jD");
        assert_eq!(editor.insert("7=213\n9=134\n12=5\nx=y"), rows(1, 2));
        assert_eq!(editor.pairs(), ["7=213", "9=134", "12=5", "x=y"]);
        assert!(editor.shown(60, 6).contains("was 40"));
        assert_eq!(editor.insert("7=213"), rows(0, 0));
        keys(&mut *editor, "z");
        assert_eq!(editor.pairs(), ["7=40", "12=5"]);
    }
}

#[test]
fn a_paste_that_is_no_pairs_changes_nothing_and_says_why() {
    for mut editor in both() {
        let before = editor.pairs();
        for text in [
            "40 canary\nhello",
            "{\"a\": canary",
            "{\"a\": 1, \"a\": 2}",
            "40=213,41=5",
            " \n",
        ] {
            let PastedPairs::Refused(why) = editor.insert(text) else {
                panic!("{text} was taken");
            };
            assert!(!why.contains("canary"));
            assert_eq!(editor.pairs(), before);
            let shown = editor.shown(120, 8);
            assert!(shown.ends_with(&format!("! {why}")), "{shown}");
        }
        keys(&mut *editor, "j");
        assert!(!editor.shown(120, 8).contains('!'), "until the next key");
    }
}

#[test]
fn a_paste_into_a_cell_is_its_text_unless_it_can_only_be_rows() {
    for mut editor in both() {
        keys(&mut *editor, "l\n");
        assert_eq!(editor.insert("Acme Europe\n"), PastedPairs::Text { cut: 0 });
        assert_eq!(editor.pairs()[0], "7=40Acme Europe");
        let long = "x".repeat(LONGEST);
        let cut = "40Acme Europe".len();
        assert_eq!(editor.insert(&long), PastedPairs::Text { cut });
        keys(&mut *editor, "⎋");
    }
    let mut table = table();
    for text in ["20 1\n21 2\n", r#"{"22": 1, "23": 2}"#] {
        keys(&mut table, "\n");
        assert_eq!(table.paste(text), rows(2, 0));
        assert!(!table.is_editing());
    }
    // The cells of a table are rows, or nothing: no ID has a tab.
    for is_typing in [false, true] {
        if is_typing {
            keys(&mut table, "\n");
        }
        let before = table.pairs();
        let refused = table.paste("7=50\t8=60");
        assert!(matches!(refused, PastedPairs::Refused(_)), "{refused:?}");
        assert_eq!(table.pairs(), before);
        keys(&mut table, "⎋");
    }
    // A text of any kind can be a value.
    let mut field = rows_of(r#"{"a":1,"b":"x"}"#);
    keys(&mut field, "g\n");
    assert_eq!(field.paste("{}\n"), PastedPairs::Text { cut: 0 });
    assert_eq!(field.text(), r#"{"a":1{},"b":"x"}"#, "into the cell");
    keys(&mut field, "⎋←\n");
    assert!(matches!(field.paste("a=1"), PastedPairs::Refused(_)));
}

#[test]
fn long_tables_scroll_and_narrow_ones_keep_both_texts() {
    let many: Mapping = (0..40)
        .map(|n| (format!("schema-{n}"), format!("source-{n}\u{202e}")))
        .collect();
    let mut table = MappingTable::new(Some(&many));
    keys(&mut table, &"↓".repeat(20));
    insta::assert_snapshot!(table.shown(34, 4), @r"
       SCHEMA ID  DATA SOURCE ID 21/40
       schema-19  source-19\u{202e}
    >  schema-20  source-20\u{202e}
       schema-21  source-21\u{202e}
    ");
    keys(&mut table, "D");
    insta::assert_snapshot!(table.shown(22, 2), @r"
       SCHEMA ID  DA 21/40
    >- schema-20  source-…
    ");
    let entries: Vec<_> = (0..40)
        .map(|n| format!("\"key-{n}\": \"v{n}\u{202e}\\n\""))
        .collect();
    let mut field = rows_of(&format!("{{{}}}", entries.join(", ")));
    keys(&mut field, "⇟⇟");
    insta::assert_snapshot!(field.shown(50, 4), @r"
       KEY          TYPE         VALUE           21/40
       key-19       text         v19\u{202e}\n
    >  key-20       text         v20\u{202e}\n
       key-21       text         v21\u{202e}\n
    ");
    assert!(field.shown(32, 3).contains("key-20"));
}

#[test]
fn without_rows_it_says_what_to_do() {
    let (mut field, mut unknown) = (known("{}"), PropertiesField::new(None));
    assert!(field.switch() && unknown.switch());
    let none: [&dyn Editor; 2] = [&MappingTable::new(Some(&Mapping::new())), &field];
    for editor in none {
        assert!(editor.shown(40, 4).ends_with("no rows; + adds one"));
    }
    let none: [&dyn Editor; 2] = [&MappingTable::new(None), &unknown];
    for editor in none {
        assert!(editor.shown(100, 4).contains("unknown; stays unchanged"));
    }
}

/// Of the mapping: a wrong row stays, with its problem.
mod mapping_rows {
    use super::*;
    use crate::tui::kit::json_editor;

    #[test]
    fn what_is_wrong_is_said_at_once_even_while_typing() {
        let mut table = table();
        keys(&mut table, "a7");
        insta::assert_snapshot!(table.shown(60, 7), @r"
           SCHEMA ID     DATA SOURCE ID
           7             40
           9             134
           12            5
        >+ 7                             same schema ID as row 1

        ! row 4: same schema ID as row 1
        ");
        let place = |table: &MappingTable| {
            let problem = table.value().expect_err("wrong");
            (problem.row, problem.column)
        };
        assert_eq!(place(&table), (3, Column::Key));
        keys(&mut table, "0\n");
        assert_eq!(place(&table), (3, Column::Value), "no value yet");
        keys(&mut table, "1");
        assert!(table.value().is_ok(), "what is being typed counts");
        keys(&mut table, "\ng←\n␕70");
        assert_eq!(place(&table), (0, Column::Key), "the cell that is typed");
        let text = r#"{"$serde_json::private::Number": "5"}"#;
        keys(&mut table, "⎋");
        assert_eq!(table.paste(text), rows(1, 0));
        assert_eq!(place(&table), (4, Column::Key), "it cannot be sent");
    }

    #[test]
    fn changing_begins_at_the_data_source() {
        let mut table = table();
        keys(&mut table, "\n9\n");
        assert_eq!(table.rows()[0].value, "409");
        keys(&mut table, "←j\n9\n");
        assert_eq!(table.rows()[1].key, "99", "the chosen column stays");
        assert_eq!(table.source_here(), Some("134"));
        keys(&mut table, "D");
        assert_eq!(table.source_here(), None, "it is marked for removal");
        keys(&mut table, "D");
        assert_eq!(table.sources().collect::<Vec<_>>(), ["409", "134", "5"]);
    }

    #[test]
    fn a_new_row_counts_once_something_is_typed() {
        let mut table = table();
        let rows = table.rows();
        keys(&mut table, "a");
        assert!(!differs(&table));
        assert_eq!(table.rows(), rows);
        assert!(!table.go_to_next_problem() && table.is_editing());
        keys(&mut table, "8");
        assert!(differs(&table));
        keys(&mut table, "⌫");
        assert!(!differs(&table));
    }

    #[test]
    fn the_next_problem_is_found_around_the_end() {
        let mut table = table();
        keys(&mut table, "a7\n1\na99\n\ng");
        for cursor in [3, 4, 3] {
            assert!(table.go_to_next_problem());
            assert_eq!(table.cursor, cursor);
            assert!(cursor == 3 || table.column == Column::Value);
        }
        keys(&mut table, "G←\n0\n");
        assert!(
            table.is_editing(),
            "the value that is missing is typed next"
        );
    }

    #[test]
    fn other_values_replace_all_rows_in_one_step() {
        let before = mapping(&[("7", "40"), ("8", "41")]);
        for known in [Some(&before), None] {
            let mut table = MappingTable::new(known);
            let start = table.value();
            let read = |text: &str| pairs_of(json_editor::parse(text).expect("an object"));
            assert_eq!(
                read(&table.as_json()),
                Ok(known.cloned().unwrap_or_default())
            );
            assert_eq!(read("{\"7\": []}"), Err(NotText(1)));
            table.replace(read("{\"9\": 42,\n \"7\": \"213\"}").expect("a mapping"));
            assert_eq!(table.value(), Ok(mapping(&[("7", "213"), ("9", "42")])));
            let changes = if known.is_some() { 3 } else { 2 };
            assert_eq!(count_changes(&table), changes, "8 is marked, not gone");
            assert_eq!(table.kind.is_known(), known.is_some());
            assert!(table.undo());
            assert_eq!(table.value(), start);
            assert!(!table.undo());
            table.replace(start.expect("valid"));
            assert!(!table.undo(), "nothing was changed");
        }
    }

    #[test]
    fn a_newer_copy_moves_what_was_not_touched() {
        let old = mapping(&[("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")]);
        let mut table = MappingTable::new(Some(&old));
        table.replace(mapping(&[
            ("1", "a"),
            ("2", "mine"),
            ("4", "d"),
            ("5", "e"),
        ]));
        let new = mapping(&[("1", "A"), ("2", "B"), ("3", "C"), ("6", "f")]);
        table.rebase(Some(&new));
        let wanted = mapping(&[("1", "A"), ("2", "mine"), ("5", "e"), ("6", "f")]);
        let why = "4 was removed by a colleague, 3 stays dropped";
        assert_eq!(table.value(), Ok(wanted), "{why}");
        assert_eq!(count_changes(&table), 3, "2 changed, 3 dropped, 5 added");
        let mut restored = MappingTable::new(Some(&new));
        restored.restore(table.rows());
        assert_eq!(restored, table, "a draft keeps all of it");
    }
}
