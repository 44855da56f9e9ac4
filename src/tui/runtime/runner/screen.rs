//! The screen as the runner uses it, and its implementations.
//!
//! Follows the changes of others in the directory, outside of the event loop: looks when something was written; reports
//! the first change at once and gathers later ones. Idle while nothing is written.
//!
//! Turns terminal input into messages.
//!
//! Runs the person's editor between two turns of the event loop: hands the terminal over and takes it back, while jobs
//! continue.

use std::{io, sync::Arc, time::Duration};

use crossterm::event::Event;
use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, sleep, sleep_until},
};
use tokio_util::task::AbortOnDropHandle;

use super::{Runner, next_signal};

use crate::{
    domain::{Token, capitalised},
    operations::Feed,
    tui::{
        runtime::external_editor::{EditFile, Editor},
        state::{Condition, EditRequest, Msg, OutageReason, ProfileIndex, Severity},
        terminal::{self, InputEvent, MAX_PASTE_BYTES, Signal, Signals},
    },
};

/// What the runner needs from a terminal; tests use their own implementation.
pub trait Screen {
    /// Draws what the closure renders; writes only what differs from the last frame.
    fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()>;
    /// Reads messages aloud, in the plain mode.
    fn announce(&mut self, _lines: Vec<String>) -> io::Result<()> {
        Ok(())
    }
    /// Copies a text to the person's clipboard (OSC 52).
    fn copy(&mut self, text: &Token) -> io::Result<()>;
    /// Queries the background colour (OSC 11); the reply arrives as input, if at all.
    fn ask_background(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Makes the terminal report when its window gets the focus.
    fn report_focus(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Leaves the screen, stops the process, and returns when it is continued.
    fn suspend(&mut self) -> io::Result<()>;
    /// Hands screen and keyboard over to the person's editor.
    fn give_away(&mut self) -> io::Result<()>;
    /// Takes both back; returns the current size if it may have changed.
    fn take_back(&mut self) -> io::Result<Option<(u16, u16)>>;
    /// After SIGCONT: the shell may have changed the terminal.
    fn continued(&mut self) -> io::Result<()>;
    /// Makes the next draw write everything.
    fn redraw(&mut self);
}

/// Both terminals implement the methods themselves; they differ only in what they know about their size.
macro_rules! forward {
    ($screen:ty, $size:expr $(, announce = $announce:ident)? $(, focus = $focus:ident)?) => {
        impl Screen for $screen {
            fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()> {
                self.draw(render)
            }

            $(fn $announce(&mut self, lines: Vec<String>) -> io::Result<()> {
                self.$announce(lines)
            })?

            fn copy(&mut self, text: &Token) -> io::Result<()> {
                self.copy(text.expose())
            }

            fn ask_background(&mut self) -> io::Result<()> {
                self.ask_background()
            }

            $(fn $focus(&mut self) -> io::Result<()> {
                self.$focus()
            })?

            fn suspend(&mut self) -> io::Result<()> {
                self.suspend()
            }

            fn give_away(&mut self) -> io::Result<()> {
                self.give_away()
            }

            fn take_back(&mut self) -> io::Result<Option<(u16, u16)>> {
                self.take_back()?;
                $size
            }

            fn continued(&mut self) -> io::Result<()> {
                self.continued()
            }

            fn redraw(&mut self) {
                self.redraw();
            }
        }
    };
}

forward!(
    terminal::Screen,
    terminal::size().map(Some),
    focus = report_focus
);
forward!(terminal::PlainScreen, Ok(None), announce = announce);

/// Changes within this time after a look are reported together.
const GATHER_TIME: Duration = Duration::from_millis(100);
/// Time until the next attempt when the directory cannot be read.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// An interruption that is over by then is not mentioned.
const UNREPORTED_OUTAGE: Duration = Duration::from_secs(2);

/// Stops when dropped.
pub(super) struct FeedTask {
    _task: AbortOnDropHandle<()>,
    wake: Arc<Notify>,
}

impl FeedTask {
    /// `reported` is what the console already says about the directory.
    pub(super) fn begin(
        profile: ProfileIndex,
        feed: Feed,
        reported: Option<OutageReason>,
        news: &mpsc::Sender<Msg>,
    ) -> Self {
        let wake = Arc::new(Notify::new());
        let following = follow(profile, feed, reported, Arc::clone(&wake), news.clone());
        Self {
            _task: AbortOnDropHandle::new(tokio::spawn(following)),
            wake,
        }
    }

    /// The person is active: looks for changes if nothing notifies of them.
    pub(super) fn check_now(&self) {
        self.wake.notify_one();
    }
}

async fn follow(
    profile: ProfileIndex,
    mut feed: Feed,
    mut reported: Option<OutageReason>,
    wake: Arc<Notify>,
    news: mpsc::Sender<Msg>,
) {
    let mut line = feed.watch.connection();
    // Since when reading has failed.
    let mut failing: Option<Instant> = None;
    loop {
        let looked = Instant::now();
        let seen = tokio::select! {
            seen = feed.read_changes() => seen,
            error = line.lost_for(UNREPORTED_OUTAGE), if reported.is_none_or(OutageReason::can_be_read) => Err(error),
        };
        let next = match seen {
            Ok(changes) => {
                failing = None;
                let why = feed.watch.write_refusal();
                let why = why.and_then(|error| OutageReason::of(&error));
                let line = (why != reported).then(|| why.map(|why| (Duration::ZERO, why)));
                reported = why;
                let line = line.map(|line| Msg::DirectoryState(profile, line));
                let changes = changes.map(|changes| Msg::Changed(profile, Box::new(changes)));
                Ok(line.into_iter().chain(changes))
            }
            Err(error) => {
                let since = *failing.get_or_insert(looked);
                let lost_for = since.elapsed().max(if line.is_lost() {
                    UNREPORTED_OUTAGE
                } else {
                    Duration::ZERO
                });
                let why = OutageReason::of(&error);
                let why = why.filter(|why| reported != Some(*why) && lost_for >= UNREPORTED_OUTAGE);
                Err(why.map(|why| (lost_for, why)))
            }
        };
        match next {
            Ok(all) => {
                for msg in all {
                    if news.send(msg).await.is_err() {
                        return;
                    }
                }
            }
            Err(lost) => {
                if let Some(lost) = lost {
                    reported = Some(lost.1);
                    if news
                        .send(Msg::DirectoryState(profile, Some(lost)))
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
                // Each attempt waits for the directory as well.
                sleep(RETRY_INTERVAL).await;
                continue;
            }
        }
        let has_events = feed.watch.has_events();
        tokio::select! {
            () = feed.watch.maybe_written() => {}
            () = wake.notified(), if !has_events => {}
            () = sleep(RETRY_INTERVAL), if reported.is_some_and(OutageReason::is_of_file) => {}
        }
        sleep_until(looked + GATHER_TIME).await;
    }
}

/// How long the terminal may take to report its background; after that the colours do not change any more.
const BACKGROUND_REPLY_TIME: Duration = Duration::from_millis(200);

impl<S: Screen> Runner<S> {
    /// Turns terminal input into a message; input that is none is reported to the person.
    pub(super) fn on_input(&mut self, input: InputEvent) -> Option<Msg> {
        let (severity, text) = match input {
            InputEvent::Event(Event::FocusGained) => {
                if let Some(feed) = &self.feed {
                    feed.check_now();
                }
                return None;
            }
            InputEvent::Event(event) => return message(event),
            InputEvent::Burst(keys) => return Some(Msg::Burst(keys)),
            InputEvent::Background(red, green, blue) => {
                let asked = self.background_asked_at.take()?;
                let is_in_time = asked.elapsed() <= BACKGROUND_REPLY_TIME;
                return is_in_time.then_some(Msg::Background(red, green, blue));
            }
            InputEvent::PasteIsOpen => {
                let text = "Unfinished paste: Ctrl-C ends it".to_owned();
                let context = &mut self.app.context;
                context.say_condition(Condition::PasteOpen, Severity::Warning, text);
                return None;
            }
            InputEvent::PasteTooLong => {
                self.app.context.resolve(Condition::PasteOpen);
                let most = MAX_PASTE_BYTES >> 20;
                let text = "Not pasted: the text is longer than";
                (Severity::Error, format!("{text} {most} MiB"))
            }
        };
        self.app.context.say(severity, text);
        None
    }
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Some(Msg::Key(key)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        Event::Mouse(event) => Some(Msg::Mouse(event)),
        Event::FocusGained | Event::FocusLost => None,
    }
}

impl<S: Screen> Runner<S> {
    /// Runs the requested external edit, if there is one; jobs continue meanwhile. Returns a signal that
    /// asked for the end.
    pub(super) async fn run_external_edit(
        &mut self,
        signals: &mut Option<&mut Signals>,
    ) -> Option<Signal> {
        let (ticket, external_edit) = self.external_edit.take()?;
        let (mut end, mut hint) = (None, None);
        let edited = match self.begin_external_edit(&external_edit) {
            Err(why) => Err(why),
            Ok((editor, file)) => {
                let run = editor.run(&file, async || next_signal(signals).await).await;
                end = run.end;
                let back = self.screen.take_back();
                hint = file.hint(&run);
                let (backends, profile) = (&self.backends, self.app.context.current);
                let given = &external_edit.text;
                let keepable =
                    async |text: &[u8]| Some(backends.keepable(profile, text, given).await);
                let text = file.finish(editor.refusal(&run.status), keepable).await;
                match back {
                    Ok(Some((columns, rows))) => self.take(Msg::Resize(columns, rows)),
                    Ok(None) => {}
                    // The edited text is taken over anyway; the draft keeps it.
                    Err(_) => end = end.or(Some(Signal::Hangup)),
                }
                text
            }
        };
        if end.is_some() {
            self.app.kept_text = edited.clone().err();
        }
        self.take(Msg::Edited(ticket, edited));
        if let Some(hint) = hint {
            self.app.context.say(Severity::Warning, capitalised(hint));
        }
        end
    }

    fn begin_external_edit(
        &mut self,
        external_edit: &EditRequest,
    ) -> Result<(Editor, EditFile), String> {
        let variables = self.backends.variables_for_editor(self.app.context.current);
        let editor = Editor::find(variables)?;
        let file = editor
            .write(external_edit)
            .map_err(|error| format!("no private file for the editor: {error}"))?;
        match self.screen.give_away() {
            Ok(()) => Ok((editor, file)),
            Err(error) => Err(format!(
                "the terminal could not be handed to the editor: {error}"
            )),
        }
    }
}
