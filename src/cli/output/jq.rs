//! `--jq`: passes a result through a jq expression, inside this process. An expression sees the result and nothing
//! else: no environment, no files, no input, and it cannot end the program.

use std::{
    io,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use jaq_core::{
    Compiler, Ctx, Native, Vars,
    compile::Undefined,
    data::JustLut,
    load::{self, Arena, File, Loader},
    unwrap_valr,
};
use jaq_json::{Val, read};

use super::alarm;
use crate::{
    api::inspect::escape_hidden,
    cli::{
        error::CliError,
        process::{exit::Exit, signals},
    },
    domain::text::visible,
};

type Filter = jaq_core::Filter<JustLut<Val>>;

static RUNNER: OnceLock<Mutex<Runner>> = OnceLock::new();
static FAILED: AtomicBool = AtomicBool::new(false);

/// Functions that reach outside of the result.
const OUTSIDE: [&str; 8] = [
    "env",
    "halt",
    "halt_error",
    "debug",
    "debug_empty",
    "stderr",
    "stderr_empty",
    "input_filename",
];

/// Maximum output of an expression, in bytes; an endless one would fill the memory.
const MOST: usize = 256 << 20;

/// How long an expression may go on after this process was asked to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Stack size in bytes, for recursive expressions.
const STACK: usize = 64 << 20;

/// jq definitions that the library does not include.
const MORE: &str = r#"
def @csv: [.[] | if . == null then "" elif type == "string" then "\"" + (split("\"") | join("\"\"")) + "\""
  elif type == "array" or type == "object" then error("it is no value of a table") else tojson end] | join(",");
def @tsv: [.[] | if . == null then "" elif type == "string" then split("\\") | join("\\\\")
  | split("\t") | join("\\t") | split("\n") | join("\\n") | split("\r") | join("\\r")
  elif type == "array" or type == "object" then error("it is no value of a table") else tojson end] | join("\t");
"#;

/// Sets the expression that every result goes through from now on.
pub(crate) fn choose(expression: &str) -> Result<(), CliError> {
    let filter = compiled(expression)
        .map_err(|why| CliError::Usage(format!("--jq: {}; nothing was done", visible(&why))))?;
    let runner = Runner::new(filter).map_err(CliError::unexpected("cannot start a thread"))?;
    RUNNER.get_or_init(|| Mutex::new(runner));
    Ok(())
}

/// Whether an expression was given.
pub(super) fn is_chosen() -> bool {
    RUNNER.get().is_some()
}

/// The exit code of a command that otherwise succeeded: it is an error if the expression failed or a person stopped it.
pub(crate) fn exit() -> Exit {
    let failed = FAILED.load(Ordering::Relaxed);
    match failed {
        false => Exit::Done,
        true if signals::signalled_at().is_some() => Exit::Interrupted,
        true => Exit::Usage,
    }
}

/// The output of the expression for a JSON text: one value per line, strings unquoted and everything else as JSON. If
/// the expression fails, the text is returned as it is, because it could contain a token that exists nowhere else.
/// Without an expression, returns the text as it is.
pub(super) fn applied(json: String) -> String {
    let Some(runner) = RUNNER.get() else {
        return json;
    };
    let mut runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
    let json = Arc::new(json);
    let made = runner.run(&json);
    let json = Arc::unwrap_or_clone(json);
    match made {
        Ok(text) => text,
        Err(why) => {
            FAILED.store(true, Ordering::Relaxed);
            // The error message quotes values.
            let why = if json.contains("\"token\"") {
                "it does not fit what it was given".into()
            } else {
                why
            };
            alarm(&format!(
                "x --jq failed; printing the result unchanged: {why}"
            ));
            json
        }
    }
}

/// Runs the expression on its own thread, so that an endless one does not keep the process alive.
struct Runner {
    results: Sender<Arc<String>>,
    made: Receiver<Result<String, String>>,
    /// The thread is busy with a result that nobody waits for any more.
    is_stuck: bool,
}

impl Runner {
    fn new(filter: Filter) -> io::Result<Self> {
        let (results, given) = mpsc::channel::<Arc<String>>();
        let (making, made) = mpsc::channel();
        let thread = thread::Builder::new().name("jq".into()).stack_size(STACK);
        thread.spawn(move || {
            for json in given {
                let text = run(&filter, &json);
                drop(json);
                if making.send(text).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self {
            results,
            made,
            is_stuck: false,
        })
    }

    fn run(&mut self, json: &Arc<String>) -> Result<String, String> {
        const ENDED: &str = "it ended on an earlier result";
        let given = Instant::now();
        if self.is_stuck || self.results.send(Arc::clone(json)).is_err() {
            return Err(ENDED.into());
        }
        loop {
            match self.made.recv_timeout(PATIENCE / 10) {
                Ok(made) => return made,
                Err(RecvTimeoutError::Disconnected) => return Err(ENDED.into()),
                Err(RecvTimeoutError::Timeout) => {
                    let is_over = |at: Instant| at.max(given).elapsed() > PATIENCE;
                    if signals::signalled_at().is_some_and(is_over) {
                        self.is_stuck = true;
                        return Err("it was stopped".into());
                    }
                }
            }
        }
    }
}

fn run(filter: &Filter, json: &str) -> Result<String, String> {
    let input = read::parse_single(json.as_bytes()).map_err(|error| error.to_string())?;
    let context = Ctx::<JustLut<Val>>::new(&filter.lut, Vars::new([]));
    let mut text = String::new();
    for value in filter.id.run((context, input)).map(unwrap_valr) {
        match value.map_err(|error| error.to_string())? {
            Val::TStr(bytes) | Val::BStr(bytes) => text.push_str(&shown(&bytes)),
            value => text.push_str(&escape_hidden(&value.to_string())),
        }
        text.push('\n');
        if text.len() > MOST {
            return Err("it makes more than 256 MiB".into());
        }
    }
    Ok(text)
}

/// A text with its line breaks and tabs (as from `@tsv`); other hidden characters are made visible.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split('\n').map(|line| {
        let cells = line.split('\t').map(visible);
        cells.collect::<Vec<_>>().join("\t")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn compiled(expression: &str) -> Result<Filter, String> {
    let is_inside = |name: &str| !OUTSIDE.contains(&name);
    let definitions = jaq_core::defs()
        .chain(jaq_std::defs())
        .chain(jaq_json::defs())
        .chain(load::parse(MORE, |parser| parser.defs()).unwrap_or_default())
        .filter(|definition| is_inside(definition.name));
    let functions = jaq_core::funs()
        .chain(jaq_std::funs())
        .chain(jaq_json::funs())
        .filter(|function: &(&str, _, Native<JustLut<Val>>)| is_inside(function.0));
    let arena = Arena::default();
    let program = File {
        code: expression,
        path: (),
    };
    let modules = Loader::new(definitions)
        .load(&arena, program)
        .map_err(|errors| first(errors, |error| of_text(expression, error)))?;
    Compiler::default()
        .with_funs(functions)
        .compile(modules)
        .map_err(|errors| first(errors, |error| of_names(expression, error)))
}

fn first<E>(errors: load::Errors<&str, (), E>, told: impl Fn(E) -> Option<String>) -> String {
    let mut errors = errors.into_iter();
    let told = errors.find_map(|(_, error)| told(error));
    told.unwrap_or_else(|| "this is no expression of jq".into())
}

fn of_text(expression: &str, error: load::Error<&str>) -> Option<String> {
    let (wanted, found) = match error {
        load::Error::Lex(errors) => errors
            .first()
            .map(|(wanted, found)| (wanted.as_str(), *found))?,
        load::Error::Parse(errors) => errors
            .first()
            .map(|(wanted, found)| (wanted.as_str(), *found))?,
        load::Error::Io(_) => return Some("modules and files cannot be read here".into()),
    };
    Some(format!(
        "{wanted} expected at character {}",
        place(expression, found)
    ))
}

fn of_names(expression: &str, errors: Vec<(&str, Undefined)>) -> Option<String> {
    let (name, what) = errors.into_iter().next()?;
    let kind = match what {
        Undefined::Var => "variable",
        Undefined::Mod => "module",
        Undefined::Label => "label",
        _ => "function",
    };
    Some(format!(
        "there is no {kind} {name} here (character {})",
        place(expression, name)
    ))
}

/// The character position of `part` in `whole`, counted from 1.
fn place(whole: &str, part: &str) -> usize {
    let is_inside = whole.as_bytes().as_ptr_range().contains(&part.as_ptr());
    let before = if is_inside {
        &whole[..load::span(whole, part).start]
    } else {
        whole
    };
    before.chars().count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(expression: &str, json: &str) -> Result<String, String> {
        run(&compiled(expression)?, json)
    }

    #[test]
    fn texts_are_printed_as_they_are_and_all_else_as_json() {
        let json = r#"[{"id":"a","n":12345678901234567890,"t":["x\ty",null]},{"id":"b\u001b[1m"}]"#;
        assert_eq!(printed(".[].id", json), Ok("a\nb\\u{1b}[1m\n".to_owned()));
        assert_eq!(
            printed(".[0] | .n, .t", json),
            Ok("12345678901234567890\n[\"x\\ty\",null]\n".to_owned())
        );
        assert_eq!(
            printed(".[0] | [.id, .n, null] + .t | @tsv, @csv", json),
            Ok(
                "a\t12345678901234567890\t\tx\\ty\t\n\"a\",12345678901234567890,,\"x\ty\",\n"
                    .to_owned()
            )
        );
        assert_eq!(printed("empty", json), Ok(String::new()));
        assert_eq!(
            printed("map(select(.id | test(\"^A\"; \"i\"))) | length", json),
            Ok("1\n".to_owned())
        );
        assert!(printed(".[0].id | tonumber", json).is_err());
        assert!(printed("@csv", json).is_err());
    }

    #[test]
    fn nothing_outside_of_the_result_is_there() {
        for outside in OUTSIDE {
            let told = compiled(outside).err().expect("refused");
            assert!(told.contains("there is no function"), "{outside}: {told}");
        }
        for wrong in [
            "$ENV",
            "$__prog_args",
            "input",
            "inputs",
            "include \"a\"; .",
            "halt(1)",
        ] {
            assert!(compiled(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let told = |expression: &str| compiled(expression).err().expect("refused");
        assert_eq!(
            told("\"ä\" | foo"),
            "there is no function foo here (character 7)"
        );
        assert!(told(".[").contains("character"), "{}", told(".["));
        assert!(told("'").ends_with("character 1"), "{}", told("'"));
    }
}
