//! Files in which an operator configures a server: YAML, read strictly, with the place of each fault.
//!
//! A file is right as a whole or refused: an error names a line and a column, counted from 1, and what is
//! wrong there. What it may say is a type that reads itself with serde; unknown fields are for that type to
//! refuse (`deny_unknown_fields`). A field whose value is checked later is a [`Spanned`].
//!
//! The text becomes a tree of nodes first, and types read themselves from that tree. With a parser of YAML
//! under each type, the program would be a megabyte larger.
//!
//! [`read`] is how such files are read, and [`followed_files`] says when they are to be read again.

#![forbid(unsafe_code)]

mod composer;
mod de;
mod file;
pub mod followed_files;
mod node;
mod spanned;

use serde::de::DeserializeOwned;

pub use file::{read, read_text, read_text_once};
pub use node::Place;
pub use spanned::{Spanned, fault};

/// Where a file is wrong, and what is wrong there.
pub type Fault = (Place, String);

/// Reads a text.
///
/// # Errors
/// The first fault: of the YAML, or of the type.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    let node = composer::compose(text)?;
    de::read(&node)
}

/// Checks what a file calls itself: one of these versions of a kind.
///
/// # Errors
/// Where it is called something else.
pub fn check_kind(
    api_version: &Spanned<String>,
    versions: &[String],
    kind: &Spanned<String>,
    wanted: &str,
) -> Result<(), Fault> {
    if !versions.contains(&api_version.value) {
        let versions: Vec<String> = versions.iter().map(|version| format!("{version:?}")).collect();
        return Err(fault(api_version, format!("apiVersion must be {}", versions.join(" or "))));
    }
    if kind.value != wanted {
        return Err(fault(kind, format!("kind must be {wanted:?}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
