//! A printed object, declared once: of each field its name, its type, when it is null, where its value comes from, and
//! what it means. The JSON and its description ([`crate::cli::commands`]) are made from the same declaration.
//!
//! ```text
//! shape! {
//!     pub(crate) ITEM = "item", "a group of a batch";
//!     pub(crate) fn item(item: &BatchItem, place: &Place) {
//!         "user_group_id": text = item.user_group_id, "the group";
//!         "rotation": number or "none was started" = item.rotation, "its number";     // an Option
//!         maybe "error": text = item.error, "why not; only present then";               // an Option, missing without a value
//!         "steps": [STEP] = item.steps.iter().map(step), "what was done";             // an array of other objects
//!         "handoff": {HAND_OFF} = hand_off(&item.handoff), "the hand-off";            // one other object
//!         ..PLACE = place_of(place);                                                  // the fields of another object
//!     }
//! }
//! ```

use std::fmt::Display;

use serde::Serialize;
use serde_json::{Map, Number, json};

use crate::cli::prelude::*;

/// An object as it is printed; its fields have an order.
pub(crate) type Object = Map<String, Value>;

/// A printed object and its fields, in order.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) fields: &'static [Field],
}

pub(crate) enum Field {
    One {
        name: &'static str,
        kind: Kind,
        /// When the field is null; empty if it never is.
        null: &'static str,
        meaning: &'static str,
    },
    /// All fields of another shape.
    Of(&'static Shape),
}

pub(crate) enum Kind {
    /// `text`, `number`, `bool` or `time`, with `[]` appended for an array; `object of ...` if the person chooses the
    /// keys.
    Plain(&'static str),
    Object(&'static Shape),
    Objects(&'static Shape),
}

/// A field as it is described. One below another has a path: `steps[].what`.
pub(crate) struct Described {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    pub(crate) null: &'static str,
    pub(crate) meaning: &'static str,
}

impl Shape {
    /// The fields and everything below them.
    pub(crate) fn described(&self) -> Vec<Described> {
        let mut all = Vec::new();
        self.describe("", &mut all);
        all
    }

    fn describe(&self, above: &str, all: &mut Vec<Described>) {
        for field in self.fields {
            match field {
                Field::Of(shape) => shape.describe(above, all),
                Field::One {
                    name,
                    kind,
                    null,
                    meaning,
                } => {
                    let (kind, below) = match kind {
                        Kind::Plain(kind) => (*kind, None),
                        Kind::Object(shape) => ("object", Some((shape, "."))),
                        Kind::Objects(shape) => ("object[]", Some((shape, "[]."))),
                    };
                    let path = format!("{above}{name}");
                    let inside = below.map(|(shape, sign)| (shape, format!("{path}{sign}")));
                    all.push(Described {
                        path,
                        kind,
                        null,
                        meaning,
                    });
                    if let Some((shape, above)) = inside {
                        shape.describe(&above, all);
                    }
                }
            }
        }
    }
}

/// A field that is always null.
pub(crate) const NOTHING: Option<&str> = None;

pub(crate) fn text(value: impl Display) -> Value {
    Value::String(value.to_string())
}

pub(crate) fn number(value: impl Into<Number>) -> Value {
    Value::Number(value.into())
}

pub(crate) fn bool(value: bool) -> Value {
    Value::Bool(value)
}

pub(crate) fn time(at: Timestamp) -> Value {
    text(at)
}

pub(crate) fn texts(values: impl IntoIterator<Item: Display>) -> Value {
    values.into_iter().map(text).collect()
}

/// An object whose keys the person chooses.
pub(crate) fn any(value: impl Serialize) -> Value {
    json!(value)
}

pub(crate) fn texts_by_key(value: impl Serialize) -> Value {
    json!(value)
}

pub(crate) fn numbers_by_key(
    values: impl IntoIterator<Item = (&'static str, impl Into<Number>)>,
) -> Value {
    let values = values.into_iter();
    values.map(|(key, value)| (key, number(value))).collect()
}

pub(crate) fn object(value: Object) -> Value {
    Value::Object(value)
}

pub(crate) fn objects(values: impl IntoIterator<Item = Object>) -> Value {
    values.into_iter().map(Value::Object).collect()
}

/// See the module; several may follow each other. Without a function it describes an object that is written elsewhere.
macro_rules! shape {
    (
        $vis:vis $shape:ident = $name:literal, $about:literal;
        $(#[$meta:meta])*
        $vis_fn:vis fn $make:ident $(<$life:lifetime>)? ($($arg:tt: $type:ty),* $(,)?) { $($fields:tt)* }
        $($more:tt)*
    ) => {
        $crate::cli::output::shape::shape! { $vis $shape = $name, $about; { $($fields)* } }

        $(#[$meta])*
        $vis_fn fn $make $(<$life>)? ($($arg: $type),*) -> $crate::cli::output::shape::Object {
            let mut object = $crate::cli::output::shape::Object::new();
            $crate::cli::output::shape::shape!(@put object $($fields)*);
            object
        }

        $crate::cli::output::shape::shape! { $($more)* }
    };
    () => {};
    ($vis:vis $shape:ident = $name:literal, $about:literal; { $($fields:tt)* }) => {
        $vis const $shape: $crate::cli::output::shape::Shape = $crate::cli::output::shape::Shape {
            name: $name,
            about: $about,
            fields: $crate::cli::output::shape::shape!(@described [] $($fields)*),
        };
    };

    // The fields, as they are described.
    (@described [$($done:tt)*]) => { &[$($done)*] };
    (@described [$($done:tt)*] ..$shape:path = $value:expr; $($rest:tt)*) => {
        $crate::cli::output::shape::shape!(@described [$($done)* $crate::cli::output::shape::Field::Of(&$shape),] $($rest)*)
    };
    (@described [$($done:tt)*] maybe $($rest:tt)*) => {
        $crate::cli::output::shape::shape!(@described [$($done)*] $($rest)*)
    };
    (@described [$($done:tt)*] $name:literal: $kind:tt $(or $null:literal)? $(= $value:expr)?, $meaning:expr; $($rest:tt)*) => {
        $crate::cli::output::shape::shape!(@described [$($done)* $crate::cli::output::shape::Field::One {
            name: $name,
            kind: $crate::cli::output::shape::shape!(@kind $kind),
            null: concat!($($null)?),
            meaning: $meaning,
        },] $($rest)*)
    };
    (@kind text) => { $crate::cli::output::shape::Kind::Plain("string") };
    (@kind number) => { $crate::cli::output::shape::Kind::Plain("number") };
    (@kind bool) => { $crate::cli::output::shape::Kind::Plain("bool") };
    (@kind time) => { $crate::cli::output::shape::Kind::Plain("time") };
    (@kind texts) => { $crate::cli::output::shape::Kind::Plain("string[]") };
    (@kind any) => { $crate::cli::output::shape::Kind::Plain("object of any") };
    (@kind texts_by_key) => { $crate::cli::output::shape::Kind::Plain("object of string") };
    (@kind numbers_by_key) => { $crate::cli::output::shape::Kind::Plain("object of number") };
    (@kind {$shape:path}) => { $crate::cli::output::shape::Kind::Object(&$shape) };
    (@kind [$shape:path]) => { $crate::cli::output::shape::Kind::Objects(&$shape) };

    // The fields, as they are printed.
    (@put $object:ident) => {};
    (@put $object:ident ..$shape:path = $value:expr; $($rest:tt)*) => {
        $object.extend($value);
        $crate::cli::output::shape::shape!(@put $object $($rest)*);
    };
    (@put $object:ident maybe $name:literal: $kind:tt $(or $null:literal)? = $value:expr, $meaning:expr; $($rest:tt)*) => {
        if let Some(value) = $value {
            $object.insert($name.to_owned(), $crate::cli::output::shape::shape!(@value $kind [$($null)?] value));
        }
        $crate::cli::output::shape::shape!(@put $object $($rest)*);
    };
    (@put $object:ident $name:literal: $kind:tt $(or $null:literal)? = $value:expr, $meaning:expr; $($rest:tt)*) => {
        $object.insert($name.to_owned(), $crate::cli::output::shape::shape!(@value $kind [$($null)?] $value));
        $crate::cli::output::shape::shape!(@put $object $($rest)*);
    };
    (@value [$shape:path] $null:tt $value:expr) => {
        $crate::cli::output::shape::shape!(@value objects $null $value)
    };
    (@value {$shape:path} $null:tt $value:expr) => {
        $crate::cli::output::shape::shape!(@value object $null $value)
    };
    (@value text [] $value:expr) => { $crate::cli::output::shape::text(&$value) };
    (@value $kind:ident [] $value:expr) => { $crate::cli::output::shape::$kind($value) };
    (@value $kind:ident [$null:literal] $value:expr) => {
        $value.map_or(serde_json::Value::Null, $crate::cli::output::shape::$kind)
    };
}
pub(crate) use shape;

#[cfg(test)]
mod tests {
    use super::*;

    shape! {
        INNER = "inner", "";
        fn inner(of: u8) {
            "number": number = of, "a number";
        }
    }
    shape! {
        OUTER = "outer", "everything a field can be";
        fn outer(is_there: bool) {
            "text": text or "there is none" = is_there.then_some("x"), "a text";
            maybe "rare": texts = is_there.then_some(["y"]), "some texts";
            "one": {INNER} or "not there" = is_there.then(|| inner(1)), "an object";
            "many": [INNER] = [2, 3].map(inner), "objects";
            ..INNER = inner(4);
        }
    }

    #[test]
    fn what_is_described_is_what_is_printed() {
        let described = OUTER.described().into_iter();
        let described = described.map(|field| (field.path, field.kind, field.null));
        let expected = [
            ("text", "string", "there is none"),
            ("rare", "string[]", ""),
            ("one", "object", "not there"),
            ("one.number", "number", ""),
            ("many", "object[]", ""),
            ("many[].number", "number", ""),
            ("number", "number", ""),
        ];
        let expected = expected.map(|(path, kind, null)| (path.to_owned(), kind, null));
        assert_eq!(described.collect::<Vec<_>>(), expected);
        let printed = |is_there| json!(outer(is_there)).to_string();
        assert_eq!(
            printed(true),
            r#"{"text":"x","rare":["y"],"one":{"number":1},"many":[{"number":2},{"number":3}],"number":4}"#
        );
        assert_eq!(
            printed(false),
            r#"{"text":null,"one":null,"many":[{"number":2},{"number":3}],"number":4}"#
        );
    }
}
