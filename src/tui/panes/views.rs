//! Saved views of the list, and its columns: which ones, in which order. Choices apply at once.

use super::prelude::*;
use crate::{
    domain::capitalised,
    operations::view_name,
    search::{ListColumn, ListView, SavedView},
    tui::{
        kit::choice,
        page::{group_details::by, prompt::Prompt},
        state::{ColumnsChange, Command, command::ListCommand},
    },
};

/// What the prompt asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Asks {
    /// The key of a property.
    Property,
    /// The name of a view.
    #[default]
    Name,
}

/// A question above this pane, with the view that it shows.
#[derive(Debug)]
enum Asked {
    Replace(Box<SavedView>),
    Remove(Box<SavedView>),
}

/// A row under the cursor.
enum ViewsRow<'v> {
    View(&'v SavedView),
    /// The column, and whether it is shown.
    Column(&'v ListColumn, bool),
}

#[derive(Debug, Default)]
pub struct ViewsPane {
    /// The shown columns in their order, then the others; `shown` counts the former.
    columns: Vec<ListColumn>,
    shown: usize,
    cursor: Cursor,
    /// The row under the cursor, by name, because views come and go, even through other consoles.
    on: Option<String>,
    /// Columns that the list leaves out, because they would be empty.
    empty: Vec<ListColumn>,
    /// Of the list.
    filter: String,
    prompt: Prompt,
    asks: Asks,
    asked: Option<Asked>,
}

impl ViewsPane {
    /// Of the list; no columns are the default ones.
    pub fn of(view: ListView, empty: Vec<ListColumn>) -> Self {
        let mut all = view.columns;
        if all.is_empty() {
            all = ListColumn::ALL.to_vec();
        }
        let shown = all.len();
        let hidden = ListColumn::ALL.into_iter();
        let hidden: Vec<ListColumn> = hidden.filter(|column| !all.contains(column)).collect();
        all.extend(hidden);
        Self {
            columns: all,
            shown,
            empty,
            filter: view.filter,
            ..Self::default()
        }
    }

    fn name(&self, at: usize, saved: &[SavedView]) -> Option<String> {
        Some(match self.row(at, saved)? {
            ViewsRow::View(view) => format!("@{}", view.name),
            ViewsRow::Column(column, _) => column.to_string(),
        })
    }

    fn row<'v>(&'v self, at: usize, saved: &'v [SavedView]) -> Option<ViewsRow<'v>> {
        if let Some(view) = saved.get(at) {
            return Some(ViewsRow::View(view));
        }
        let at = at.checked_sub(saved.len())?;
        let column = self.columns.get(at)?;
        Some(ViewsRow::Column(column, at < self.shown))
    }

    /// The index of the column under the cursor.
    fn column(&self, context: &Context) -> Option<usize> {
        let views = context.annotations.saved_views.len();
        let at = self.cursor.at.checked_sub(views)?;
        (at < self.columns.len()).then_some(at)
    }

    /// Whether this column is the only one that says which group a row is.
    fn is_last_name(&self, at: Option<usize>) -> bool {
        let names = |column: &ListColumn| matches!(column, ListColumn::Id | ListColumn::Name);
        let mut shown = self.columns[..self.shown].iter().enumerate();
        !shown.any(|(other, column)| Some(other) != at && names(column))
    }

    /// Applies the current choice of columns.
    fn apply(&self, context: &mut Context) {
        let shown = self.columns[..self.shown].to_vec();
        let change = ColumnsChange::Set(if shown == ListColumn::ALL {
            Vec::new()
        } else {
            shown
        });
        context.navigate(Navigation::Run(ListCommand::Columns(change).into()));
    }

    fn toggle(&mut self, context: &mut Context) {
        let Some(at) = self.column(context) else {
            return;
        };
        // It becomes the last of the shown columns, or the first of the others.
        let column = self.columns.remove(at);
        if at < self.shown {
            self.shown -= 1;
            self.columns.insert(self.shown, column);
        } else {
            self.columns.insert(self.shown, column);
            self.shown += 1;
        }
        self.apply(context);
    }

    /// Moves a shown column by one position.
    fn shift(&mut self, down: bool, context: &mut Context) {
        let Some(at) = self.column(context).filter(|at| *at < self.shown) else {
            return;
        };
        let to = if down { at + 1 } else { at.wrapping_sub(1) };
        if to < self.shown {
            self.columns.swap(at, to);
            self.cursor.at = context.annotations.saved_views.len() + to;
            self.apply(context);
        }
    }

    fn submit(&mut self, context: &mut Context) {
        let Some(text) = self.prompt.text("Type a name first") else {
            return;
        };
        match self.asks {
            Asks::Name => match view_name(&text) {
                Ok(name) => {
                    let mut saved = context.annotations.saved_views.iter();
                    if let Some(view) = saved.find(|view| view.name == name).cloned() {
                        return self.ask_to_replace(view, context);
                    }
                    context.navigate(Navigation::Run(Command::Save(name, None)));
                }
                Err(why) => self.prompt.refuse(capitalised(&why)),
            },
            Asks::Property => {
                let key = text.strip_prefix("prop.").unwrap_or(&text);
                let change = ColumnsChange::Change {
                    add: vec![ListColumn::Property(key.to_owned())],
                    remove: Vec::new(),
                };
                let view = ListView {
                    columns: change.of(&self.columns[..self.shown]),
                    filter: std::mem::take(&mut self.filter),
                    ..ListView::default()
                };
                *self = Self::of(view, std::mem::take(&mut self.empty));
                self.apply(context);
                context.close_pane();
            }
        }
    }

    /// The list saves its view under the name that was typed.
    pub fn saves(&mut self, ticket: Ticket) {
        self.prompt.begun(ticket);
    }

    fn ask_to_replace(&mut self, view: SavedView, context: &mut Context) {
        let name = visible(&view.name);
        let text = format!(
            "@{name} is {}, last written {}. It becomes {} for all users of this directory.",
            groups_of(&view.view.filter),
            by(&view.written, context),
            groups_of(&self.filter)
        );
        let confirm = Confirm::asked(format!("replaces view @{name}"), "REPLACE");
        context.ask_first("Replace a saved view", text, confirm);
        self.asked = Some(Asked::Replace(Box::new(view)));
    }

    /// Completes the key of a property.
    fn complete(&mut self, context: &Context) {
        if let Some(field) = self.prompt.field().filter(|_| self.asks == Asks::Property) {
            let keys = context.property_keys();
            let typed = field.text().trim();
            let typed = typed.strip_prefix("prop.").unwrap_or(typed);
            let mut keys = keys.iter();
            if let Some(key) = keys.find(|key| key.starts_with(typed) && key.as_str() != typed) {
                let key = key.clone();
                field.set_text(&key);
            }
        }
    }
}

impl View for ViewsPane {
    fn focus(&self) -> Focus {
        if self.prompt.is_asked() {
            Focus::ViewName
        } else {
            Focus::Views
        }
    }

    fn title(&self, _context: &Context) -> String {
        "Views".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        let rows = context.annotations.saved_views.len() + self.columns.len();
        let page = context.half_page();
        if !self.prompt.is_asked() && self.cursor.act(action, rows, page) {
            self.on = None;
            return;
        }
        self.on = None;
        match action {
            Action::Enter if self.prompt.is_asked() => self.submit(context),
            Action::NextField => self.complete(context),
            Action::Enter => {
                context.close_pane();
                if let Some(ViewsRow::View(view)) =
                    self.row(self.cursor.at, &context.annotations.saved_views)
                {
                    let name = view.name.clone();
                    context.navigate(Navigation::Run(ListCommand::View(name).into()));
                }
            }
            Action::Choose => self.toggle(context),
            Action::MoveDown => self.shift(true, context),
            Action::MoveUp => self.shift(false, context),
            Action::AddColumn => {
                self.asks = Asks::Property;
                self.prompt.ask("Property", "");
            }
            Action::WriteFile => {
                self.asks = Asks::Name;
                self.prompt.ask("Save as", "");
            }
            Action::RemoveView => {
                let saved = &context.annotations.saved_views;
                if let Some(ViewsRow::View(view)) = self.row(self.cursor.at, saved) {
                    let view = Box::new(view.clone());
                    let what = format!("removes view @{}", visible(&view.name));
                    context.ask_first(
                        "Remove a saved view",
                        "It is removed for all users of this directory.",
                        Confirm::asked(what, "REMOVE"),
                    );
                    self.asked = Some(Asked::Remove(view));
                }
            }
            Action::Back if self.prompt.is_asked() => self.prompt.close(),
            Action::Back | Action::Views => context.close_pane(),
            _ => {}
        }
    }

    fn confirmed(&mut self, context: &mut Context) {
        match self.asked.take() {
            Some(Asked::Replace(view)) => {
                let save = Command::Save(view.name.clone(), Some(view));
                context.navigate(Navigation::Run(save));
            }
            Some(Asked::Remove(view)) => {
                context.start(Job::RemoveView(view));
            }
            None => {}
        }
    }

    fn waits_for(&self, ticket: Ticket) -> bool {
        self.prompt.waits_for(ticket)
    }

    fn answer(&mut self, outcome: &Outcome, context: &mut Context) {
        match outcome {
            Outcome::SavedViews(_, (Severity::Done, text)) => {
                self.prompt.done();
                context.say(Severity::Done, text.clone());
            }
            Outcome::SavedViews(_, (_, why)) => {
                self.prompt.failed(why);
            }
            Outcome::ViewChanged(_, other) => {
                self.prompt.failed(&not_saved(other));
                self.ask_to_replace((**other).clone(), context);
            }
            Outcome::Failed(error) => {
                self.prompt.failed(&error.text);
            }
            _ => {}
        }
    }

    fn job_panicked(&mut self, _context: &mut Context) {
        self.prompt
            .failed("Interrupted: it is unknown whether the view was saved");
    }

    fn sync(&mut self, context: &mut Context) {
        let saved = &context.annotations.saved_views;
        let rows = saved.len() + self.columns.len();
        let mut names = (0..rows).map(|at| self.name(at, saved));
        let found = names.position(|name| name.is_some() && name == self.on);
        drop(names);
        let at = found.unwrap_or(self.cursor.at);
        self.cursor.at = at.min(rows.saturating_sub(1));
        self.on = self.name(self.cursor.at, saved);
    }

    fn field(&mut self) -> Option<&mut TextField> {
        self.prompt.field()
    }

    fn hint(&self, action: Action, context: &Context) -> Option<&'static str> {
        let closes = action == Action::Enter && !self.prompt.is_asked();
        (closes && self.column(context).is_some()).then_some("close")
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        let column = self.column(context);
        let is_shown = column.is_some_and(|at| at < self.shown);
        match action {
            Action::NextField if self.prompt.is_asked() && matches!(self.asks, Asks::Name) => {
                Some("only the key of a property can be completed".into())
            }
            Action::Choose if column.is_none() => Some("this row is a saved view".into()),
            Action::Choose if is_shown && self.is_last_name(column) => {
                Some("the list needs ID or name".into())
            }
            Action::MoveDown | Action::MoveUp if !is_shown => {
                Some("only a shown column can be moved".into())
            }
            Action::MoveUp if column == Some(0) => Some("this column is the first".into()),
            Action::MoveDown if column.map(|at| at + 1) == Some(self.shown) => {
                Some("this column is the last shown".into())
            }
            Action::RemoveView if column.is_some() => Some("this row is a column".into()),
            _ => None,
        }
    }

    fn unsaved(&self) -> Option<String> {
        let is_typing = self.prompt.is_asked();
        is_typing.then(|| "the name that is being typed is not saved".into())
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let theme = context.theme;
        let saved = &context.annotations.saved_views;
        let rows = saved.len() + self.columns.len();
        let height = (rows as u16 + 5).min(area.height);
        let inner = popup(buffer, area, (76, height), "Views and columns", theme);
        let mut lines = Vec::with_capacity(rows + 2);
        for at in 0..rows {
            if at == 0 && !saved.is_empty() {
                lines.push((None, "Saved views".to_owned()));
            }
            if at == saved.len() {
                lines.push((None, "Columns".to_owned()));
            }
            let text = match self.row(at, saved) {
                Some(ViewsRow::View(view)) => describe(view, context),
                Some(ViewsRow::Column(column, shown)) => {
                    let mark = if shown { "[x]" } else { "[ ]" };
                    let note = if shown && self.empty.contains(column) {
                        "  empty: omitted"
                    } else {
                        ""
                    };
                    format!("{mark} {}{note}", visible(&column.word()))
                }
                None => String::new(),
            };
            lines.push((Some(at), text));
        }
        let foot = self.prompt.rows(inner.width);
        let room = usize::from(inner.height.saturating_sub(foot));
        let is_here = |line: &(Option<usize>, String)| line.0 == Some(self.cursor.at);
        let here = lines.iter().position(is_here).unwrap_or(0);
        let first = self.cursor.first_around(here, lines.len(), room);
        for (row, (at, text)) in lines.iter().skip(first).take(room).enumerate() {
            let place = paint::row(inner, row as u16);
            let Some(at) = at else {
                paint::line(buffer, place, text, theme.title(), theme);
                continue;
            };
            choice(buffer, place, *at == self.cursor.at, text, theme);
        }
        self.prompt.draw(buffer, inner, u16::MAX, theme)
    }
}

/// Why a view was not saved, if it is another one by now.
pub(crate) fn not_saved(other: &SavedView) -> String {
    let by = visible(&other.written.by);
    let name = &other.name;
    format!("Not saved: view @{name} was written by {by} meanwhile")
}

fn groups_of(filter: &str) -> String {
    if filter.is_empty() {
        "all groups".into()
    } else {
        visible(filter).into_owned()
    }
}

/// Name, filter, order, columns, and author of a view.
fn describe(view: &SavedView, context: &Context) -> String {
    let name = format!("@{}", visible(&view.name));
    let filter = groups_of(&view.view.filter);
    let sign = if view.view.reverse { "-" } else { "" };
    let sort = format!("sort {sign}{}", view.view.sort.word());
    let columns = match view.view.columns.len() {
        0 => String::new(),
        count => format!("  {count} columns"),
    };
    format!(
        "{name:<14} {filter}  {sort}{columns}  {}",
        by(&view.written, context)
    )
}
