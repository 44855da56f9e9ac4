//! Styles by meaning, and the few signs that differ between a rich and a poor terminal. Uses only the 16 named colours,
//! so that the person's own palette decides (docs/design/console.md), unless the configuration says otherwise; without
//! colour, reverse, bold and underline carry all meaning.

mod palette;

pub use palette::Palette;

use ratatui::{
    style::{Modifier, Style},
    symbols::border,
};

use crate::{config::Role, domain::age::TokenAge};

const ASCII_BORDER: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    pub colour: bool,
    /// Draw boxes, ellipsis and arrows with ASCII characters.
    pub ascii: bool,
    pub palette: Palette,
}

impl Default for Theme {
    fn default() -> Self {
        Self {
            colour: true,
            ascii: false,
            palette: Palette::NAMED,
        }
    }
}

impl Theme {
    /// Detects the theme from `NO_COLOR`, the locale and `TERM`, read through `variable`; `ascii` is the
    /// `--ascii` flag.
    ///
    /// As in POSIX, the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is not empty names the locale.
    pub fn detect(ascii: bool, variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let is_utf8 = locale.is_some_and(|locale| {
            let locale = locale.to_ascii_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        let term = set("TERM").unwrap_or_default();
        let is_poor = term == "linux" || term == "dumb";
        Self {
            colour: set("NO_COLOR").is_none() && term != "dumb",
            ascii: ascii || !is_utf8 || is_poor,
            palette: Palette::NAMED,
        }
    }

    fn styled(self, role: Role, modifier: Modifier) -> Style {
        let style = Style::new().add_modifier(modifier);
        match self.palette.colour(role) {
            Some(colour) if self.colour => style.fg(colour),
            _ => style,
        }
    }

    /// The word `PRODUCTION`, and anything that only appears there.
    pub fn production(self) -> Style {
        self.styled(Role::Production, Modifier::REVERSED | Modifier::BOLD)
    }

    pub fn testing(self) -> Style {
        self.styled(Role::Testing, Modifier::BOLD)
    }

    /// The row of the cursor: a background colour, or reversed. The `>` sign carries the same meaning without
    /// any style.
    pub fn cursor_row(self) -> Style {
        match self.palette.colour(Role::Cursor) {
            Some(ground) if self.colour => Style::new().bg(ground).add_modifier(Modifier::BOLD),
            _ => Style::new().add_modifier(Modifier::REVERSED),
        }
    }

    /// The sign and the style of a row to choose from.
    pub fn choice(self, is_here: bool) -> (char, Style) {
        if is_here {
            ('>', self.cursor_row())
        } else {
            (' ', Style::new())
        }
    }

    /// Whether colours can be read in the row of the cursor: reversed they would be grounds.
    pub fn keeps_colours(self) -> bool {
        !self.cursor_row().add_modifier.contains(Modifier::REVERSED)
    }

    /// Less important text. Uses the dim attribute rather than dark grey, which light and Solarized palettes hide.
    pub fn dim(self) -> Style {
        self.faint(Role::Dim)
    }

    /// Everything behind a box.
    pub fn backdrop(self) -> Style {
        self.faint(Role::Backdrop)
    }

    fn faint(self, role: Role) -> Style {
        match self.palette.colour(role) {
            _ if !self.colour => Style::new(),
            Some(colour) => Style::new().fg(colour),
            None => Style::new().add_modifier(Modifier::DIM),
        }
    }

    /// Rule and title of the pane with the focus, the sorted column, running work.
    pub fn focus(self) -> Style {
        self.styled(Role::Focus, Modifier::BOLD)
    }

    /// A marked row.
    pub fn mark(self) -> Style {
        self.styled(Role::Mark, Modifier::BOLD)
    }

    /// Column titles and labels.
    pub fn heading(self) -> Style {
        self.styled(Role::Heading, Modifier::BOLD)
    }

    /// The age of a token; a sign carries the same meaning.
    pub fn age(self, age: TokenAge) -> Style {
        match age {
            TokenAge::Fresh => Style::new(),
            TokenAge::Due => self.styled(Role::AgeDue, Modifier::empty()),
            TokenAge::Over => self.styled(Role::AgeOver, Modifier::empty()),
            TokenAge::Far => self.styled(Role::AgeFar, Modifier::BOLD),
            TokenAge::Unknown => self.unknown(),
        }
    }

    /// Rows changed by another console.
    pub fn news(self) -> Style {
        self.styled(Role::News, Modifier::BOLD)
    }

    /// A plain message.
    pub fn info(self) -> Style {
        self.styled(Role::Info, Modifier::empty())
    }

    /// Labels and the sign of a favourite.
    pub fn label(self) -> Style {
        self.styled(Role::Label, Modifier::empty())
    }

    pub fn changed(self) -> Style {
        self.styled(Role::Changed, Modifier::empty())
    }

    pub fn added(self) -> Style {
        self.styled(Role::Added, Modifier::empty())
    }

    pub fn removed(self) -> Style {
        self.styled(Role::Removed, Modifier::empty())
    }

    pub fn error(self) -> Style {
        self.styled(Role::Error, Modifier::BOLD)
    }

    pub fn warning(self) -> Style {
        self.styled(Role::Warning, Modifier::BOLD)
    }

    pub fn ok(self) -> Style {
        self.styled(Role::Ok, Modifier::empty())
    }

    /// An outcome that is not known yet.
    pub fn unknown(self) -> Style {
        self.styled(Role::Unknown, Modifier::BOLD)
    }

    /// A key in the footer or the help.
    pub fn key_hint(self) -> Style {
        self.styled(Role::Key, Modifier::BOLD)
    }

    pub fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The part of a text that matches a filter.
    pub fn matched(self) -> Style {
        self.styled(Role::Matched, Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// Keys of a JSON object.
    pub fn json_key(self) -> Style {
        self.styled(Role::JsonKey, Modifier::empty())
    }

    pub fn json_string(self) -> Style {
        self.styled(Role::JsonString, Modifier::empty())
    }

    /// Numbers, `true`, `false` and `null`.
    pub fn json_value(self) -> Style {
        self.styled(Role::JsonValue, Modifier::empty())
    }

    /// An input field that has the focus.
    pub fn focused(self) -> Style {
        Style::new().add_modifier(Modifier::UNDERLINED)
    }

    /// The rule above a pane: heavy when the pane has the focus.
    pub fn rule(self, has_keys: bool) -> &'static str {
        match (self.ascii, has_keys) {
            (false, true) => "━",
            (false, false) => "─",
            (true, true) => "=",
            (true, false) => "-",
        }
    }

    /// The line between two panes side by side, and its junction with their rule.
    pub fn divider(self) -> [&'static str; 2] {
        if self.ascii {
            ["|", "+"]
        } else {
            ["│", "┬"]
        }
    }

    /// Separates the steps of a breadcrumb path.
    pub fn step(self) -> &'static str {
        if self.ascii { ">" } else { "›" }
    }

    /// Says that there are columns to the left.
    pub fn step_back(self) -> &'static str {
        if self.ascii { "<" } else { "‹" }
    }

    /// Marks the name of a favourite.
    pub fn star(self) -> &'static str {
        if self.ascii { "#" } else { "★" }
    }

    /// The sort direction of a column.
    pub fn order(self, is_falling: bool) -> &'static str {
        match (self.ascii, is_falling) {
            (false, false) => "▴",
            (false, true) => "▾",
            (true, false) => "^",
            (true, true) => "v",
        }
    }

    pub fn border(self) -> border::Set<'static> {
        if self.ascii {
            ASCII_BORDER
        } else {
            border::PLAIN
        }
    }

    pub fn ellipsis(self) -> &'static str {
        if self.ascii { ".." } else { "…" }
    }

    /// Stands for one character of a secret.
    pub fn mask(self) -> &'static str {
        if self.ascii { "*" } else { "•" }
    }

    pub fn arrow(self) -> &'static str {
        if self.ascii { "->" } else { "→" }
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    fn detect(variables: &[(&str, &str)]) -> Theme {
        Theme::detect(false, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn every_style(theme: Theme) -> [Style; 30] {
        [
            theme.production(),
            theme.testing(),
            theme.cursor_row(),
            theme.dim(),
            theme.changed(),
            theme.added(),
            theme.removed(),
            theme.error(),
            theme.warning(),
            theme.ok(),
            theme.unknown(),
            theme.key_hint(),
            theme.title(),
            theme.matched(),
            theme.json_key(),
            theme.json_string(),
            theme.json_value(),
            theme.focused(),
            Style::new(),
            theme.focus(),
            theme.mark(),
            theme.heading(),
            theme.age(TokenAge::Due),
            theme.age(TokenAge::Over),
            theme.age(TokenAge::Far),
            theme.age(TokenAge::Unknown),
            theme.news(),
            theme.info(),
            theme.label(),
            theme.backdrop(),
        ]
    }

    #[test]
    fn the_first_locale_that_is_set_decides() {
        assert!(!detect(&[("LANG", "en_GB.UTF-8")]).ascii);
        assert!(!detect(&[("LANG", "C.utf8"), ("LC_ALL", "")]).ascii);
        assert!(detect(&[("LANG", "en_GB.UTF-8"), ("LC_ALL", "C")]).ascii);
        assert!(detect(&[]).ascii);
        assert!(detect(&[("LANG", "en_GB.UTF-8"), ("TERM", "linux")]).ascii);
        let flagged = Theme::detect(true, |_| Some("en_GB.UTF-8".into()));
        assert!(flagged.ascii);
    }

    #[test]
    fn no_color_counts_only_when_it_is_not_empty() {
        assert!(detect(&[("NO_COLOR", "")]).colour);
        assert!(!detect(&[("NO_COLOR", "1")]).colour);
        assert!(!detect(&[("TERM", "dumb")]).colour);
    }

    #[test]
    fn without_colour_only_reverse_bold_and_underline_remain() {
        let theme = Theme {
            colour: false,
            ascii: true,
            ..Theme::default()
        };
        let allowed = Modifier::REVERSED | Modifier::BOLD | Modifier::UNDERLINED;
        for style in every_style(theme) {
            assert_eq!((style.fg, style.bg), (None, None), "{style:?}");
            assert!(allowed.contains(style.add_modifier), "{style:?}");
        }
        assert!(
            theme
                .production()
                .add_modifier
                .contains(Modifier::REVERSED | Modifier::BOLD)
        );
    }

    #[test]
    fn only_named_colours_are_used() {
        for style in every_style(Theme::default()) {
            assert!(!matches!(
                style.fg,
                Some(Color::Rgb(..) | Color::Indexed(_))
            ));
        }
    }

    #[test]
    fn the_ascii_signs_are_ascii() {
        let theme = Theme {
            colour: true,
            ascii: true,
            ..Theme::default()
        };
        let border = theme.border();
        for sign in [
            theme.ellipsis(),
            theme.mask(),
            theme.arrow(),
            theme.rule(true),
            theme.rule(false),
            theme.divider()[0],
            theme.divider()[1],
            theme.step(),
            theme.star(),
            theme.order(true),
            theme.order(false),
            border.top_left,
            border.vertical_right,
            border.horizontal_bottom,
        ] {
            assert!(sign.is_ascii());
        }
    }
}
