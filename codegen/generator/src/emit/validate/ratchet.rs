//! Rules that accept wrong values which stay as they were: `unchanged: accepted`.
//!
//! They are judged where the object before is known, together with the expressions: for new objects, and on
//! a change where one of the values that the rule names has changed. Which values an expression looks at is
//! not known; so such a rule is judged where the object has changed.

use proc_macro2::TokenStream;
use quote::quote;

use super::{checks, scope::Scope};
use crate::{
    emit::emitter::Emitter,
    model::{Check, ObjectType, Step, Type, TypeKind},
};

/// The rules as code; `old` is an optional reference to the object before.
pub(super) fn rules(emitter: &Emitter<'_>, ty: &Type) -> Vec<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return Vec::new() };
    let ratcheted = object.checks.iter().filter(|check| check.accepts_unchanged);
    let rules = ratcheted.map(|check| {
        let code = checks::runs(emitter, object, &[check]);
        let differs = differs(emitter, object, check);
        quote!(if old.is_none_or(|old| #differs) { #(#code)* })
    });
    rules.collect()
}

/// Whether a value that the rule names is another one than before.
fn differs(emitter: &Emitter<'_>, object: &ObjectType, check: &Check) -> TokenStream {
    let (new, old) = (Scope::new(object, "self"), Scope::new(object, "old"));
    let expressions = &check.expressions;
    let parts = [&expressions.when, &expressions.rule, &expressions.of, &expressions.of_items];
    let mut paths: Vec<&[Step]> = vec![up_to_items(&check.field)];
    paths.extend(check.when.iter().map(|condition| up_to_items(&condition.path)));
    paths.extend(check.demand.others().iter().map(|path| up_to_items(path)));
    if paths.iter().any(|path| path.is_empty()) || parts.iter().any(|part| part.is_some()) {
        return quote!(old != self);
    }
    let named_once = paths.iter().enumerate().filter(|(at, path)| !paths[..*at].contains(path));
    let differ = named_once.map(|(_, path)| {
        let (new, old) = (new.value(emitter, path), old.value(emitter, path));
        quote!(#new != #old)
    });
    quote!(#(#differ)||*)
}

/// A path, up to the list or map that it goes through: that is compared as a whole.
fn up_to_items(path: &[Step]) -> &[Step] {
    let end = path.iter().position(|step| *step == Step::Each);
    &path[..end.unwrap_or(path.len())]
}
