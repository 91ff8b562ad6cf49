//! The JSON text of one object in any form.

use orch_machinery::{
    meta::Meta,
    partial::{ListMeta, write_partial_object},
    table::{Row, TableWriter, cells, columns_of},
};
use orch_registry::{
    catalog::ServedResource,
    error::{ApiError, Result},
    stored::{document, tree_of_bytes},
};
use orch_runtime::{Tree, resource_def::CellContext, scalar::Time};

use super::representation::Form;

/// Writes a stored object in a form, without a newline at the end. A table has its columns where
/// `with_columns` says so.
///
/// # Errors
/// 500 where the stored form cannot be read.
pub fn write(
    form: &Form,
    resource: &ServedResource,
    stored: &[u8],
    with_columns: bool,
    now: Time,
    out: &mut Vec<u8>,
) -> Result<()> {
    match form {
        Form::Plain => out.extend_from_slice(document(stored)),
        Form::Metadata(api_version) => {
            write_partial_object(&read(resource, stored)?, resource.def.type_def, api_version, out);
        }
        Form::Table(api_version, include) => {
            let tree = read(resource, stored)?;
            let columns = with_columns.then(|| columns_of(resource.def.columns));
            let meta =
                ListMeta { resource_version: Meta::of(&tree).resource_version(), ..ListMeta::default() };
            let mut table = TableWriter::start(api_version, *include, meta, columns, out);
            write_row(&mut table, resource, &tree, stored, now, out);
            table.end(out);
        }
    }
    Ok(())
}

/// Adds the row of an object to a table.
pub fn write_row(
    table: &mut TableWriter<'_>,
    resource: &ServedResource,
    tree: &Tree,
    stored: &[u8],
    now: Time,
    out: &mut Vec<u8>,
) {
    let context = CellContext { vocabulary: resource.vocabulary, now };
    let cells = cells(columns_of(resource.def.columns), tree, &context);
    let def = resource.def.type_def;
    let condition = resource.behaviour.row_condition(tree);
    table.row(&Row { cells: &cells, tree, bytes: document(stored), def, condition }, out);
}

/// The tree of a stored object, for forms that show a part of it.
///
/// # Errors
/// 500 where the stored form cannot be read.
pub fn read(resource: &ServedResource, stored: &[u8]) -> Result<Tree> {
    match tree_of_bytes(resource.def, stored) {
        Ok(tree) => Ok(partial(resource, tree)),
        Err(error) => Err(ApiError::internal("a stored object cannot be read", error)),
    }
}

/// The tree without the annotations that only the whole object shows.
pub fn partial(resource: &ServedResource, mut tree: Tree) -> Tree {
    let hidden = resource.behaviour.annotations_of_the_whole();
    if let Some(metadata) = tree.get_mut("metadata").and_then(Tree::as_object_mut)
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Tree::as_object_mut)
    {
        annotations.retain(|name, _| !hidden.contains(&name.as_str()));
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    tree
}
