//! Protobuf field numbers.

use super::walk;
use crate::{
    diagnostic::Diagnostics,
    lower::Lowered,
    model::{Field, Model, ObjectType, Resolved, Usage},
};

/// The greatest field number of protobuf.
const MAX: u32 = (1 << 29) - 1;

/// Numbers that protobuf keeps for itself.
const RESERVED: std::ops::RangeInclusive<u32> = 19_000..=19_999;

/// Within a message, tags are valid and all different. An object is one message, and one more for each inline
/// tag.
pub(super) fn unique(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        for tag in written.schema.tag.iter().chain(&written.schema.inline_tag) {
            if !is_valid(tag.value) {
                let help = format!("a tag is a number from 1 to {MAX}, except 19000 to 19999");
                diagnostics.error(&tag.span, format!("{} is not a protobuf field number", tag.value), help);
            }
        }
        let fields = &written.object.object.fields;
        if let Some(tag) = &written.schema.inline_tag {
            let same = fields.iter().find(|other| other.inline_tag.is_none() && other.tag == Some(tag.value));
            if let Some(same) = same {
                let message = format!("duplicate tag {}: `{}` has it already", tag.value, same.name);
                diagnostics.error(&tag.span, message, "an inline tag is the tag of no field of the object");
            }
        }
        let Some(tag) = &written.schema.tag else { continue };
        let before = fields.iter().take_while(|field| !std::ptr::eq(*field, written.field));
        let same = before
            .into_iter()
            .find(|other| (other.inline_tag, other.tag) == (written.field.inline_tag, written.field.tag));
        if let Some(same) = same {
            let message = format!("duplicate tag {}: `{}` has it already", tag.value, same.name);
            diagnostics.error(&tag.span, message, format!("the next free tag is {}", next_free(fields)));
        }
    }
}

/// An object has tags on all of its fields, or on none: a field without one is lost in protobuf.
pub(super) fn complete(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered) {
        let fields = &written.object.object.fields;
        let tagged = fields.iter().any(|field| field.tag.is_some());
        if tagged && written.field.tag.is_none() {
            let message = format!("`{}` has no tag, and other fields have", written.field.name);
            let help = format!("add `x-orch-tag: {}`, or remove the tags of all fields", next_free(fields));
            diagnostics.error(&written.field.span, message, help);
        }
    }
}

/// What a tagged object holds has tags as well: it could not be written otherwise.
pub(super) fn reachable(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for written in walk::fields(lowered).iter().filter(|written| written.field.tag.is_some()) {
        let Some((name, object)) = held(&lowered.model, &written.field.usage) else { continue };
        if !object.fields.is_empty() && object.fields.iter().all(|field| field.tag.is_none()) {
            let message = format!("`{}` has a tag, and its type `{name}` has none", written.field.name);
            let help = format!("give the fields of `{name}` tags, or remove the tags here");
            diagnostics.error(&written.field.span, message, help);
        }
    }
}

/// The object that a shape holds, in lists and maps too.
fn held<'m>(model: &'m Model, usage: &'m Usage) -> Option<(&'m str, &'m ObjectType)> {
    match model.resolve(usage) {
        Resolved::Object(id, object) => Some((&model.ty(id).name, object)),
        Resolved::List(value, _) | Resolved::Map { value, .. } => held(model, value),
        _ => None,
    }
}

/// The tag after the highest valid one.
fn next_free(fields: &[Field]) -> u32 {
    let highest = fields.iter().filter_map(|field| field.tag).filter(|tag| is_valid(*tag)).max();
    let next = highest.unwrap_or_default() + 1;
    if RESERVED.contains(&next) { RESERVED.end() + 1 } else { next }
}

fn is_valid(tag: u32) -> bool {
    (1..=MAX).contains(&tag) && !RESERVED.contains(&tag)
}
