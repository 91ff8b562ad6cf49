//! Amounts: a number or a percentage.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    scalar::IntOrString,
};

/// A number that is not negative, or a percentage up to `100%`.
pub fn int_or_percent(value: &IntOrString, path: &Path<'_>, cx: &mut Validation<'_>) {
    match value {
        IntOrString::Int(number) if *number < 0 => {
            cx.push(FieldError::invalid(path, number, "must be greater than or equal to 0"));
        }
        IntOrString::Int(_) => {}
        IntOrString::String(text) => match percent(text) {
            None => {
                let detail = "a valid percent string must be a numeric string followed by an ending '%' \
                              (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
                cx.push(FieldError::invalid(path, text, detail));
            }
            Some(percent) if percent > 100 => {
                cx.push(FieldError::invalid(path, text, "must not be greater than 100%"));
            }
            Some(_) => {}
        },
    }
}

/// The number before `%`. A number that is too large becomes the maximum.
fn percent(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}
