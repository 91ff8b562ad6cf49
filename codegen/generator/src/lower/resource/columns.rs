//! Columns of the Table form.

use crate::{
    idl::{ColumnExtension, ColumnType, ResourceExtension, Schema, Word},
    lower::Lowering,
    model::{Column, ColumnValue, Field, Model, Resolved, Shape, TypeId, TypeKind},
};

impl Lowering<'_, '_> {
    /// The columns as written; the server has those of kinds that write none.
    pub(super) fn columns(&mut self, written: &ResourceExtension) -> Vec<Column> {
        written.columns.iter().flatten().filter_map(|column| self.column(column)).collect()
    }

    fn column(&mut self, written: &ColumnExtension) -> Option<Column> {
        let (column_type, value) = match (&written.path, &written.count, &written.age, &written.function) {
            (Some(path), None, None, None) => (ColumnType::String, ColumnValue::Path(self.path(path)?)),
            (None, Some(paths), None, None) => (ColumnType::Integer, ColumnValue::Count(self.paths(paths))),
            (None, None, Some(path), None) => (ColumnType::String, ColumnValue::Age(self.path(path)?)),
            (None, None, None, Some(function)) => {
                (ColumnType::String, ColumnValue::Computed(function.value.clone()))
            }
            _ => {
                let message = format!("the column `{}` has not exactly one source", written.name.value);
                let help = "give it one of `path: .a.b`, `count: [.a, .b]`, `age: .a.b` and `fn: name`";
                self.diagnostics.error(&written.name.span, message, help).code("E0214");
                return None;
            }
        };
        let column_type = written.column_type.as_ref().map_or(column_type, |word| word.value);
        Some(Column {
            name: written.name.value.clone(),
            column_type: word(column_type).to_owned(),
            format: written.format.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
            description: written.description.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
            priority: written.priority.as_ref().map_or(0, |priority| priority.value),
            empty: written.empty.as_ref().map(|text| text.value.clone()).unwrap_or_default(),
            value,
        })
    }
}

/// Gives columns what they leave open and their field says: the description, and the type of the cells.
pub(in crate::lower) fn settle(model: &mut Model, written: &[&Schema]) {
    let mut columns: Vec<(usize, usize, Vec<Column>)> = Vec::new();
    for (version, group_version) in model.group_versions.iter_mut().enumerate() {
        for (index, resource) in group_version.resources.iter_mut().enumerate() {
            columns.push((version, index, std::mem::take(&mut resource.columns)));
        }
    }
    for (version, index, mut columns) in columns {
        let ty = model.group_versions[version].resources[index].ty;
        let typed: Vec<&str> = typed_columns(written[ty.0]);
        for column in &mut columns {
            let (ColumnValue::Path(path) | ColumnValue::Age(path)) = &column.value else { continue };
            let Some(field) = field_at(model, ty, path) else { continue };
            if column.description.is_empty() {
                column.description.clone_from(&field.description);
            }
            if matches!(column.value, ColumnValue::Path(_)) && !typed.contains(&column.name.as_str()) {
                word(column_type(model, field)).clone_into(&mut column.column_type);
            }
        }
        model.group_versions[version].resources[index].columns = columns;
    }
}

/// The columns whose type is written.
fn typed_columns(schema: &Schema) -> Vec<&str> {
    let columns = schema.resource.iter().flat_map(|resource| resource.columns.iter().flatten());
    columns.filter(|column| column.column_type.is_some()).map(|column| column.name.value.as_str()).collect()
}

/// The field at the end of a path of fields; none where it leads through a map, or nowhere.
fn field_at<'m>(model: &'m Model, ty: TypeId, path: &[String]) -> Option<&'m Field> {
    let TypeKind::Object(object) = &model.ty(ty).kind else { return None };
    let (first, rest) = path.split_first()?;
    let field = object.fields.iter().find(|field| field.name == *first)?;
    match field.usage.shape {
        _ if rest.is_empty() => Some(field),
        Shape::Named(next) => field_at(model, next, rest),
        _ => None,
    }
}

fn column_type(model: &Model, field: &Field) -> ColumnType {
    match model.resolve(&field.usage) {
        Resolved::Scalar(Shape::Boolean) => ColumnType::Boolean,
        Resolved::Scalar(Shape::Int32 | Shape::Int64) => ColumnType::Integer,
        Resolved::Scalar(Shape::Double) => ColumnType::Number,
        Resolved::Scalar(Shape::Time | Shape::MicroTime) => ColumnType::Date,
        _ => ColumnType::String,
    }
}

fn word(column_type: ColumnType) -> &'static str {
    ColumnType::WORDS.iter().find(|(_, known)| *known == column_type).map_or("", |(word, _)| word)
}
