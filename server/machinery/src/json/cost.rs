//! What it costs to read an object back that is about to be stored.

use orch_runtime::{Tree, type_def::TypeDef};

use super::{
    Limits,
    budget::{Budget, Exceeded},
    decode::{DecodeError, decode_embedded},
};

/// Counts the values of an object of type `def` as they are counted when its text is read. `owners` is the
/// text of its managed fields where they are not in the tree.
///
/// # Errors
/// Which limit they exceed.
pub fn check_cost(
    tree: &Tree,
    def: &'static TypeDef,
    owners: Option<&str>,
    limits: &Limits,
) -> Result<(), Exceeded> {
    let mut budget = Budget::of(*limits);
    budget.fields(tree, def)?;
    match owners.map(|owners| decode_embedded(owners.as_bytes(), limits, &mut budget)) {
        Some(Err(DecodeError::TooLarge(exceeded))) => Err(exceeded),
        _ => Ok(()),
    }
}
