//! Tells how a run goes: lines on standard output, lines or a bar on standard error, each from a thread of its own. A
//! terminal that does not read stops neither the run nor its recording.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Write},
    sync::mpsc,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::sync::oneshot;

use crate::{cli::print, domain::text::visible};

/// How long a reader is waited for at the end, after a signal or on standard error.
const PATIENCE: Duration = Duration::from_secs(1);

enum News {
    Line(String),
    Alarm(String),
    /// How many have ended, and how.
    Counts(usize, String),
}

/// A thread that writes, and the word that it has ended.
struct Writer {
    news: mpsc::Sender<News>,
    ended: oneshot::Receiver<()>,
}

impl Writer {
    fn start(write: impl FnOnce(&mpsc::Receiver<News>) + Send + 'static) -> Self {
        let (news, received) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            write(&received);
            // Nobody may be waiting any more.
            let _ = end.send(());
        });
        Self { news, ended }
    }

    fn tell(&self, news: News) {
        // A reader that has gone needs no news.
        drop(self.news.send(news));
    }

    async fn end(self, patience: Option<Duration>) {
        drop(self.news);
        match patience {
            Some(patience) => drop(tokio::time::timeout(patience, self.ended).await),
            None => drop(self.ended.await),
        }
    }
}

pub(in crate::cli) struct Teller {
    out: Writer,
    err: Writer,
    /// Standard error is a terminal, and shows a bar.
    pub(in crate::cli) has_bar: bool,
    /// Results appear on the terminal that shows the bar.
    beside_bar: bool,
}

impl Teller {
    pub(in crate::cli) fn start(planned: usize) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(5);
        let bar = ProgressBar::with_draw_target(Some(planned as u64), target);
        // Where it cannot be drawn, as with TERM=dumb, it would swallow the lines, too.
        let has_bar = !bar.is_hidden() && !print::is_quiet();
        let out = Writer::start(|news| {
            for news in news {
                if let News::Line(line) = news {
                    let mut out = io::stdout().lock();
                    let written = writeln!(out, "{line}").and_then(|()| out.flush());
                    if written.is_err() {
                        return;
                    }
                }
            }
        });
        let err = if has_bar {
            Writer::start(move |news| draw(news, &bar))
        } else {
            Writer::start(|news| {
                for news in news {
                    match news {
                        News::Line(line) => print::say(&line),
                        News::Alarm(line) => print::alarm(&line),
                        News::Counts(..) => {}
                    }
                }
            })
        };
        Self {
            out,
            err,
            has_bar,
            beside_bar: has_bar && io::stdout().is_terminal(),
        }
    }

    /// A line of the result; already escaped.
    pub(in crate::cli) fn result(&self, line: String) {
        let writer = if self.beside_bar {
            &self.err
        } else {
            &self.out
        };
        writer.tell(News::Line(line));
    }

    pub(in crate::cli) fn say(&self, line: String) {
        self.err.tell(News::Line(line));
    }

    /// What is said with `--quiet` too.
    pub(in crate::cli) fn alarm(&self, line: String) {
        self.err.tell(News::Alarm(line));
    }

    pub(in crate::cli) fn held(&self, wait: Duration) {
        self.say(format!(
            "the service asks to wait {} s; nothing is sent meanwhile",
            wait.as_secs()
        ));
    }

    pub(in crate::cli) fn counts(&self, done: usize, counts: &impl Display) {
        if self.has_bar {
            self.err.tell(News::Counts(done, counts.to_string()));
        }
    }

    /// Waits until all is written. Nobody who was interrupted waits for a reader.
    pub(in crate::cli) async fn end(self, interrupted: bool) {
        self.err.end(Some(PATIENCE)).await;
        self.out.end(interrupted.then_some(PATIENCE)).await;
    }
}

fn draw(news: &mpsc::Receiver<News>, bar: &ProgressBar) {
    if let Ok(style) = ProgressStyle::with_template("[{bar:20}] {pos}/{len} {eta} {msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    for news in news {
        match news {
            News::Line(text) | News::Alarm(text) => {
                for line in text.lines() {
                    bar.println(visible(line));
                }
            }
            News::Counts(done, words) => {
                bar.set_position(done as u64);
                bar.set_message(words);
            }
        }
    }
    bar.finish_and_clear();
}
