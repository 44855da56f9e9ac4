//! An enum whose values are the cases of a table.

/// Defines the enum as written, and `ALL` with all its values.
macro_rules! cases {
    ($(#[$of_all:meta])* $seen:vis enum $name:ident { $($(#[$of_one:meta])* $case:ident,)* }) => {
        $(#[$of_all])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $seen enum $name {
            $($(#[$of_one])* $case),*
        }

        impl $name {
            $seen const ALL: &[Self] = &[$(Self::$case),*];
        }
    };
}

pub(crate) use cases;
