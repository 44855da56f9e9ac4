//! Reports the progress of a run: lines on standard output, and lines or a bar on standard error. Each stream is
//! written by its own thread, so a terminal that does not read stops neither the run nor its recording.

use std::{
    fmt::{Display, Write},
    io::Write as _,
    sync::mpsc,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use tokio::sync::oneshot;

use crate::{
    cli::{
        output::{self, proposals},
        prelude::*,
        process::{
            exit::Exit,
            signals,
            stdio::{PATIENCE, Written},
        },
    },
    platform::os_error::in_plain_words,
};

enum Update {
    Line(String),
    Alarm(String),
    /// How many have ended, and a text with the counts.
    Counts(usize, String),
}

/// A writing thread, and the channel on which it reports its end.
struct Writer {
    news: mpsc::Sender<Update>,
    ended: oneshot::Receiver<io::Result<()>>,
}

impl Writer {
    fn start(
        write: impl FnOnce(&mpsc::Receiver<Update>) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let (news, received) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        std::thread::spawn(move || {
            let written = write(&received);
            // The receiver may be gone.
            let _ = end.send(written);
        });
        Self { news, ended }
    }

    fn tell(&self, news: Update) {
        // The thread ends when its reader is gone; nothing needs to be written then.
        drop(self.news.send(news));
    }

    /// Waits until everything is written, but only briefly if `is_news` is set or a signal has come.
    async fn end(self, is_news: bool) -> Written {
        drop(self.news);
        let late = async {
            if !is_news {
                signals::signalled().await;
            }
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            biased;
            written = self.ended => Written::Done(written.unwrap_or(Ok(()))),
            () = late => Written::GivenUp,
        }
    }
}

pub(crate) struct Progress {
    out: Writer,
    err: Writer,
    /// Standard error is a terminal and shows a progress bar.
    pub(crate) has_bar: bool,
    /// Results go to the same terminal as the progress bar.
    pub(crate) beside_bar: bool,
}

impl Progress {
    pub(crate) fn start(planned: usize) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(5);
        let bar = ProgressBar::with_draw_target(Some(planned as u64), target);
        // If the bar cannot be drawn, as with TERM=dumb, it would swallow the lines too.
        let has_bar = !bar.is_hidden() && !output::is_quiet();
        let out = Writer::start(|news| {
            for news in news {
                if let Update::Line(line) = news {
                    let mut out = io::stdout().lock();
                    writeln!(out, "{line}").and_then(|()| out.flush())?;
                }
            }
            Ok(())
        });
        let err = if has_bar {
            Writer::start(move |news| {
                draw(news, &bar);
                Ok(())
            })
        } else {
            Writer::start(|news| {
                for news in news {
                    match news {
                        Update::Line(line) => output::say(&line),
                        Update::Alarm(line) => output::alarm(&line),
                        Update::Counts(..) => {}
                    }
                }
                Ok(())
            })
        };
        Self {
            out,
            err,
            has_bar,
            beside_bar: has_bar && io::stdout().is_terminal(),
        }
    }

    /// Prints a line of the result, which must be escaped already.
    pub(crate) fn result(&self, line: String) {
        if output::output_is_for_tokens() {
            self.err.tell(Update::Alarm(line));
        } else if self.beside_bar {
            self.err.tell(Update::Line(line));
        } else {
            self.out.tell(Update::Line(line));
        }
    }

    pub(crate) fn say(&self, line: String) {
        self.err.tell(Update::Line(line));
    }

    /// Prints a line that `--quiet` does not suppress.
    pub(crate) fn alarm(&self, line: String) {
        self.err.tell(Update::Alarm(line));
    }

    pub(crate) fn held(&self, wait: Duration) {
        self.say(format!(
            "the service asks to wait {} s; nothing is sent meanwhile",
            wait.as_secs()
        ));
    }

    pub(crate) fn counts(&self, done: usize, counts: &impl Display) {
        if self.has_bar {
            self.err.tell(Update::Counts(done, counts.to_string()));
        }
    }

    /// Waits until everything is written, but after an interrupt not for a slow reader. The exit code is that of the
    /// run, unless the run succeeded and its result could not be written. `done`: what was done, if anything.
    pub(crate) async fn end(self, exit: Exit, done: Option<String>) -> Result<Exit, CliError> {
        // With a bar, standard error carries the result too.
        let told = self.err.end(!self.beside_bar).await;
        let written = match (self.out.end(false).await, told) {
            (Written::Done(_), Written::GivenUp) if self.beside_bar => Written::GivenUp,
            (written, _) => written,
        };
        match written {
            Written::GivenUp if exit == Exit::Done => {
                Err(CliError::Interrupted { in_flight: false })
            }
            Written::Done(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe => {
                let error = CliError::Output(error);
                let Some(done) = done else {
                    return Err(error);
                };
                // What was done is done; only its report is not complete.
                output::alarm(&format!("error: {error}; done: {done}"));
                Ok(match exit {
                    Exit::Done => Exit::Partly,
                    other => other,
                })
            }
            Written::Done(_) | Written::GivenUp => Ok(exit),
        }
    }
}

fn draw(news: &mpsc::Receiver<Update>, bar: &ProgressBar) {
    let template = "[{bar:20}] {pos}/{len} {rate} {took} {left}{wide_msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        let rate = |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{:.0}/s", state.per_sec());
        };
        let took = |state: &ProgressState, out: &mut dyn Write| {
            let _ = write!(out, "{}", in_words(state.elapsed()));
        };
        let left = |state: &ProgressState, out: &mut dyn Write| {
            if state.pos() > 0 && state.len().is_some_and(|all| state.pos() < all) {
                let _ = write!(out, "left {} ", in_words(state.eta()));
            }
        };
        let style = style.with_key("rate", rate).with_key("took", took);
        bar.set_style(style.with_key("left", left).progress_chars("=> "));
    }
    for news in news {
        match news {
            Update::Line(text) | Update::Alarm(text) => {
                let text = proposals::complete(&text);
                for line in in_plain_words(&text).lines() {
                    bar.println(visible(line));
                }
            }
            Update::Counts(done, words) => {
                bar.set_position(done as u64);
                bar.set_message(words);
            }
        }
    }
    bar.finish_and_clear();
}

/// For example "45 s", "2 min" or "1 h 5 min".
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3_600, seconds / 60 % 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_one_or_two_words() {
        for (seconds, words) in [
            (0, "0 s"),
            (59, "59 s"),
            (150, "2 min"),
            (3_900, "1 h 5 min"),
        ] {
            assert_eq!(in_words(Duration::from_secs(seconds)), words);
        }
    }
}
