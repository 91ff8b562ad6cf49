//! What the golden schemas call by name.

use crate::defaults_::v1::Paired;

/// Where `to` is not given, it is what `from` is.
pub fn paired(value: &mut Paired) {
    if value.to.is_empty() {
        value.to.clone_from(&value.from);
    }
}

/// A text that no schema could know.
pub fn computed() -> String {
    "computed".to_owned()
}
