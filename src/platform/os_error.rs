//! Errors of the operating system in plain words. What the system says ("No such file or directory (os error 2)") names
//! no remedy; each front end replaces it in what it prints, whatever part of the program wrote the message.

use std::{borrow::Cow, io};

use rustix::io::Errno;

/// The end of each of these errors: the number, and a closing bracket.
const NUMBER: &str = " (os error ";

/// What each of them means, with what to do in brackets, so that a sentence may continue after it.
#[rustfmt::skip] // A table: one error per line.
const WORDS: [(Errno, &str); 20] = [
    (Errno::NOENT, "there is no such file or folder (check the path)"),
    (Errno::ACCESS, "permission denied (check who may use it)"),
    (Errno::PERM, "permission denied (check who may use it)"),
    (Errno::NOSPC, "the disk is full (free some space)"),
    (Errno::DQUOT, "your disk quota is used up (free some space)"),
    (Errno::FBIG, "the file would be larger than the system allows (free some space, or raise ulimit -f)"),
    (Errno::ROFS, "the file system is read-only (use another folder)"),
    (Errno::ISDIR, "it is a folder (use a file)"),
    (Errno::NOTDIR, "a part of the path is a file, not a folder (check the path)"),
    (Errno::EXIST, "it already exists (use another name)"),
    (Errno::NOTEMPTY, "the folder is not empty (use another)"),
    (Errno::LOOP, "it is a link that leads to no file (use the file itself)"),
    (Errno::NAMETOOLONG, "the name is too long (use a shorter one)"),
    (Errno::MFILE, "too many files are open (raise ulimit -n)"),
    (Errno::NFILE, "too many files are open on this machine (close some programs)"),
    (Errno::IO, "the disk failed to read or write (check the disk)"),
    (Errno::NXIO, "it is a device or socket that cannot be opened (use a file)"),
    (Errno::NOEXEC, "it is not a program (check the file)"),
    (Errno::ADDRINUSE, "another program uses that port"),
    (Errno::ADDRNOTAVAIL, "this machine does not have that address"),
];

/// The text with each error of the operating system in plain words.
pub(crate) fn in_plain_words(text: &str) -> Cow<'_, str> {
    let mut plain = Cow::Borrowed(text);
    let mut from = 0;
    while let Some(at) = plain[from..].find(NUMBER).map(|at| from + at) {
        from = at + NUMBER.len();
        let number = plain[from..].split_once(')').map(|(number, _)| number);
        let Some(number) = number.and_then(|number| number.parse().ok()) else {
            continue;
        };
        let said = io::Error::from_raw_os_error(number).to_string();
        let end = from + number.to_string().len() + 1;
        if plain[..end].ends_with(&said) {
            let start = end - said.len();
            let words = words(number, &said);
            let (words, rest) = with_state(&words, &plain[end..]);
            from = start + words.len();
            plain = format!("{}{words}{rest}", &plain[..start]).into();
        }
    }
    plain
}

/// A state that follows an error stands before its advice, as in other messages: `cause; nothing was saved. Advice`.
fn with_state<'a>(words: &str, rest: &'a str) -> (String, &'a str) {
    const STATE: &str = "; nothing ";
    let advised = words
        .strip_suffix(')')
        .and_then(|words| words.split_once(" ("));
    let Some((cause, advice)) = advised.filter(|_| rest.starts_with(STATE)) else {
        return (words.to_owned(), rest);
    };
    let end = rest[STATE.len()..].find(['.', ';', ',', ':', '\n']);
    let (state, rest) = rest.split_at(end.map_or(rest.len(), |end| STATE.len() + end));
    let mut advice = advice.to_owned();
    advice[..1].make_ascii_uppercase();
    (format!("{cause}{state}. {advice}"), rest)
}

/// What an error means; one that is not in the table keeps the words of the system without the number.
fn words(number: i32, said: &str) -> String {
    let known = WORDS
        .iter()
        .find(|(error, _)| error.raw_os_error() == number);
    known.map_or_else(
        || said.split(NUMBER).next().unwrap_or(said).to_lowercase(),
        |(_, words)| (*words).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_of_the_system_is_said_in_plain_words_and_other_text_stays() {
        for number in 1..=133 {
            let error = io::Error::from_raw_os_error(number);
            let text = format!("a.csv: {error}; and {error}");
            let plain = in_plain_words(&text);
            assert!(!plain.contains("os error"), "{plain}");
            assert!(
                plain.starts_with("a.csv: ") && plain.contains("; and "),
                "{plain}"
            );
        }
        let missing = std::fs::read("/no/such/file").expect_err("there is none");
        assert_eq!(
            in_plain_words(&format!("/no/such/file: {missing}; nothing was sent")),
            "/no/such/file: there is no such file or folder; nothing was sent. Check the path"
        );
        assert_eq!(
            in_plain_words(&format!("/f: {missing}; nothing was saved. To see: x")),
            "/f: there is no such file or folder; nothing was saved. Check the path. To see: x"
        );
        for text in ["", "a (os error 2)", "x (os error two)", "y (os error 9"] {
            assert_eq!(in_plain_words(text), text);
        }
    }
}
