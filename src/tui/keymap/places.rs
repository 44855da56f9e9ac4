//! The macro for the tables of the places: one line per row, in a form that rustfmt leaves alone.

use super::Binding;

/// The place takes characters as text.
pub(super) const TEXT: bool = true;
/// The place takes characters as commands.
pub(super) const COMMANDS: bool = false;

/// Properties of a place.
pub(super) struct Place {
    pub(super) takes_text: bool,
    pub(super) rows: &'static [&'static [Binding]],
}

/// A row is: action, keys, footer hint, help. Generates `Focus` from the names of the places.
macro_rules! places {
    ($($(#[$doc:meta])* $place:ident $takes_text:ident {
        $($action:ident $([$($key:literal)+])? $($hint:literal $help:literal)?;)*
    } $(+ $more:ident)?)*) => {
        /// The place that receives keys now; determined only by [`crate::tui::page::view::View::focus`].
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
