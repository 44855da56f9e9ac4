//! Parses just enough of Rust to find the paths in a file: it removes comments and literals, and expands `use` trees.

/// One path, for example `crate::api::wire`, with its surroundings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    pub(super) line: usize,
    pub(super) segments: Vec<String>,
    /// Names of the enclosing inline modules, outermost first.
    pub(super) inside: Vec<String>,
    /// A single name that is not imported by `use` or `extern crate`: a variable, a function, a keyword.
    pub(super) is_word: bool,
    /// The path is part of a `use`.
    pub(super) is_import: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) line: usize,
    pub(super) text: String,
}

impl Token {
    fn is_name(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Names, `::`, and single characters.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (index, line) in code_of(source).lines().enumerate() {
        let line_number = index + 1;
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let length = match first {
                ':' if rest.starts_with("::") => 2,
                c if is_part(c) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (text, after) = rest.split_at(length);
            tokens.push(Token {
                line: line_number,
                text: text.to_owned(),
            });
            rest = after.trim_start();
        }
    }
    tokens
}

/// Every path of the file, with `use` trees expanded.
pub(super) fn paths(tokens: &[Token]) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut modules: Vec<(String, usize)> = Vec::new();
    let (mut at, mut depth) = (0, 0);
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut is_import = false;
    while at < tokens.len() {
        match text(at) {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                modules.retain(|(_, opened)| *opened < depth + 1);
            }
            "use" => is_import = true,
            ";" => is_import = false,
            "mod" if text(at + 2) == "{" => modules.push((text(at + 1).to_owned(), depth + 1)),
            _ => {}
        }
        let is_method = at > 0 && text(at - 1) == ".";
        if !tokens[at].is_name() || is_method {
            at += 1;
            continue;
        }
        let mut tree = Tree {
            tokens,
            found: Vec::new(),
        };
        let next = tree.path(at, &[]);
        let is_imported = is_import || at > 0 && text(at - 1) == "crate";
        paths.extend(tree.found.into_iter().map(|(line, segments)| Path {
            line,
            is_word: segments.len() == 1 && !is_imported,
            is_import,
            segments,
            inside: modules.iter().map(|(name, _)| name.clone()).collect(),
        }));
        at = next;
    }
    paths
}

struct Tree<'t> {
    tokens: &'t [Token],
    found: Vec<(usize, Vec<String>)>,
}

impl Tree<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    /// Expands the path that begins at `at`; returns where it ends.
    fn path(&mut self, mut at: usize, before: &[String]) -> usize {
        let line = self.tokens[at].line;
        let mut segments = before.to_vec();
        loop {
            segments.push(self.text(at).to_owned());
            at += 1;
            if self.text(at) != "::" {
                break;
            }
            at += 1;
            if self.text(at) == "{" {
                return self.branches(at + 1, &segments);
            }
            let goes_on = self.text(at) == "*" || self.tokens.get(at).is_some_and(Token::is_name);
            if !goes_on {
                break;
            }
        }
        self.found.push((line, segments));
        at
    }

    fn branches(&mut self, mut at: usize, before: &[String]) -> usize {
        while at < self.tokens.len() && self.text(at) != "}" {
            at = match self.text(at) {
                "," => at + 1,
                // The new name in `x as y` is not part of the path.
                "as" => at + 2,
                _ if self.text(at) == "*" || self.tokens[at].is_name() => self.path(at, before),
                _ => at + 1,
            };
        }
        at + 1
    }
}

/// The source with comments and literals blanked out. Line numbers stay the same.
fn code_of(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < characters.len() {
        let end = match &characters[at..] {
            ['/', '/', ..] => at + until(&characters[at..], |rest| rest[0] == '\n'),
            ['/', '*', ..] => block_comment(&characters, at),
            ['"', ..] => quoted(&characters, at, '"'),
            ['\'', '\\', ..] | ['\'', _, '\'', ..] => quoted(&characters, at, '\''),
            ['r', rest @ ..] if !follows_a_name(&code) => {
                let hashes = rest.iter().take_while(|c| **c == '#').count();
                if rest.get(hashes) == Some(&'"') {
                    raw(&characters, at + 1 + hashes, hashes)
                } else {
                    at
                }
            }
            _ => at,
        };
        if end == at {
            code.push(characters[at]);
            at += 1;
        } else {
            code.extend(
                characters[at..end]
                    .iter()
                    .map(|c| if *c == '\n' { '\n' } else { ' ' }),
            );
            at = end;
        }
    }
    code
}

/// Whether the text ends in the middle of a name. The prefixes `b` and `c` of byte and C strings do not count.
fn follows_a_name(code: &str) -> bool {
    let name: String = code
        .chars()
        .rev()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    !matches!(name.as_str(), "" | "b" | "c")
}

fn until(characters: &[char], ends: impl Fn(&[char]) -> bool) -> usize {
    (0..characters.len())
        .find(|at| ends(&characters[*at..]))
        .unwrap_or(characters.len())
}

fn quoted(characters: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while at < characters.len() && characters[at] != quote {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(characters.len())
}

fn raw(characters: &[char], quote: usize, hashes: usize) -> usize {
    let inner = quote + 1;
    let closes = |rest: &[char]| {
        rest[0] == '"' && rest.len() > hashes && rest[1..=hashes].iter().all(|c| *c == '#')
    };
    (inner + until(&characters[inner..], closes) + 1 + hashes).min(characters.len())
}

fn block_comment(characters: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < characters.len() {
        match &characters[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    break;
                }
            }
            _ => at += 1,
        }
    }
    at
}
