//! Styles by meaning, and the few signs that differ between a rich and a poor terminal. Uses only the 16 named colours,
//! so that the person's own palette decides (docs/design/console.md), unless the configuration says otherwise; without
//! colour, reverse, bold and underline carry all meaning.

mod palette;

pub use palette::Palette;

use ratatui::{
    prelude::{Modifier, Style},
    symbols::border,
};

use crate::{
    config::Role,
    domain::{Mark, TokenAge},
};

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

    pub fn environment(self, is_production: bool) -> Style {
        if is_production {
            self.production()
        } else {
            self.testing()
        }
    }

    /// What is added, removed or changed.
    pub fn change(self, mark: Mark) -> Style {
        match mark {
            Mark::Same => Style::new(),
            Mark::Added => self.added(),
            Mark::Removed => self.removed(),
            Mark::Changed => self.changed(),
        }
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

    pub fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
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
}

/// A style for each role, with its modifiers; a sign for each use, in ASCII and otherwise.
macro_rules! styles_and_signs {
    ($($(#[$doc:meta])* $style:ident $role:ident $($modifier:ident)*;)* | $($(#[$about:meta])* $sign:ident $ascii:literal $rich:literal;)*) => {
        impl Theme {
            $($(#[$doc])* pub fn $style(self) -> Style {
                self.styled(Role::$role, Modifier::empty()$(.union(Modifier::$modifier))*)
            })*

            $($(#[$about])* pub fn $sign(self) -> &'static str {
                if self.ascii { $ascii } else { $rich }
            })*

            #[cfg(test)]
            fn styles(self) -> Vec<Style> {
                vec![$(self.$style()),*]
            }
        }
    };
}

styles_and_signs! {
    /// The word `PRODUCTION`, and anything that only appears there.
    production Production REVERSED BOLD;
    testing Testing BOLD;
    /// Rule and title of the pane with the focus, the sorted column, running work.
    focus Focus BOLD;
    /// A marked row.
    mark Mark BOLD;
    /// Column titles and labels.
    heading Heading BOLD;
    /// Rows changed by another console.
    news News BOLD;
    /// A plain message.
    info Info;
    /// Labels and the sign of a favourite.
    label Label;
    changed Changed;
    added Added;
    removed Removed;
    error Error BOLD;
    warning Warning BOLD;
    ok Ok;
    /// An outcome that is not known yet.
    unknown Unknown BOLD;
    /// A key in the footer or the help.
    key_hint Key BOLD;
    /// The part of a text that matches a filter.
    matched Matched BOLD UNDERLINED;
    /// Keys of a JSON object.
    json_key JsonKey;
    json_string JsonString;
    /// Numbers, `true`, `false` and `null`.
    json_value JsonValue;
    |
    /// Separates the steps of a breadcrumb path.
    step ">" "›";
    /// Says that there are columns to the left.
    step_back "<" "‹";
    /// Marks the name of a favourite.
    star "#" "★";
    ellipsis ".." "…";
    /// Stands for one character of a secret.
    mask "*" "•";
    arrow "->" "→";
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

    fn every_style(theme: Theme) -> Vec<Style> {
        let mut styles = theme.styles();
        styles.extend([
            theme.cursor_row(),
            theme.dim(),
            theme.backdrop(),
            theme.title(),
            theme.focused(),
            theme.age(TokenAge::Due),
            theme.age(TokenAge::Over),
            theme.age(TokenAge::Far),
        ]);
        styles
    }

    #[test]
    fn the_first_locale_that_is_set_decides_and_no_color_counts_when_it_is_not_empty() {
        let utf_8 = ("LANG", "en_GB.UTF-8");
        for (variables, ascii) in [
            (&[utf_8][..], false),
            (&[("LANG", "C.utf8"), ("LC_ALL", "")], false),
            (&[utf_8, ("LC_ALL", "C")], true),
            (&[], true),
            (&[utf_8, ("TERM", "linux")], true),
        ] {
            assert_eq!(detect(variables).ascii, ascii, "{variables:?}");
        }
        assert!(Theme::detect(true, |_| Some("en_GB.UTF-8".into())).ascii);
        for (name, value, colour) in [
            ("NO_COLOR", "", true),
            ("NO_COLOR", "1", false),
            ("TERM", "dumb", false),
        ] {
            assert_eq!(detect(&[(name, value)]).colour, colour, "{name}={value}");
        }
    }

    #[test]
    fn without_colour_only_reverse_bold_and_underline_remain_and_usual_colours_are_named() {
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
        let production = theme.production().add_modifier;
        assert!(production.contains(Modifier::REVERSED | Modifier::BOLD));
        for style in every_style(Theme::default()) {
            let is_fixed = matches!(style.fg, Some(Color::Rgb(..) | Color::Indexed(_)));
            assert!(!is_fixed, "{style:?}");
        }
    }
}
