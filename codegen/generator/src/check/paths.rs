//! Paths of columns and selectable fields lead somewhere.

use super::walk;
use crate::{
    diagnostic::{Diagnostics, suggest},
    idl::ColumnExtension,
    lower::Lowered,
    model::{Model, Resolved, Shape, TypeId, TypeKind},
    source::Spanned,
};

/// Selectors know these without being told.
const ALWAYS_SELECTABLE: &[&str] = &[".metadata.name", ".metadata.namespace"];

/// Cells come from fields that exist, and that can be shown.
pub(super) fn columns(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        for column in written.extension.columns.iter().flatten() {
            for (source, paths) in sources(column) {
                for path in paths {
                    let target = follow(&lowered.model, written.resource.ty, path, diagnostics);
                    if target.is_some_and(|target| !(source.shows)(&lowered.model, target)) {
                        let message = format!("`{}` {}", path.value, source.fault);
                        diagnostics.error(&path.span, message, source.help);
                    }
                }
            }
        }
    }
}

/// Where cells come from, and what must stand there.
struct Source {
    shows: fn(&Model, Resolved<'_>) -> bool,
    fault: &'static str,
    help: &'static str,
}

const VALUE: Source = Source {
    shows: |model, target| match target {
        Resolved::List(value, _) | Resolved::Map { value, .. } => {
            let value = model.resolve(value);
            value.is_scalar() || matches!(value, Resolved::Any)
        }
        target => !matches!(target, Resolved::Object(..)),
    },
    fault: "is neither a single value nor a list or map of such",
    help: "show a single value below it, or the number of entries: `count: [...]`",
};

const COUNT: Source = Source {
    shows: |_, target| matches!(target, Resolved::List(..) | Resolved::Map { .. } | Resolved::Any),
    fault: "has no entries to count",
    help: "only lists and maps have entries: write `path:`",
};

const AGE: Source = Source {
    shows: |_, target| matches!(target, Resolved::Scalar(Shape::Time | Shape::MicroTime)),
    fault: "is not a time",
    help: "an age is counted from a field with `format: date-time`",
};

fn sources(column: &ColumnExtension) -> [(Source, &[Spanned<String>]); 3] {
    let count = column.count.as_deref().unwrap_or_default();
    [(VALUE, column.path.as_slice()), (COUNT, count), (AGE, column.age.as_slice())]
}

/// Selectable fields exist, are single values, and are not those that are always selectable.
pub(super) fn selectable_fields(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let paths: Vec<&Spanned<String>> = written.extension.selectable_fields.iter().flatten().collect();
        for (index, path) in paths.iter().enumerate() {
            if ALWAYS_SELECTABLE.contains(&path.value.as_str()) {
                let message = format!("`{}` is selectable anyway", path.value);
                diagnostics.error(&path.span, message, "remove it");
            } else if paths[..index].iter().any(|other| other.value == path.value) {
                diagnostics.error(
                    &path.span,
                    format!("duplicate path `{}`", path.value),
                    "remove one of the two",
                );
            } else {
                comparable(lowered, written.resource.ty, path, diagnostics);
            }
        }
        let always = ALWAYS_SELECTABLE.iter().copied();
        let known = paths.iter().map(|path| path.value.as_str()).chain(always);
        let mut labels: Vec<&str> = known.filter_map(|path| path.strip_prefix('.')).collect();
        for written_name in written.extension.selectable_names.iter().flatten() {
            let name = &written_name.name;
            if labels.contains(&name.value.as_str()) {
                let message = format!("`{}` is selectable anyway", name.value);
                diagnostics.error(&name.span, message, "remove it");
            }
            labels.push(&name.value);
            for path in &written_name.paths {
                comparable(lowered, written.resource.ty, path, diagnostics);
            }
        }
    }
}

/// A path leads to something that selectors can compare.
fn comparable(lowered: &Lowered<'_>, ty: TypeId, path: &Spanned<String>, diagnostics: &mut Diagnostics) {
    if let Some(target) = follow(&lowered.model, ty, path, diagnostics)
        && !selectable(target)
    {
        let help = "selectors compare texts, numbers and booleans";
        diagnostics.error(&path.span, format!("`{}` cannot be selected by", path.value), help);
    }
}

/// Indexes are of selectable fields and of labels, one for each.
pub(super) fn indexes(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let fields: Vec<&Spanned<String>> = written.extension.indexed_fields.iter().flatten().collect();
        let labels: Vec<&Spanned<String>> = written.extension.indexed_labels.iter().flatten().collect();
        for list in [&fields, &labels] {
            for (index, name) in list.iter().enumerate() {
                if list[..index].iter().any(|other| other.value == name.value) {
                    let message = format!("duplicate index `{}`", name.value);
                    diagnostics.error(&name.span, message, "remove one of the two");
                }
            }
        }
        let selectable: Vec<&Spanned<String>> =
            written.extension.selectable_fields.iter().flatten().collect();
        for field in fields {
            if !selectable.iter().any(|path| path.value == field.value) {
                let message = format!("`{}` is not among the selectable fields", field.value);
                diagnostics.error(&field.span, message, "add it to `selectableFields`, or remove it here");
            }
        }
    }
}

fn selectable(target: Resolved<'_>) -> bool {
    matches!(
        target,
        Resolved::Enum(..)
            | Resolved::Scalar(Shape::String(_) | Shape::Boolean | Shape::Int32 | Shape::Int64)
    )
}

/// What stands at the end of a path; `None` where it leads nowhere, which is reported, or is no path, which
/// has been.
fn follow<'m>(
    model: &'m Model,
    ty: TypeId,
    path: &Spanned<String>,
    diagnostics: &mut Diagnostics,
) -> Option<Resolved<'m>> {
    let segments = path.value.strip_prefix('.')?;
    let mut at = match &model.ty(ty).kind {
        TypeKind::Object(object) => Resolved::Object(ty, object),
        _ => return None,
    };
    for segment in segments.split('.') {
        at = match at {
            Resolved::Object(id, object) => {
                let Some(field) = object.fields.iter().find(|field| field.name == segment) else {
                    let message = format!(
                        "`{}` leads nowhere: `{}` has no field `{segment}`",
                        path.value,
                        model.ty(id).name
                    );
                    let names: Vec<&str> = object.fields.iter().map(|field| field.name.as_str()).collect();
                    diagnostics.error(&path.span, message, suggest::did_you_mean(segment, &names));
                    return None;
                };
                model.resolve(&field.usage)
            }
            Resolved::Map { value, .. } => model.resolve(value),
            Resolved::Any => at,
            Resolved::List(..) => {
                let message = format!("`{}` leads through a list, at `{segment}`", path.value);
                diagnostics.error(&path.span, message, "a path names one value: end it before the list");
                return None;
            }
            Resolved::Scalar(_) | Resolved::Enum(..) => {
                let message = format!("`{}` leads nowhere: nothing is below a single value", path.value);
                diagnostics.error(&path.span, message, format!("end it before `{segment}`"));
                return None;
            }
        };
    }
    Some(at)
}
