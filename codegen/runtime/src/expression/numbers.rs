//! Numbers, sizes, and single values out of values of any type.

use super::{fault::Fault, value::Value};

/// How many items there are.
pub fn count(items: usize) -> i64 {
    i64::try_from(items).unwrap_or(i64::MAX)
}

/// How many characters a text has.
pub fn characters(text: &str) -> i64 {
    count(text.chars().count())
}

/// Whether two numbers are equal, as IEEE 754 has it.
#[expect(clippy::float_cmp, reason = "the language compares them so")]
pub fn same_double(one: f64, other: f64) -> bool {
    one == other
}

/// `-number`, and the like: what does not fit is a fault.
pub fn fits(number: Option<i64>) -> Result<i64, Fault> {
    number.ok_or(Fault::Overflow("integer"))
}

/// `one / other`.
pub fn quotient(one: i64, other: i64) -> Result<i64, Fault> {
    if other == 0 { Err(Fault::DivisionByZero) } else { fits(one.checked_div(other)) }
}

/// `one % other`.
pub fn remainder(one: i64, other: i64) -> Result<i64, Fault> {
    if other == 0 { Err(Fault::ModulusByZero) } else { fits(one.checked_rem(other)) }
}

/// A whole number, where a value is one.
pub fn int(value: &Value) -> Result<i64, Fault> {
    if let Value::Int(number) = value { Ok(*number) } else { Err(Fault::wrong_type()) }
}

/// A whole number without a sign, where a value is one.
pub fn uint(value: &Value) -> Result<u64, Fault> {
    if let Value::Uint(number) = value { Ok(*number) } else { Err(Fault::wrong_type()) }
}

/// A number, where a value is one.
pub fn double(value: &Value) -> Result<f64, Fault> {
    if let Value::Double(number) = value { Ok(*number) } else { Err(Fault::wrong_type()) }
}

/// A truth value, where a value is one.
pub fn boolean(value: &Value) -> Result<bool, Fault> {
    if let Value::Bool(holds) = value { Ok(*holds) } else { Err(Fault::wrong_type()) }
}

/// A text, where a value is one.
pub fn text(value: &Value) -> Result<&str, Fault> {
    if let Value::Text(text) = value { Ok(text) } else { Err(Fault::wrong_type()) }
}

#[cfg(test)]
mod tests {
    use super::{fits, quotient, remainder};
    use crate::expression::fault::Fault;

    #[test]
    fn what_has_no_result_is_a_fault() {
        assert_eq!(quotient(7, -2), Ok(-3));
        assert_eq!(remainder(-7, 2), Ok(-1));
        assert_eq!(quotient(1, 0), Err(Fault::DivisionByZero));
        assert_eq!(remainder(1, 0), Err(Fault::ModulusByZero));
        for overflow in [quotient(i64::MIN, -1), remainder(i64::MIN, -1), fits(i64::MAX.checked_add(1))] {
            assert_eq!(overflow, Err(Fault::Overflow("integer")));
        }
    }
}
