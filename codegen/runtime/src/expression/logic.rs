//! `&&` and `||`, where an operand may fail: the result of another one may decide all the same.

use super::fault::Fault;

/// Both hold. One that does not hold decides, even where the other one fails.
pub fn and(
    one: impl FnOnce() -> Result<bool, Fault>,
    other: impl FnOnce() -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    match one() {
        Ok(true) => other(),
        Ok(false) => Ok(false),
        Err(fault) => match other() {
            Ok(false) => Ok(false),
            _ => Err(fault),
        },
    }
}

/// One holds. One that holds decides, even where the other one fails.
pub fn or(
    one: impl FnOnce() -> Result<bool, Fault>,
    other: impl FnOnce() -> Result<bool, Fault>,
) -> Result<bool, Fault> {
    match one() {
        Ok(false) => other(),
        Ok(true) => Ok(true),
        Err(fault) => match other() {
            Ok(true) => Ok(true),
            _ => Err(fault),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{and, or};
    use crate::expression::fault::Fault::{DivisionByZero, ModulusByZero};

    #[test]
    fn an_operand_that_decides_makes_up_for_one_that_failed() {
        let table = [
            (Ok(true), Ok(true), Ok(true), Ok(true)),
            (Ok(true), Ok(false), Ok(false), Ok(true)),
            (Err(DivisionByZero), Ok(false), Ok(false), Err(DivisionByZero)),
            (Err(DivisionByZero), Ok(true), Err(DivisionByZero), Ok(true)),
            (Ok(true), Err(DivisionByZero), Err(DivisionByZero), Ok(true)),
            (Ok(false), Err(DivisionByZero), Ok(false), Err(DivisionByZero)),
            (Err(DivisionByZero), Err(ModulusByZero), Err(DivisionByZero), Err(DivisionByZero)),
        ];
        for (one, other, both, some) in table {
            assert_eq!(and(|| one.clone(), || other.clone()), both, "{one:?} && {other:?}");
            assert_eq!(or(|| one.clone(), || other.clone()), some, "{one:?} || {other:?}");
        }
    }
}
