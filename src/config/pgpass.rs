//! The password file of PostgreSQL's own programs, used if no other password source is configured: `PGPASSFILE`, or
//! `~/.pgpass`.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use super::{Environment, paths};
use crate::intake::{secret, text};

/// A server, a database and a user to log in with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub host: String,
    pub port: u16,
    pub database: String,
    pub user: String,
}

/// The path of the file, if there is one.
pub fn file(env: &Environment) -> Option<PathBuf> {
    let named = paths::of_variable(env, "PGPASSFILE").ok().flatten();
    let usual = || paths::from_home(Path::new("~/.pgpass"), paths::home(env)).ok();
    named.or_else(usual).filter(|file| file.is_file())
}

/// The password of the first line that matches one of the endpoints, or `None`. The error contains nothing of the
/// file's content.
pub fn password(file: &PathBuf, at: &[Endpoint]) -> Result<Option<Zeroizing<Vec<u8>>>, String> {
    let why = |why: String| format!("{}: {why}", file.display());
    let metadata = fs::metadata(file).map_err(|error| why(error.to_string()))?;
    if metadata.mode() & 0o077 != 0 {
        return Err(why(
            "others can read it; remove that permission with chmod 600".into(),
        ));
    }
    let bytes = Zeroizing::new(fs::read(file).map_err(|error| why(error.to_string()))?);
    let plain = secret::plain(&bytes);
    let text =
        std::str::from_utf8(&plain).map_err(|_| why("it is not UTF-8: save it as UTF-8".into()))?;
    let mut found = at.iter().filter_map(|at| of_lines(text, at));
    Ok(found.next())
}

fn of_lines(text: &str, at: &Endpoint) -> Option<Zeroizing<Vec<u8>>> {
    let lines = text::lines(text).filter(|line| !line.starts_with('#'));
    let mut fitting = lines.filter_map(|line| {
        let fields = fields(line);
        let [host, port, database, user, password] = fields.as_slice() else {
            return None;
        };
        let fits = |said: &str, is: &str| said == "*" || said == is;
        // In this file, a Unix socket is called `localhost`.
        let is_host =
            fits(host, &at.host) || at.host.starts_with('/') && host.as_str() == "localhost";
        (is_host
            && fits(port, &at.port.to_string())
            && fits(database, &at.database)
            && fits(user, &at.user))
        .then(|| Zeroizing::new(password.as_bytes().to_vec()))
    });
    fitting.next()
}

/// Splits a line at colons. A backslash escapes a colon or a backslash.
fn fields(line: &str) -> Vec<Zeroizing<String>> {
    let mut fields = vec![Zeroizing::new(String::with_capacity(line.len()))];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' if last < 4 => fields.push(Zeroizing::new(String::with_capacity(line.len()))),
            '\\' => fields[last].extend(letters.next()),
            letter => fields[last].push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &str, host: &str) -> Option<String> {
        let at = Endpoint {
            host: host.into(),
            port: 5432,
            database: "desk".into(),
            user: "ana".into(),
        };
        of_lines(lines, &at).map(|found| String::from_utf8(found.to_vec()).expect("UTF-8"))
    }

    #[test]
    fn the_first_line_that_fits_tells_the_password() {
        #[rustfmt::skip] // A table: one case per line.
        let table = [
            ("db1:5432:desk:ana:one\ndb1:*:*:*:two", "db1", Some("one")),
            ("#db1:5432:desk:ana:one\n*:*:*:ana:two", "db1", Some("two")),
            ("db1:5433:desk:ana:one\ndb2:*:*:*:two\nnonsense", "db1", None),
            (r"localhost:*:*:*:a\:b\\c:d", "/run/postgresql", Some(r"a:b\c:d")),
            ("localhost:*:*:*:one", "db1", None),
        ];
        for (lines, host, password) in table {
            assert_eq!(of(lines, host).as_deref(), password, "{lines}");
        }
    }
}
