//! Paths of columns, selectable fields and scales lead somewhere.

use super::walk;
use crate::{
    diagnostic::{Diagnostics, suggest},
    idl::{ColumnExtension, SubresourceExtension},
    lower::Lowered,
    model::{Model, Resolved, Shape, TypeId, TypeKind, Verb},
    source::Spanned,
};

/// Selectors know these without being told.
const ALWAYS_SELECTABLE: &[&str] = &[".metadata.name", ".metadata.namespace"];

/// What can be done with a scale.
const SCALE_VERBS: &[Verb] = &[Verb::Get, Verb::Patch, Verb::Update];

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

/// What a scale shows is there, with types that fit. No other subresource has such paths.
pub(super) fn scales(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::resources(lowered) {
        let ty = written.resource.ty;
        for entry in written.extension.subresources.iter().flatten() {
            let (name, full) = entry.parts();
            if name.value == "scale" {
                let [replicas, status_replicas] = SubresourceExtension::counts(name, full);
                counted(lowered, ty, &replicas, ".spec.", diagnostics);
                counted(lowered, ty, &status_replicas, ".status.", diagnostics);
            }
            if let Some(full) = full {
                said_of_scale(lowered, ty, full, diagnostics);
            }
        }
    }
}

/// A path of a scale leads to a whole number, below the part of the object where it belongs.
fn counted(
    lowered: &Lowered<'_>,
    ty: TypeId,
    path: &Spanned<String>,
    below: &str,
    diagnostics: &mut Diagnostics,
) {
    let help =
        "say where the numbers are: `{name: scale, replicas: .spec.count, statusReplicas: .status.count}`";
    if path.value.starts_with('.') && !path.value.starts_with(below) {
        let message = format!("`{}` is not below `{}`", path.value, below.trim_end_matches('.'));
        diagnostics.error(&path.span, message, help);
        return;
    }
    if let Some(target) = follow(&lowered.model, ty, path, diagnostics)
        && !matches!(target, Resolved::Scalar(Shape::Int32 | Shape::Int64))
    {
        diagnostics.error(&path.span, format!("`{}` is no whole number", path.value), help);
    }
}

/// What the long form of a subresource says of a scale.
fn said_of_scale(
    lowered: &Lowered<'_>,
    ty: TypeId,
    full: &SubresourceExtension,
    diagnostics: &mut Diagnostics,
) {
    if full.name.value == "scale" {
        if let Some(body) = &full.body {
            let help = "remove it: the body is `autoscaling.v1.Scale`, which clients know";
            diagnostics.error(&body.span, "a scale has the same body for all kinds", help);
        }
        for verb in full.verbs.iter().flatten().filter(|verb| !SCALE_VERBS.contains(&verb.value)) {
            let help = "a scale is read and written: `get`, `patch`, `update`";
            diagnostics.error(&verb.span, "there is no such verb for a scale", help);
        }
        if let Some(path) = &full.selector
            && let Some(target) = follow(&lowered.model, ty, path, diagnostics)
            && !matches!(target, Resolved::Scalar(Shape::String(_)))
        {
            let help = "name a field that holds a selector as clients write it: `app=a,tier!=b`";
            diagnostics.error(&path.span, format!("`{}` is no text", path.value), help);
        }
        return;
    }
    let paths = [&full.replicas, &full.status_replicas, &full.selector];
    for path in paths.into_iter().flatten() {
        let help = "remove it, or call the subresource `scale`";
        diagnostics.error(&path.span, "only a scale has replicas", help);
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
