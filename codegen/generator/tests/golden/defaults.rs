//! What the golden schemas call by name.

/// A text that no schema could know.
pub fn computed() -> String {
    "computed".to_owned()
}
