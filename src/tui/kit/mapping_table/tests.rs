//! The guarantees of the table: every row stays visible, every step can be undone.

use proptest::prelude::*;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::{
    domain::testing::mapping,
    tui::kit::{
        Reaction,
        testing::{THEME, key, row_keys, screen, typed},
    },
};

fn table() -> MappingTable {
    MappingTable::new(Some(&mapping(&[("7", "40"), ("9", "134"), ("12", "5")])))
}

fn keys(table: &mut MappingTable, text: &str) {
    for event in typed(text) {
        table.key(event);
    }
}

fn drawn(table: &MappingTable, width: u16, height: u16) -> String {
    screen(width, height, |buffer, area| {
        table.draw(buffer, area, THEME, true, &row_keys());
    })
}

#[test]
fn rows_are_changed_added_and_removed_in_sight() {
    let mut table = table();
    keys(&mut table, "l\n⌫⌫213\njDa8\n99\nk");
    insta::assert_snapshot!(drawn(&table, 60, 6), @r"
       SCHEMA ID     DATA SOURCE ID
     ~ 7             213             was 40
     - 9             134             will be removed
    >  12            5
     + 8             99              new
    ");
    let wanted = mapping(&[("7", "213"), ("12", "5"), ("8", "99")]);
    assert_eq!(table.value(), Ok(wanted));
    assert!(table.is_changed());
    assert_eq!(table.count_changes(), 3);
}

#[test]
fn what_is_wrong_is_said_at_once_even_while_typing() {
    let mut table = table();
    keys(&mut table, "a7");
    insta::assert_snapshot!(drawn(&table, 60, 7), @r"
       SCHEMA ID     DATA SOURCE ID
       7             40
       9             134
       12            5
    >+ 7                             same schema ID as row 1

    ! row 4: same schema ID as row 1
    ");
    let problem = table.value().expect_err("twice the same");
    assert_eq!((problem.row, problem.column), (3, Column::Key));
    keys(&mut table, "0\n");
    let problem = table.value().expect_err("no value yet");
    assert_eq!((problem.row, problem.column), (3, Column::Value));
    keys(&mut table, "1");
    assert!(table.value().is_ok(), "what is being typed counts");
}

#[test]
fn an_empty_new_row_was_never_there() {
    let mut table = table();
    let before = table.rows();
    for end in ["⎋", "\n", "↑"] {
        keys(&mut table, "a");
        keys(&mut table, end);
        assert_eq!(table.rows(), before, "{end}");
        assert!(!table.is_editing() && !table.undo());
    }
}

#[test]
fn esc_leaves_the_cell_as_it_was_and_what_is_brought_back_is_no_change() {
    let mut table = table();
    assert!(!table.is_changed() && !MappingTable::new(None).is_changed());
    keys(&mut table, "\nabc");
    assert!(table.is_changed());
    keys(&mut table, "⎋");
    assert!(!table.is_changed());
    assert_eq!(table.key(key(KeyCode::Esc)), Reaction::Ignored);
    keys(&mut table, "DD");
    assert!(!table.is_changed(), "dropped and brought back");
}

#[test]
fn steps_are_undone_and_redone() {
    let mut table = table();
    let start = table.rows();
    keys(&mut table, "Da8\n1\n");
    let end = table.rows();
    keys(&mut table, "zzz");
    assert_eq!(table.rows(), start);
    assert_eq!(table.key(key(KeyCode::Char('z'))), Reaction::Refused);
    keys(&mut table, "ZZZ");
    assert_eq!(table.rows(), end);
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
fn pairs_are_pasted_in_many_spellings() {
    for text in [
        "40 213\n41 214\n",
        "40=213\r\n41 = 214",
        "40,213\n\n41, 214",
        "40\t213\n41\t214",
        "\u{feff}40,213\n41,214",
        "40 -> 213\n41 -> 214",
        "\"40\",\"213\"\n\"41\",\"214\"",
        "schema_id,data_source_id\n40,213\n41,214\n",
        "\u{feff}Schema ID;Data source ID;\n40;213;\n41;214;\n",
        "sep=;\r# of the wiki\rschema_id;data_source_id\r40;213\r41;214\r",
        "\"40\" ; \"213\"\n41 ; 214",
        "SCHEMA ID\tDATA SOURCE ID\n40\t213\t\t\n41\t214",
        "\"schema\",\"source\"\n\"40\",\"213\"\n\"41\",\"214\",",
        r#"{"40": "213", "41": 214}"#,
        "\"40\": \"213\",\n\"41\": \"214\",",
    ] {
        let mut table = MappingTable::new(None);
        assert_eq!(table.paste(text), pasted(2, 0), "{text}");
        let wanted = mapping(&[("40", "213"), ("41", "214")]);
        assert_eq!(table.value(), Ok(wanted), "{text}");
        table.undo();
        assert!(table.rows().is_empty());
    }
}

/// A header is one only in the first line.
#[test]
fn cells_in_quotes_keep_what_is_in_them() {
    let mut table = MappingTable::new(None);
    table.paste("\"a,b\",\"say \"\"x\"\"\"\n\"c=d\" = e,f\nkey\tvalue\n");
    let wanted = mapping(&[("a,b", "say \"x\""), ("c=d", "e,f"), ("key", "value")]);
    assert_eq!(table.value(), Ok(wanted));
}

fn pasted(added: usize, changed: usize) -> PastedRows {
    PastedRows::Rows { added, changed }
}

#[test]
fn changing_begins_at_the_data_source() {
    let mut table = table();
    keys(&mut table, "\n9\n");
    assert_eq!(table.rows()[0].value, "409");
    keys(&mut table, "←j\n9\n");
    assert_eq!(
        table.rows()[1].key,
        "99",
        "the column that was chosen stays"
    );
    assert_eq!(table.source_here(), Some("134"));
    assert_eq!(table.sources().collect::<Vec<_>>(), ["409", "134", "5"]);
}

#[test]
fn arrows_and_colons_part_two_ids_and_are_part_of_none() {
    let pair = vec![("52".into(), "502".into())];
    for text in "52 => 502|52=>502|52: 502|52 : 502|52 -> 502|52 → 502".split('|') {
        assert_eq!(replace::read(text), Ok(pair.clone()), "{text}");
    }
    for text in ["==", "-->", ":=", "<=", "|", ">>"] {
        let text = format!("40 = 213\n52 {text} 502");
        assert_eq!(replace::read(&text), Err(PasteError::Line(2)), "{text}");
    }
}

#[test]
fn titles_of_columns_that_nobody_knows_are_no_row() {
    for titles in ["Schema,Target", "from\tto", "id;source"] {
        let text = format!("{titles}\n40,213\n134,386");
        assert_eq!(replace::read(&text), Err(PasteError::Titles(1)), "{text}");
    }
    for rows in [
        "main,acme_core\nother,213",
        "main,acme_core",
        "40,213\nmain,acme",
    ] {
        assert!(replace::read(rows).is_ok(), "{rows}");
    }
}

#[test]
fn a_pasted_pair_changes_the_row_that_is_there() {
    let mut table = table();
    keys(&mut table, "jD");
    let done = table.paste("7=213\n9=134\n12=5");
    assert_eq!(done, pasted(0, 2));
    assert_eq!(done.to_string(), "pasted: 0 added, 2 changed");
    assert_eq!(table.rows()[0].remark().as_deref(), Some("was 40"));
    assert!(!table.rows()[1].is_dropped);
}

#[test]
fn a_paste_that_is_no_pairs_changes_nothing_and_says_why() {
    for (text, why) in [
        ("40 213\nhello\n", PasteError::Line(2)),
        ("Acme Europe GmbH", PasteError::Line(1)),
        ("=213", PasteError::Line(1)),
        ("$serde_json::private::Number = 5", PasteError::Line(1)),
        ("40,213,Orders", PasteError::Line(1)),
        ("schema_id,data_source_id\n40,\n", PasteError::Line(2)),
        ("schema_id,data_source_id\n", PasteError::Nothing),
        ("  \n", PasteError::Nothing),
        (r#"{"a": [1]}"#, PasteError::Entry(1)),
        (r#"{"a": "1", "b": 2"#, PasteError::Object),
        (r#"{"a": "1", "a": "2"}"#, PasteError::Duplicate(1, 2)),
        ("a=1\nb=2\na=3", PasteError::Duplicate(1, 3)),
    ] {
        let mut table = table();
        assert_eq!(table.paste(text), PastedRows::Refused(why), "{text}");
        assert!(!table.is_changed());
        assert!(drawn(&table, 90, 8).contains("! "));
    }
}

#[test]
fn a_paste_into_a_cell_is_its_text_unless_it_can_only_be_rows() {
    let mut table = table();
    keys(&mut table, "l\n");
    assert!(matches!(table.paste("Acme Europe\n"), PastedRows::Cell(_)));
    assert_eq!(table.rows()[0].value, "40Acme Europe");
    keys(&mut table, "⎋\n");
    assert_eq!(table.paste("20 1\n21 2\n"), pasted(2, 0));
    assert!(!table.is_editing());
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
}

#[test]
fn long_tables_scroll_and_narrow_ones_keep_both_ids() {
    let many: Mapping = (0..40)
        .map(|n| (format!("schema-{n}"), format!("source-{n}\u{202e}")))
        .collect();
    let mut table = MappingTable::new(Some(&many));
    keys(&mut table, &"↓".repeat(20));
    insta::assert_snapshot!(drawn(&table, 34, 4), @r"
       SCHEMA ID  DATA SOURCE ID 21/40
       schema-19  source-19\u{202e}
    >  schema-20  source-20\u{202e}
       schema-21  source-21\u{202e}
    ");
    keys(&mut table, "D");
    insta::assert_snapshot!(drawn(&table, 22, 2), @r"
       SCHEMA ID  DA 21/40
    >- schema-20  source-…
    ");
}

#[test]
fn empty_tables_say_what_to_do_and_an_id_that_json_cannot_carry_is_a_problem() {
    let known = MappingTable::new(Some(&Mapping::new()));
    assert!(drawn(&known, 40, 4).ends_with("no rows; + adds one"));
    let mut table = MappingTable::new(None);
    assert!(drawn(&table, 100, 4).contains("unknown; stays unchanged"));
    let text = r#"{"$serde_json::private::Number": "5"}"#;
    assert_eq!(table.paste(text), pasted(1, 0));
    let problem = table.value().expect_err("it cannot be sent");
    assert_eq!((problem.row, problem.column), (0, Column::Key));
}

proptest! {
    #[test]
    fn no_keys_break_it(
        presses in prop::collection::vec(
            prop::sample::select(vec![
                KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right, KeyCode::Tab, KeyCode::BackTab,
                KeyCode::Enter, KeyCode::Esc, KeyCode::Backspace, KeyCode::Home, KeyCode::End, KeyCode::PageDown,
                KeyCode::Char('a'), KeyCode::Char('D'), KeyCode::Char('z'), KeyCode::Char('Z'), KeyCode::Char('7'),
                KeyCode::Char('\u{301}'), KeyCode::F(8),
            ]),
            0..60,
        ),
        pasted in ".{0,20}",
        width in 0_u16..50,
        height in 0_u16..8,
    ) {
        let mut table = table();
        for code in presses {
            if code == KeyCode::F(8) {
                table.go_to_next_problem();
                table.paste(&pasted);
            } else {
                table.key(KeyEvent::new(code, KeyModifiers::NONE));
            }
            drawn(&table, width, height);
            prop_assert!(table.cursor <= table.rows.len());
            prop_assert_eq!(table.value().is_ok(), table.problems().is_empty());
        }
        // Everything can be undone.
        table.cancel();
        while table.undo() {}
        let presses_kept_the_start = table.value().is_ok() && !table.is_changed();
        prop_assert!(presses_kept_the_start || table.undo.len() == UNDO_STEPS);
    }
}
