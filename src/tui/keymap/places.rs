//! How the tables of the places are written: a row a line, in a shape that the formatter leaves alone.

use super::Binding;

/// Characters are text.
pub(super) const TEXT: bool = true;
/// Characters are commands.
pub(super) const COMMANDS: bool = false;

/// What a place is.
pub(super) struct Place {
    pub(super) takes_text: bool,
    pub(super) rows: &'static [&'static [Binding]],
}

/// A row: action, keys, footer hint, help. Makes `Focus` of the names of the places.
macro_rules! places {
    ($($(#[$doc:meta])* $place:ident $takes_text:ident {
        $($action:ident $([$($key:literal)+])? $($hint:literal $help:literal)?;)*
    } $(+ $more:ident)?)*) => {
        /// Where keys go now; derived from the panes in one place ([`crate::tui::panes::View::focus`]).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Focus {
            $($(#[$doc])* $place),*
        }

        impl Focus {
            pub const ALL: [Self; PLACES.len()] = [$(Self::$place),*];
        }

        static PLACES: [Place; [$(Focus::$place),*].len()] = [$(Place {
            takes_text: $takes_text,
            rows: &[&[$(
                Binding::shared(Action::$action, $takes_text)
                    $(.with_keys(&[$($key),+]))?
                    $(.with_words($hint, $help))?
                    .complete()
            ),*] $(, $more)?],
        }),*];
    };
}

pub(super) use places;
