//! A number, or a text that mostly is a percentage or a name.

use std::{
    fmt::{self, Display},
    str::FromStr,
};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

use super::ScalarError;
use crate::field_error::Shown;

/// A JSON number of 32 bits, or a JSON string.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntOrString {
    /// A count, a port ...
    Int(i32),
    /// `50%`, a port's name ...
    String(String),
}

impl IntOrString {
    /// The number, or the percentage of `total`; parts of one are rounded up or down.
    ///
    /// # Errors
    /// [`ScalarError::NotAPercentage`] for any other text, [`ScalarError::ShareRange`] if the result does not
    /// fit.
    pub fn scaled_value(&self, total: i32, round_up: bool) -> Result<i32, ScalarError> {
        let text = match self {
            IntOrString::Int(value) => return Ok(*value),
            IntOrString::String(text) => text,
        };
        let percent = self.percentage().ok_or_else(|| ScalarError::NotAPercentage(text.clone()))?;
        let hundredfold = i64::from(percent) * i64::from(total);
        let share = hundredfold.div_euclid(100) + i64::from(round_up && hundredfold.rem_euclid(100) != 0);
        i32::try_from(share).map_err(|_| ScalarError::ShareRange)
    }

    /// The number before the percent sign, if this is a percentage: a whole number and `%`, nothing else.
    pub fn percentage(&self) -> Option<i32> {
        match self {
            IntOrString::Int(_) => None,
            IntOrString::String(text) => text.strip_suffix('%')?.parse().ok(),
        }
    }
}

impl Default for IntOrString {
    fn default() -> Self {
        IntOrString::Int(0)
    }
}

impl From<i32> for IntOrString {
    fn from(value: i32) -> Self {
        IntOrString::Int(value)
    }
}

impl From<&str> for IntOrString {
    fn from(text: &str) -> Self {
        IntOrString::String(text.to_owned())
    }
}

impl FromStr for IntOrString {
    type Err = std::convert::Infallible;

    /// A whole number of 32 bits is taken as a number, everything else as a text.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| IntOrString::String(text.to_owned()), IntOrString::Int))
    }
}

impl Display for IntOrString {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IntOrString::Int(value) => Display::fmt(value, out),
            IntOrString::String(text) => out.write_str(text),
        }
    }
}

impl Shown for IntOrString {
    fn shown(&self) -> String {
        match self {
            IntOrString::Int(value) => value.shown(),
            // As the reference shows it, which prints the parts of its type.
            IntOrString::String(text) => {
                format!("intstr.IntOrString{{Type:1, IntVal:0, StrVal:{}}}", text.shown())
            }
        }
    }
}

impl Serialize for IntOrString {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            IntOrString::Int(value) => serializer.serialize_i32(*value),
            IntOrString::String(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for IntOrString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntOrStringVisitor)
    }
}

struct IntOrStringVisitor;

impl Visitor<'_> for IntOrStringVisitor {
    type Value = IntOrString;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an integer of 32 bits or a string")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<IntOrString, E> {
        let value =
            i32::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))?;
        Ok(IntOrString::Int(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<IntOrString, E> {
        let value =
            i32::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))?;
        Ok(IntOrString::Int(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<IntOrString, E> {
        Ok(IntOrString::String(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<IntOrString, E> {
        Ok(IntOrString::String(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn on_the_wire_it_is_a_number_or_a_string() {
        let table = [
            (json!(5), IntOrString::Int(5)),
            (json!(i32::MIN), IntOrString::Int(i32::MIN)),
            (json!("50%"), "50%".into()),
            (json!("5"), "5".into()),
            (json!(""), "".into()),
        ];
        for (wire, value) in table {
            assert_eq!(serde_json::from_value::<IntOrString>(wire.clone()).unwrap(), value);
            assert_eq!(serde_json::to_value(&value).unwrap(), wire);
        }
        for wire in
            [json!(i64::from(i32::MAX) + 1), json!(u64::MAX), json!(1.5), json!(true), json!(null), json!([])]
        {
            assert!(serde_json::from_value::<IntOrString>(wire.clone()).is_err(), "{wire}");
        }
    }

    #[test]
    fn shares_are_rounded_as_asked() {
        let table: &[(&str, i32, bool, Option<i32>)] = &[
            ("50%", 10, false, Some(5)),
            ("25%", 10, true, Some(3)),
            ("25%", 10, false, Some(2)),
            ("0%", 10, true, Some(0)),
            ("100%", i32::MAX, true, Some(i32::MAX)),
            ("101%", i32::MAX, true, None),
            ("-50%", 3, true, Some(-1)),
            ("-50%", 3, false, Some(-2)),
            ("25%", -10, false, Some(-3)),
            ("", 10, false, None),
            ("5", 10, false, None),
            ("%", 10, false, None),
            ("5 %", 10, false, None),
            ("5%%", 10, false, None),
            ("99999999999%", 1, false, None),
        ];
        for (text, total, round_up, share) in table {
            assert_eq!(
                IntOrString::from(*text).scaled_value(*total, *round_up).ok(),
                *share,
                "{text} of {total}"
            );
        }
        assert_eq!(IntOrString::Int(-7).scaled_value(3, true), Ok(-7));
        assert_eq!(
            IntOrString::from("a").scaled_value(1, true).unwrap_err().to_string(),
            "invalid value for IntOrString: \"a\" is not a percentage"
        );
    }

    #[test]
    fn as_text() {
        assert_eq!("5".parse(), Ok(IntOrString::Int(5)));
        assert_eq!("5%".parse(), Ok(IntOrString::from("5%")));
        assert_eq!(
            (IntOrString::Int(5).to_string(), IntOrString::from("x").to_string()),
            ("5".into(), "x".into())
        );
        assert_eq!(
            (IntOrString::Int(5).shown(), IntOrString::from("x").shown()),
            ("5".into(), r#"intstr.IntOrString{Type:1, IntVal:0, StrVal:"x"}"#.into())
        );
        assert_eq!(
            (IntOrString::from("30%").percentage(), IntOrString::Int(30).percentage()),
            (Some(30), None)
        );
    }
}
