//! Types that contain themselves.

use crate::{
    diagnostic::{Diagnostics, Span},
    lower::Lowered,
    model::{Shape, TypeId, TypeKind, Usage},
};

/// What a type leads to at once, and where.
type Edges<'l> = Vec<Vec<(TypeId, &'l Span)>>;

/// An object contains itself only through a list or a map: a value that holds itself has no end.
pub(super) fn types(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let mut edges: Edges<'_> = vec![Vec::new(); lowered.model.types.len()];
    for (index, ty) in lowered.model.types.iter().enumerate() {
        match &ty.kind {
            TypeKind::Object(object) => {
                let named =
                    object.fields.iter().filter_map(|field| Some((named(&field.usage)?, &field.span)));
                edges[index].extend(named);
            }
            TypeKind::Alias(usage) => edges[index].extend(named(usage).map(|id| (id, &usage.span))),
            TypeKind::Enum(_) => {}
        }
    }
    let help = "let it contain a list or a map of itself, or break the circle with a name that is looked up";
    report(lowered, &edges, |_| true, "contains itself", help, diagnostics);
}

/// A name for a shape does not stand for itself, not even through a list or a map: it would have no meaning.
pub(super) fn aliases(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    let is_alias = |id: TypeId| matches!(lowered.model.ty(id).kind, TypeKind::Alias(_));
    let mut edges: Edges<'_> = vec![Vec::new(); lowered.model.types.len()];
    for (index, ty) in lowered.model.types.iter().enumerate() {
        let TypeKind::Alias(usage) = &ty.kind else { continue };
        let mut found = Vec::new();
        inner(usage, &mut found);
        edges[index].extend(found.into_iter().filter(|(id, _)| is_alias(*id)));
    }
    let help = "give the list or map to a field of an object, and refer to the object";
    let direct =
        |id: TypeId| matches!(&lowered.model.ty(id).kind, TypeKind::Alias(usage) if named(usage).is_some());
    let indirect = |circle: &[(TypeId, &Span)]| circle.iter().any(|(id, _)| !direct(*id));
    report(lowered, &edges, indirect, "is a name for itself", help, diagnostics);
}

/// Reports each circle once, at the type of it that was numbered first.
fn report(
    lowered: &Lowered<'_>,
    edges: &Edges<'_>,
    accept: impl Fn(&[(TypeId, &Span)]) -> bool,
    what: &str,
    help: &str,
    diagnostics: &mut Diagnostics,
) {
    for index in 0..edges.len() {
        let start = TypeId(index);
        let Some(circle) = circle(start, edges).filter(|circle| accept(circle)) else { continue };
        let name = |id: TypeId| lowered.model.ty(id).name.as_str();
        let mut way: Vec<&str> = circle.iter().map(|(id, _)| name(*id)).collect();
        way.push(name(start));
        let message = format!("`{}` {what}: {}", name(start), way.join(" -> "));
        diagnostics.error(circle[0].1, message, help);
    }
}

/// A way from a type back to it, over types that were numbered later: each with the place that leads on.
fn circle<'l>(start: TypeId, edges: &Edges<'l>) -> Option<Vec<(TypeId, &'l Span)>> {
    let mut seen = vec![false; edges.len()];
    let mut way: Vec<(TypeId, usize)> = vec![(start, 0)];
    while let Some((at, next)) = way.last_mut() {
        let Some((to, _)) = edges[at.0].get(*next) else {
            way.pop();
            continue;
        };
        *next += 1;
        if *to == start {
            return Some(way.iter().map(|(at, next)| (*at, edges[at.0][next - 1].1)).collect());
        }
        if *to > start && !std::mem::replace(&mut seen[to.0], true) {
            way.push((*to, 0));
        }
    }
    None
}

/// The type that a place refers to directly.
fn named(usage: &Usage) -> Option<TypeId> {
    match usage.shape {
        Shape::Named(id) => Some(id),
        _ => None,
    }
}

/// All types that a shape mentions.
fn inner<'l>(usage: &'l Usage, found: &mut Vec<(TypeId, &'l Span)>) {
    match &usage.shape {
        Shape::Named(id) => found.push((*id, &usage.span)),
        Shape::List { item, .. } => inner(item, found),
        Shape::Map { value, .. } => inner(value, found),
        _ => {}
    }
}
