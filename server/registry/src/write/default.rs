//! The stage **default**: absent fields get the defaults of the schema.

use super::draft::Draft;

/// Fills in the defaults of the object and of everything in it.
pub fn default(draft: &mut Draft<'_>) {
    draft.object.set_defaults();
}
