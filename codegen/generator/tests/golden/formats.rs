//! The formats of strings that the golden schemas name.

/// Texts of an even length.
pub fn even(value: &str) -> Vec<String> {
    if value.len().is_multiple_of(2) { Vec::new() } else { vec!["must be even".to_owned()] }
}
