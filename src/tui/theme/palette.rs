//! The colour of each role: the 16 named colours, fixed ones for a light or a dark background, or the person's own.

use ratatui::style::Color;

use crate::config::{Background, Colour, Role, UiSettings};

/// The colours of all roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    ground: Background,
    own: [Option<Color>; Role::ALL.len()],
}

impl Default for Palette {
    fn default() -> Self {
        Self::NAMED
    }
}

impl Palette {
    /// The 16 named colours, so that the palette of the terminal decides.
    pub const NAMED: Self = Self {
        ground: Background::Terminal,
        own: [None; Role::ALL.len()],
    };

    /// Builds the palette from the configuration. If it does not set the background, `COLORFGBG` decides until the
    /// terminal answers.
    pub fn of(ui: &UiSettings, variable: impl Fn(&str) -> Option<String>) -> Self {
        let ground = match ui.ground {
            Background::Asked if has_256(&variable) => ground_of(variable("COLORFGBG")),
            Background::Asked => Background::Terminal,
            ground => ground,
        };
        let mut palette = Self {
            ground,
            ..Self::NAMED
        };
        for (role, colour) in &ui.colours {
            palette.own[place(*role)] = Some(of(*colour));
        }
        palette
    }

    /// Whether to query the terminal for its background: it is not configured, and there are fixed colours for it.
    pub fn is_to_be_asked(ui: &UiSettings, variable: impl Fn(&str) -> Option<String>) -> bool {
        ui.ground == Background::Asked && has_256(&variable)
    }

    /// Adapts the palette to the background that the terminal reported: red, green and blue.
    #[must_use]
    pub fn on(self, background: (u8, u8, u8)) -> Self {
        let (red, green, blue) = background;
        // The perceived brightness, in thousandths (Rec. 601).
        let light = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
        let ground = if light > 127_500 {
            Background::Light
        } else {
            Background::Dark
        };
        Self { ground, ..self }
    }

    /// Adapts the palette to a configured background.
    #[must_use]
    pub fn with_background(self, ground: Background) -> Self {
        Self { ground, ..self }
    }

    /// The colour of a role; `None` when the role is an attribute, which needs no colour.
    pub fn colour(&self, role: Role) -> Option<Color> {
        if let Some(own) = self.own[place(role)] {
            return Some(own);
        }
        let (light, dark, named) = match role {
            Role::Production | Role::Removed | Role::Error | Role::AgeFar => {
                (124, 210, Some(Color::Red))
            }
            Role::Testing | Role::Added | Role::Ok | Role::JsonString => {
                (22, 114, Some(Color::Green))
            }
            Role::Changed | Role::Warning | Role::Matched | Role::AgeDue => {
                (94, 221, Some(Color::Yellow))
            }
            Role::Unknown | Role::JsonValue => (90, 183, Some(Color::Magenta)),
            Role::Key | Role::JsonKey => (24, 80, Some(Color::Cyan)),
            Role::News | Role::Info | Role::Label => (24, 117, Some(Color::Cyan)),
            Role::Focus => (25, 75, Some(Color::Cyan)),
            Role::Mark => (94, 215, Some(Color::Yellow)),
            Role::AgeOver => (124, 209, Some(Color::Red)),
            Role::Cursor => (254, 237, None),
            Role::Dim | Role::Heading => (240, 248, None),
            Role::Backdrop => (248, 240, None),
        };
        match self.ground {
            Background::Asked | Background::Terminal => named,
            Background::Light => Some(Color::Indexed(light)),
            Background::Dark => Some(Color::Indexed(dark)),
        }
    }
}

fn has_256(variable: &impl Fn(&str) -> Option<String>) -> bool {
    variable("TERM").is_some_and(|term| term.contains("256color"))
}

fn place(role: Role) -> usize {
    role as usize
}

/// Parses `COLORFGBG`, which rxvt, Konsole and iTerm2 set: `15;0` is white on black, `0;15` and `0;default;15` black on
/// white.
fn ground_of(colours: Option<String>) -> Background {
    match colours.and_then(|text| text.rsplit(';').next()?.parse::<u8>().ok()) {
        Some(7 | 15) => Background::Light,
        Some(0..=6 | 8) => Background::Dark,
        _ => Background::Terminal,
    }
}

fn of(colour: Colour) -> Color {
    const NAMED: [Color; 16] = [
        Color::Black,
        Color::Red,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Magenta,
        Color::Cyan,
        Color::Gray,
        Color::DarkGray,
        Color::LightRed,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightBlue,
        Color::LightMagenta,
        Color::LightCyan,
        Color::White,
    ];
    match colour {
        Colour::Default => Color::Reset,
        Colour::Named(number) => NAMED[usize::from(number % 16)],
        Colour::Index(index) => Color::Indexed(index),
        Colour::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = (u8, u8, u8);

    /// One of the 256 colours beyond the first 16: the cube of 6 steps, then the greys.
    fn cube(index: u8) -> Rgb {
        assert!(index >= 16, "the first 16 differ from terminal to terminal");
        if index >= 232 {
            let grey = 8 + 10 * (index - 232);
            return (grey, grey, grey);
        }
        let step = |digit: u8| if digit == 0 { 0 } else { 55 + 40 * digit };
        let index = index - 16;
        (step(index / 36), step(index / 6 % 6), step(index % 6))
    }

    /// Relative luminance as defined by WCAG 2.
    fn luminance((red, green, blue): Rgb) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.040_45 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    const WHITE: Rgb = (0xff, 0xff, 0xff);

    #[test]
    fn fixed_colours_can_be_read_on_their_background() {
        // White, the greys of light themes, Solarized Light; black, VS Code Dark, Gruvbox Dark, One Dark,
        // Solarized Dark.
        let light = [
            WHITE,
            (0xf2, 0xf2, 0xf2),
            (0xfa, 0xfa, 0xfa),
            (0xfd, 0xf6, 0xe3),
        ];
        let dark = [
            (0, 0, 0),
            (0x1e, 0x1e, 0x1e),
            (0x28, 0x28, 0x28),
            (0x28, 0x2c, 0x34),
            (0, 0x2b, 0x36),
        ];
        for (ground, backgrounds) in [
            (Background::Light, &light[..]),
            (Background::Dark, &dark[..]),
        ] {
            let ui = UiSettings {
                ground,
                ..UiSettings::default()
            };
            let palette = Palette::of(&ui, |_| None);
            let fixed = |role, name| match palette.colour(role) {
                Some(Color::Indexed(index)) => cube(index),
                _ => panic!("{name} has no fixed colour"),
            };
            let row = fixed(Role::Cursor, "cursor");
            for role in Role::ALL {
                let name = role.as_str();
                // The one is a ground, the other is meant to step back.
                if matches!(role, Role::Cursor | Role::Backdrop) {
                    continue;
                }
                for background in backgrounds.iter().chain([&row]) {
                    let found = contrast(fixed(role, name), *background);
                    assert!(found >= 4.5, "{name} on {background:?}: {found:.2}");
                }
            }
        }
        assert!((contrast(WHITE, (0, 0, 0)) - 21.0).abs() < 0.01);
    }

    /// Red, green, yellow, magenta and cyan of palettes that were designed to be readable.
    const READABLE: [(&str, Rgb, [Rgb; 5]); 4] = [
        (
            "GitHub Light",
            WHITE,
            [
                (0xcf, 0x22, 0x2e),
                (0x11, 0x63, 0x29),
                (0x4d, 0x2d, 0x00),
                (0x82, 0x50, 0xdf),
                (0x1b, 0x7c, 0x83),
            ],
        ),
        (
            "Modus Operandi",
            WHITE,
            [
                (0xa6, 0, 0),
                (0, 0x68, 0),
                (0x6f, 0x55, 0),
                (0x72, 0x10, 0x45),
                (0, 0x5e, 0x8b),
            ],
        ),
        (
            "Modus Vivendi",
            (0, 0, 0),
            [
                (0xff, 0x5f, 0x59),
                (0x44, 0xbc, 0x44),
                (0xd0, 0xbc, 0),
                (0xfe, 0xac, 0xd0),
                (0, 0xd3, 0xd0),
            ],
        ),
        (
            "Dracula",
            (0x28, 0x2a, 0x36),
            [
                (0xff, 0x55, 0x55),
                (0x50, 0xfa, 0x7b),
                (0xf1, 0xfa, 0x8c),
                (0xff, 0x79, 0xc6),
                (0x8b, 0xe9, 0xfd),
            ],
        ),
    ];

    #[test]
    fn the_named_colours_are_those_that_palettes_make_readable() {
        for (name, background, colours) in READABLE {
            for role in Role::ALL {
                let word = role.as_str();
                let at = match Palette::NAMED.colour(role) {
                    Some(Color::Red) => 0,
                    Some(Color::Green) => 1,
                    Some(Color::Yellow) => 2,
                    Some(Color::Magenta) => 3,
                    Some(Color::Cyan) => 4,
                    // Dim is an attribute, which the terminal derives from its text colour.
                    None => continue,
                    Some(other) => panic!("{word} is {other}, which light or dark palettes hide"),
                };
                let found = contrast(colours[at], background);
                assert!(found >= 4.5, "{word} in {name}: {found:.1}");
            }
        }
    }

    #[test]
    fn a_light_terminal_that_says_so_gets_colours_for_it() {
        let palette = |foreground: &'static str, term: &'static str| {
            Palette::of(&UiSettings::default(), |name| match name {
                "COLORFGBG" => Some(foreground.to_owned()),
                "TERM" => Some(term.to_owned()),
                _ => None,
            })
        };
        let key = |palette: Palette| palette.colour(Role::Key);
        assert_eq!(
            key(palette("0;15", "xterm-256color")),
            Some(Color::Indexed(24))
        );
        assert_eq!(
            key(palette("0;default;15", "rxvt-256color")),
            Some(Color::Indexed(24))
        );
        assert_eq!(
            key(palette("15;0", "xterm-256color")),
            Some(Color::Indexed(80))
        );
        assert_eq!(key(palette("0;15", "xterm")), Some(Color::Cyan));
        assert_eq!(key(palette("", "xterm-256color")), Some(Color::Cyan));
    }

    #[test]
    fn what_the_terminal_answers_decides_unless_the_configuration_does() {
        let of = |background| Palette::NAMED.on(background).colour(Role::Key);
        for dark in [(0, 0, 0), (0, 0x2b, 0x36), (0x28, 0x2c, 0x34)] {
            assert_eq!(of(dark), Some(Color::Indexed(80)), "{dark:?}");
        }
        for light in [WHITE, (0xfd, 0xf6, 0xe3), (0xee, 0xee, 0xee)] {
            assert_eq!(of(light), Some(Color::Indexed(24)), "{light:?}");
        }
        let asked = |ground, term: &'static str| {
            let ui = UiSettings {
                ground,
                ..UiSettings::default()
            };
            Palette::is_to_be_asked(&ui, |name| (name == "TERM").then(|| term.to_owned()))
        };
        assert!(asked(Background::Asked, "xterm-256color"));
        assert!(!asked(Background::Asked, "vt100"));
        assert!(!asked(Background::Terminal, "xterm-256color"));
        assert!(!asked(Background::Dark, "xterm-256color"));
    }

    #[test]
    fn own_colours_come_first() {
        let ui = UiSettings {
            colours: vec![
                (Role::Error, Colour::Rgb(1, 2, 3)),
                (Role::Dim, Colour::Named(8)),
                (Role::Ok, Colour::Default),
            ],
            ..UiSettings::default()
        };
        let palette = Palette::of(&ui, |_| None);
        assert_eq!(palette.colour(Role::Error), Some(Color::Rgb(1, 2, 3)));
        assert_eq!(palette.colour(Role::Dim), Some(Color::DarkGray));
        assert_eq!(palette.colour(Role::Ok), Some(Color::Reset));
        assert_eq!(palette.colour(Role::Removed), Some(Color::Red));
        for (at, role) in Role::ALL.into_iter().enumerate() {
            assert_eq!(place(role), at);
        }
    }
}
