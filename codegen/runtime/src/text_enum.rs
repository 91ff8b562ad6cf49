//! Strings with a closed set of values.
//!
//! A text outside the set survives decoding as `Unlisted`, so that it is reported by validation, together
//! with everything else that is wrong, and not as a decoding error. The empty text is `Unlisted("")`: not
//! given.

use std::fmt::Debug;

use crate::{
    field_error::{FieldError, Validation},
    path::Path,
};

#[doc(hidden)]
pub use serde;

/// What every type made by [`text_enum!`](crate::text_enum!) can do.
pub trait TextEnum: Clone + Debug + Default + PartialEq + From<String> {
    /// The values that the schema lists, as written on the wire, in the order of the schema.
    const VALUES: &'static [&'static str];

    /// The text on the wire.
    fn as_str(&self) -> &str;

    /// Whether the text is one that the schema lists.
    fn is_listed(&self) -> bool;

    /// Whether no value is given.
    fn is_empty(&self) -> bool {
        self.as_str().is_empty()
    }
}

/// Reports a text that the schema does not list; an empty one is reported as missing.
pub fn listed<E: TextEnum>(value: &E, path: &Path<'_>, cx: &mut Validation<'_>) {
    if value.is_listed() {
        return;
    }
    cx.push(if value.is_empty() {
        FieldError::required(path, "")
    } else {
        FieldError::not_supported(path, value.as_str(), E::VALUES)
    });
}

/// Defines a string with a closed set of values: `text_enum! { pub enum Phase { Active = "Active" } }`.
#[macro_export]
macro_rules! text_enum {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident { $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)+ }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_attribute])* #[doc = concat!("`", $text, "`.")] $variant,)+
            /// A text that the schema does not list; validation refuses it.
            Unlisted(String),
        }

        impl $crate::text_enum::TextEnum for $name {
            const VALUES: &'static [&'static str] = &[$($text),+];

            fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Unlisted(text) => text,
                }
            }

            fn is_listed(&self) -> bool {
                !matches!(self, Self::Unlisted(_))
            }
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self::Unlisted(String::new())
            }
        }

        impl ::std::convert::From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Unlisted(text),
                }
            }
        }

        impl ::std::convert::From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::from(text.to_owned())
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, out: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                out.write_str($crate::text_enum::TextEnum::as_str(self))
            }
        }

        impl $crate::field_error::Shown for $name {
            fn shown(&self) -> String {
                $crate::field_error::Shown::shown($crate::text_enum::TextEnum::as_str(self))
            }
        }

        impl $crate::text_enum::serde::Serialize for $name {
            fn serialize<S: $crate::text_enum::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str($crate::text_enum::TextEnum::as_str(self))
            }
        }

        impl<'de> $crate::text_enum::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::text_enum::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                <String as $crate::text_enum::serde::Deserialize>::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::EXAMPLE;

    crate::text_enum! {
        /// A colour.
        pub enum Colour {
            Red = "Red",
            DarkGreen = "dark-green",
        }
    }

    #[test]
    fn every_text_survives_a_round_trip() {
        for (text, value) in [
            ("Red", Colour::Red),
            ("dark-green", Colour::DarkGreen),
            ("blue", Colour::Unlisted("blue".into())),
            ("", Colour::default()),
        ] {
            assert_eq!(Colour::from(text), value);
            assert_eq!(value.to_string(), text);
            let json = serde_json::to_value(&value).unwrap();
            assert_eq!(json, serde_json::json!(text));
            assert_eq!(serde_json::from_value::<Colour>(json).unwrap(), value);
        }
    }

    #[test]
    fn validation_reports_what_is_not_listed() {
        let report = |value: Colour| {
            let mut cx = Validation::new(&EXAMPLE);
            listed(&value, &Path::ROOT.field("colour"), &mut cx);
            cx.into_errors().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(report(Colour::Red), Vec::<String>::new());
        assert_eq!(report(Colour::default()), ["colour: Required value"]);
        assert_eq!(
            report("blue".into()),
            [r#"colour: Unsupported value: "blue": supported values: "Red", "dark-green""#]
        );
    }
}
