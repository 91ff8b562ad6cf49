//! Conditions: rules whose error texts no schema keyword produces.

use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
};

/// A generation is not negative.
pub fn observed_generation(value: &i64, path: &Path<'_>, cx: &mut Validation<'_>) {
    if *value < 0 {
        cx.push(FieldError::invalid(path, value, "must be greater than or equal to zero"));
    }
}

/// A reason is required, and is one word or several, joined by `,` or `:`.
pub fn condition_reason(value: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let is_word = |ch: char| ch.is_ascii_alphanumeric() || ch == '_';
    let is_well_formed = value.starts_with(|ch: char| ch.is_ascii_alphabetic())
        && value.ends_with(is_word)
        && value.chars().all(|ch| is_word(ch) || ch == ',' || ch == ':');
    if value.is_empty() {
        cx.push(FieldError::required(path, "must be set"));
    } else if !is_well_formed {
        let detail = "a condition reason must start with alphabetic character, optionally followed by a \
                      string of alphanumeric characters or '_,:', and must end with an alphanumeric \
                      character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  \
                      or 'ReasonA:ReasonB', regex used for validation is \
                      '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
        cx.push(FieldError::invalid(path, value, detail));
    }
}
