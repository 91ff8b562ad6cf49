//! Types with fields: which fields there are, which are required, and how they are numbered.

use super::{
    codes,
    comparison::{Comparison, Finding, Named},
    fields, gates, rules,
    state::{Retired, State, properties, tags, words},
    values::{self, Shape},
};
use crate::{diagnostic::Span, source::Node};

/// Compares the types that are still to be compared, and those that they refer to; each pair once. Types that
/// only one side knows are not compared.
pub(super) fn compare_pending(cx: &mut Comparison<'_>) {
    while let Some((old, new)) = cx.next_types() {
        compare(cx, old, new);
    }
}

fn compare<'s>(cx: &mut Comparison<'s>, old: &'s str, new: &'s str) {
    let (Some((old_name, old_type)), Some((new_name, new_type))) =
        (cx.old.types.get_key_value(old), cx.new.types.get_key_value(new))
    else {
        return;
    };
    let sides = (
        Named { node: &old_type.schema, span: &old_type.span },
        Named { node: &new_type.schema, span: &new_type.span },
    );
    let is_object = |state: &'s State, name| matches!(values::named(state, name), Shape::Object(_));
    if !(is_object(cx.old, old_name) && is_object(cx.new, new_name)) {
        values::compare(cx, new_name, sides);
        return;
    }
    let objects = Objects { at: new_name, name: &new_type.name, old: sides.0, new: sides.1 };
    objects.fields(cx);
    objects.tags(cx);
    objects.map_type(cx);
    rules::compare(cx, new_name, sides);
}

const REUSED: &str = "protobuf clients would take one for the other: use a number that was never used";

struct Objects<'s> {
    at: &'s str,
    name: &'s str,
    old: Named<'s>,
    new: Named<'s>,
}

impl<'s> Objects<'s> {
    fn fields(&self, cx: &mut Comparison<'s>) {
        let old_fields = properties(self.old.node);
        let (was_required, is_required) =
            (words(self.old.node, "required"), words(self.new.node, "required"));
        for (name, old) in old_fields {
            let gate = fields::gate(old);
            // What is behind the gate of an alpha feature is not promised.
            if gate.is_some_and(|gate| gates::is_alpha(cx.old_gates.get(gate).copied().flatten())) {
                continue;
            }
            let field = name.value.as_str();
            let at = format!("{}.{field}", self.at);
            let Some((new_name, new)) =
                properties(self.new.node).iter().find(|(other, _)| other.value == field)
            else {
                self.field_removed(cx, at, field, &name.span);
                continue;
            };
            let sides = (Named { node: old, span: &name.span }, Named { node: new, span: &new_name.span });
            if is_required.contains(field) && !was_required.contains(field) {
                let message = format!("`{}.{field}` was optional, and is required", self.name);
                let help = "objects without it are refused: give it a default instead, or make a new version";
                found(
                    cx,
                    (codes::NOW_REQUIRED, at.clone()),
                    message,
                    help,
                    (&new_name.span, &name.span),
                    "it was optional",
                );
            }
            fields::compare(cx, &at, sides);
            if is_required.contains(field) {
                fields::empty_text(cx, &at, field, (self.old, self.new), sides);
            }
        }
        for (name, _) in properties(self.new.node) {
            let field = name.value.as_str();
            let is_new = !old_fields.iter().any(|(old, _)| old.value == field);
            if is_new && is_required.contains(field) {
                let at = format!("{}.{field}", self.at);
                let message = format!("`{}.{field}` is new, and required", self.name);
                let help = "clients that do not know it cannot write the object any more: make it optional";
                let was = "this type had no such field";
                found(cx, (codes::NEW_REQUIRED, at), message, help, (&name.span, self.old.span), was);
            }
        }
    }

    fn field_removed(&self, cx: &mut Comparison<'s>, at: String, field: &str, old: &Span) {
        let message = format!("`{}.{field}` is removed", self.name);
        let help = "keep it, with `x-orch-deprecated`; it can go with its version";
        found(cx, (codes::FIELD_REMOVED, at), message, help, (self.new.span, old), "it was declared here");
    }

    /// Protobuf finds fields by their numbers.
    fn tags(&self, cx: &mut Comparison<'s>) {
        let (old, new) = (tags(self.old.node), tags(self.new.node));
        if let (Some(tag), true) = (old.values().next(), new.is_empty()) {
            let message = format!("`{}` has no protobuf tags any more", self.name);
            let help = "clients that speak protobuf are answered 406: keep the tags";
            let places = (self.new.span, tag.span);
            found(cx, (codes::PROTOBUF_LOST, self.at.to_owned()), message, help, places, "it had tags");
            return;
        }
        for retired in cx.old.retired.iter().filter(|retired| retired.ty == self.at) {
            let Some(new) = new.get(&(retired.inline, retired.tag)) else { continue };
            if new.field != retired.field {
                let at = format!("{}.{}", self.at, new.field);
                let Retired { tag, field, .. } = retired;
                let message = format!("tag {tag} of `{}` was `{field}`, and is `{}`", self.name, new.field);
                let was = format!("it was the tag of `{field}`, which is gone");
                found(cx, (codes::TAG_REUSED, at), message, REUSED, (new.span, self.old.span), &was);
            }
        }
        for ((inline, tag), new) in &new {
            let Some(old) = old.get(&(*inline, *tag)).filter(|old| old.field != new.field) else { continue };
            let at = format!("{}.{}", self.at, new.field);
            let message = format!("tag {tag} of `{}` was `{}`, and is `{}`", self.name, old.field, new.field);
            let was = format!("it was the tag of `{}`", old.field);
            found(cx, (codes::TAG_REUSED, at), message, REUSED, (new.span, old.span), &was);
        }
    }

    fn map_type(&self, cx: &mut Comparison<'s>) {
        let word =
            |side: Named<'s>| side.node.get("x-orch-map-type").and_then(Node::text).unwrap_or("granular");
        let (old, new) = (word(self.old), word(self.new));
        if old != new {
            let message = format!("`{}` was {old}, and is {new}", self.name);
            cx.keyword(
                codes::MERGE,
                self.at,
                "x-orch-map-type",
                (self.old, self.new),
                (message, values::MERGE_HELP),
            );
        }
    }
}

fn found(
    cx: &mut Comparison<'_>,
    (code, at): (&'static str, String),
    message: String,
    help: &str,
    (new, old): (&Span, &Span),
    was: &str,
) {
    let (new, old, was, help) = (new.clone(), old.clone(), was.to_owned(), help.to_owned());
    cx.found.push(Finding { code, at, message, help, new, old, was });
}
