//! Schema files in, Rust out.
//!
//! `source` (files, places) -> `idl` (as written) -> `load` (folders) -> `lower` (names to ids) -> `model`
//! (what the emitters see) -> `check` (rules over all of it). [`load`] runs all of them and never stops at a
//! mistake.

pub mod check;
pub mod diagnostic;
pub mod diff;
pub mod driver;
pub mod emit;
pub mod explain;
pub mod export;
pub mod expression;
pub mod folder;
pub mod functions;
pub mod idl;
pub mod load;
pub mod lower;
pub mod lsp;
pub mod model;
pub mod package;
pub mod reference;
pub mod scaffold;
pub mod seed;
pub mod source;
pub mod watch;

use diagnostic::Diagnostics;
pub use driver::Build;
pub use folder::Folder;
use model::Model;

/// Where the schema files are.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The folder to generate from. What an import of the same folder holds is left to that import.
    pub schema: Folder,
    /// Folders whose types are linked, not generated, each with the crate that holds their generated code:
    /// `("orch_api", "../schema")`.
    pub imports: Vec<(String, Folder)>,
}

/// What [`load`] found.
#[derive(Debug)]
pub struct Loaded {
    /// The valid parts. Where there are errors, rules that hold for every accepted model may be broken in it.
    pub model: Model,
    /// Everything that is wrong or questionable.
    pub diagnostics: Diagnostics,
}

/// Reads, resolves and checks schema files. It never fails: everything that is wrong is a diagnostic.
pub fn load(inputs: &Inputs) -> Loaded {
    load_with(inputs, Diagnostics::default())
}

/// The same, where the text of some files is remembered already: that counts, and not what is on disk.
pub fn load_with(inputs: &Inputs, mut diagnostics: Diagnostics) -> Loaded {
    let files = load::load(inputs, &mut diagnostics);
    let lowered = lower::lower(&files, &mut diagnostics);
    check::check(&lowered, &mut diagnostics);
    Loaded { model: lowered.model, diagnostics }
}
