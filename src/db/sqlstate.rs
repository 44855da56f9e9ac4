//! What a SQLSTATE means to the person who meets it, with what to do: one table for the directory and the service. The
//! server's own messages are not shown, because they can quote values.

/// Sentences by code, or by the class that a code begins with; the first that fits counts. They continue "The database at …".
#[rustfmt::skip] // A table: one code per line.
const SENTENCES: [(&str, &str); 39] = [
    ("28P01", "refuses the password of this user: check the user name and the password, and whether the password has expired or was changed"),
    ("28000", "does not let this user in: the role may not log in (NOLOGIN), or pg_hba.conf has no line for this user, database \
    and host, or demands a client certificate of this user; ask its administrator"),
    ("28", "does not let this user in: ask its administrator"),
    ("42501", "does not allow this: the role lacks a privilege; ask its administrator for it"),
    ("3D000", "does not exist on that server: check the name of the database in the URL, or have it created"),
    ("3F000", "has no such schema: check the name of the schema, or have it set up"),
    ("42P01", "lacks a table: it was not set up for this version, or not for this role"),
    ("42703", "lacks a column: it was set up by another version of groupdesk. Copy it to a new schema with that version"),
    ("42883", "lacks a function: it was set up by another version of groupdesk. Copy it to a new schema with that version"),
    ("42704", "lacks a role, type or setting that is needed; ask its administrator to check its log"),
    ("42P07", "already has a table of that name: choose another schema"),
    ("42601", "does not understand a statement: its version of PostgreSQL is too old; groupdesk needs 14 or later"),
    ("42", "does not accept a statement: it was set up by another version of groupdesk, or its version of PostgreSQL is not supported"),
    ("53100", "has no space left on its disk: ask its administrator to free some"),
    ("53200", "has no memory left: ask its administrator to check it"),
    ("53300", "does not accept more connections: close a groupdesk that is not used, or ask its administrator to raise \
    max_connections"),
    ("53", "is out of resources (disk, memory or connections): ask its administrator to check it"),
    ("57P03", "is starting up or shutting down: try again in a minute"),
    ("57P01", "was shut down: try again when it is back"),
    ("57P02", "was restarted after a crash: try again, and ask its administrator to check its log"),
    ("57014", "stopped a statement that took too long (statement_timeout) or was cancelled: try again"),
    ("57", "is under maintenance: try again in a minute"),
    ("25006", "is read only, or a standby: use the address of the primary"),
    ("25P03", "closed a transaction that waited too long (idle_in_transaction_session_timeout): try again"),
    ("40", "was busy with the same rows: try again"),
    ("55P03", "was busy with the same rows: try again"),
    ("55", "is in a state that does not allow this: try again, and ask its administrator to check its log"),
    ("58030", "cannot read or write its files: ask its administrator to check its disk and log at once"),
    ("58", "has a system error of its machine: ask its administrator to check its disk and log"),
    ("XX001", "reports damaged data: ask its administrator to restore it from a backup"),
    ("XX002", "reports a damaged index: ask its administrator to rebuild the index"),
    ("XX", "has an internal error: ask its administrator to check its log"),
    ("22021", "cannot store a character of this text: its encoding must be UTF8 (CREATE DATABASE … ENCODING 'UTF8')"),
    ("22", "does not accept a value: ask its administrator to check its log"),
    ("23", "refuses a row that contradicts another one: it was changed outside groupdesk, or by another version"),
    ("0A", "cannot do this: is a connection pooler in between? Use the address of the server itself"),
    ("08", "lost the connection: check the network, then try again"),
    ("54", "has reached a limit of its settings: ask its administrator to check its log"),
    ("P0", "was stopped by one of its rules (a trigger or function): ask its administrator to check its log"),
];

/// The sentence about a code, as the rest of "The database at …", with the code itself.
pub(crate) fn sentence(code: &str) -> String {
    let known = SENTENCES.iter().find(|(start, _)| code.starts_with(start));
    let (_, sentence) = known.copied().unwrap_or((
        "",
        "has an error that is unknown to groupdesk: ask its administrator to check its log",
    ));
    match sentence.split_once(": ") {
        Some((what, todo)) => format!("{what} (SQLSTATE {code}): {todo}"),
        None => format!("{sentence} (SQLSTATE {code})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence_and_a_single_code_comes_before_its_class() {
        for (code, words) in [
            (
                "28P01",
                "refuses the password of this user (SQLSTATE 28P01): check",
            ),
            ("28000", "NOLOGIN"),
            ("3D000", "does not exist on that server (SQLSTATE 3D000)"),
            ("53400", "is out of resources"),
            ("99999", "is unknown to groupdesk (SQLSTATE 99999): ask"),
        ] {
            let sentence = sentence(code);
            assert!(sentence.contains(words), "{sentence}");
        }
        for (at, (code, _)) in SENTENCES.iter().enumerate() {
            let earlier = SENTENCES[..at]
                .iter()
                .find(|(start, _)| code.starts_with(start));
            assert_eq!(earlier, None, "{code} is never reached");
        }
    }
}
