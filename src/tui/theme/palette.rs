//! The colour of each role: the 16 named colours, fixed ones for a light or a dark background, or the person's own.

use ratatui::style::Color;

use crate::config::{Background, Colour, Role, UiSettings};

/// The colours of all roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    ground: Background,
    own: [Option<Color>; Role::ALL.len()],
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
        let light = [0xff_ff_ff, 0xf2_f2_f2, 0xfa_fa_fa, 0xfd_f6_e3].map(rgb);
        let dark = [0, 0x1e_1e_1e, 0x28_28_28, 0x28_2c_34, 0x00_2b_36].map(rgb);
        for (ground, backgrounds) in [(Background::Light, &light[..]), (Background::Dark, &dark)] {
            let ui = UiSettings {
                ground,
                ..UiSettings::default()
            };
            let palette = Palette::of(&ui, |_| None);
            let fixed = |role: Role| match palette.colour(role) {
                Some(Color::Indexed(index)) => cube(index),
                _ => panic!("{} has no fixed colour", role.as_str()),
            };
            let row = fixed(Role::Cursor);
            // The one is a ground, the other is meant to step back.
            let is_text = |role: &Role| !matches!(role, Role::Cursor | Role::Backdrop);
            for role in Role::ALL.into_iter().filter(is_text) {
                for background in backgrounds.iter().chain([&row]) {
                    let found = contrast(fixed(role), *background);
                    assert!(
                        found >= 4.5,
                        "{} on {background:?}: {found:.2}",
                        role.as_str()
                    );
                }
            }
        }
        assert!((contrast(WHITE, (0, 0, 0)) - 21.0).abs() < 0.01);
    }

    fn rgb(hex: u32) -> Rgb {
        let [_, red, green, blue] = hex.to_be_bytes();
        (red, green, blue)
    }

    /// The background, then red, green, yellow, magenta and cyan of palettes that were designed to be readable.
    #[rustfmt::skip] // A table: one palette per line.
    const READABLE: [(&str, [u32; 6]); 4] = [
        ("GitHub Light", [0xff_ff_ff, 0xcf_22_2e, 0x11_63_29, 0x4d_2d_00, 0x82_50_df, 0x1b_7c_83]),
        ("Modus Operandi", [0xff_ff_ff, 0xa6_00_00, 0x00_68_00, 0x6f_55_00, 0x72_10_45, 0x00_5e_8b]),
        ("Modus Vivendi", [0x00_00_00, 0xff_5f_59, 0x44_bc_44, 0xd0_bc_00, 0xfe_ac_d0, 0x00_d3_d0]),
        ("Dracula", [0x28_2a_36, 0xff_55_55, 0x50_fa_7b, 0xf1_fa_8c, 0xff_79_c6, 0x8b_e9_fd]),
    ];
    #[test]
    fn the_named_colours_are_those_that_palettes_make_readable() {
        for (name, colours) in READABLE {
            let [background, colours @ ..] = colours.map(rgb);
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
        for (foreground, term, key) in [
            ("0;15", "xterm-256color", Color::Indexed(24)),
            ("0;default;15", "rxvt-256color", Color::Indexed(24)),
            ("15;0", "xterm-256color", Color::Indexed(80)),
            ("0;15", "xterm", Color::Cyan),
            ("", "xterm-256color", Color::Cyan),
        ] {
            let palette = Palette::of(&UiSettings::default(), |name| match name {
                "COLORFGBG" => Some(foreground.to_owned()),
                "TERM" => Some(term.to_owned()),
                _ => None,
            });
            assert_eq!(palette.colour(Role::Key), Some(key), "{foreground} {term}");
        }
    }

    #[test]
    fn what_the_terminal_answers_decides_unless_the_configuration_does() {
        for (background, index) in [
            (0x00_00_00, 80),
            (0x00_2b_36, 80),
            (0x28_2c_34, 80),
            (0xff_ff_ff, 24),
            (0xfd_f6_e3, 24),
            (0xee_ee_ee, 24),
        ] {
            let key = Palette::NAMED.on(rgb(background)).colour(Role::Key);
            assert_eq!(key, Some(Color::Indexed(index)), "{background:x}");
        }
        for (ground, term, is_asked) in [
            (Background::Asked, "xterm-256color", true),
            (Background::Asked, "vt100", false),
            (Background::Terminal, "xterm-256color", false),
            (Background::Dark, "xterm-256color", false),
        ] {
            let ui = UiSettings {
                ground,
                ..UiSettings::default()
            };
            let variable = |name: &str| (name == "TERM").then(|| term.to_owned());
            assert_eq!(Palette::is_to_be_asked(&ui, variable), is_asked, "{term}");
        }
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
        for (role, colour) in [
            (Role::Error, Color::Rgb(1, 2, 3)),
            (Role::Dim, Color::DarkGray),
            (Role::Ok, Color::Reset),
            (Role::Removed, Color::Red),
        ] {
            assert_eq!(palette.colour(role), Some(colour));
        }
        for (at, role) in Role::ALL.into_iter().enumerate() {
            assert_eq!(place(role), at);
        }
    }
}
