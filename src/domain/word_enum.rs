//! Enums whose variants are words: stored, printed and typed. Each word stands beside its variant, once.

/// Makes the enum, `ALL` of it in its order, and the way to its words and back.
macro_rules! word_enum {
    ($(#[$about:meta])* $seen:vis enum $name:ident {
        $($(#[$of_one:meta])* $variant:ident = $word:literal,)+
    }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $(#[$about])*
        $seen enum $name {
            $($(#[$of_one])* $variant,)+
        }

        impl $name {
            $seen const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            $seen const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            $seen fn parse(text: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_str() == text)
            }
        }
    };
}
pub(crate) use word_enum;
