//! Names by which an object refers to another one that is looked up for it.

use orch_registry::error::{ApiError, Result};
use orch_runtime::{constraint::path_segment, field_error::Shown as _};

/// Checks that an object can have this name, before it is looked for.
///
/// # Errors
/// 400.
pub(crate) fn check(name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(ApiError::BadRequest("Name parameter required.".to_owned()));
    }
    let faults = path_segment(name);
    if faults.is_empty() {
        return Ok(());
    }
    Err(ApiError::BadRequest(format!("Name parameter invalid: {}: {}", name.shown(), faults.join(";"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_there_and_are_segments_of_paths() {
        for (name, expected) in [
            ("", "Name parameter required."),
            ("..", r#"Name parameter invalid: "..": may not be '..'"#),
            ("a/b%", r#"Name parameter invalid: "a/b%": may not contain '/';may not contain '%'"#),
        ] {
            assert_eq!(check(name), Err(ApiError::BadRequest(expected.to_owned())));
        }
        assert_eq!(check("system:node"), Ok(()));
    }
}
