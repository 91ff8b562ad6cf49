//! Quantities, times, durations and the like: what is read is written in one form, which is read as the same.

use std::{fmt::Display, str::FromStr};

use orch_runtime::scalar::{ByteString, Duration, IntOrString, MicroTime, Quantity, Time};

pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    returns::<Quantity>(text);
    returns::<Time>(text);
    returns::<MicroTime>(text);
    returns::<Duration>(text);
    returns::<IntOrString>(text);
    returns::<ByteString>(text);
    if let Ok(quantity) = text.parse::<Quantity>() {
        let _ = (quantity.sign(), quantity.milli_value(), quantity.is_zero());
    }
}

fn returns<T: FromStr + Display + PartialEq>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    let written = value.to_string();
    assert!(written.parse::<T>().is_ok_and(|again| again == value), "{text} is written as {written}");
}
