//! Unions: members are fields, and discriminators tell them apart.

use std::collections::BTreeSet;

use super::walk;
use crate::{
    diagnostic::{Diagnostics, suggest},
    idl::{Discriminator, UnionExtension},
    lower::Lowered,
    model::{Field, ObjectType, Resolved, Shape, Union},
};

/// A union says how many, of two or more members that exist, are optional, and are each named once.
pub(super) fn members(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for object in walk::objects(lowered) {
        let Some(written) = &object.schema.union else { continue };
        if written.exactly_one.is_some() == written.at_most_one.is_some() {
            let help = "write one of `exactlyOne: [...]` and `atMostOne: [...]`";
            diagnostics.error(&written.span, "a union says exactly one, or at most one", help);
        }
        let members: Vec<_> = written_members(written).collect();
        if members.len() < 2 {
            diagnostics.error(
                &written.span,
                "a union has two members or more",
                "name them, or remove the union",
            );
        }
        for (index, member) in members.iter().enumerate() {
            let field = object.object.fields.iter().find(|field| field.name == member.value);
            if members[..index].iter().any(|other| other.value == member.value) {
                let message = format!("duplicate member `{}`", member.value);
                diagnostics.error(&member.span, message, "remove one of the two");
            } else if let Some(field) = field {
                if field.required || field.default.is_some() || field.default_fn.is_some() {
                    let message = format!("the member `{}` is always set", member.value);
                    let help = "a member of a union is optional and has no default";
                    diagnostics.error(&member.span, message, help);
                }
            } else {
                let message = format!("the union names the unknown field `{}`", member.value);
                diagnostics.error(&member.span, message, known_fields(&member.value, object.object));
            }
        }
    }
}

/// A discriminator is a text field that can hold its values, with one value for each member.
pub(super) fn discriminators(lowered: &Lowered<'_>, diagnostics: &mut Diagnostics) {
    for object in walk::objects(lowered) {
        let Some(written) = object.schema.union.as_ref().and_then(|union| union.discriminator.as_ref())
        else {
            continue;
        };
        if let Some(union) = &object.object.union {
            every_member_has_a_value(union, written, diagnostics);
        }
        let Some(field) = object.object.fields.iter().find(|field| field.name == written.field.value) else {
            let message = format!("the discriminator names the unknown field `{}`", written.field.value);
            diagnostics.error(
                &written.field.span,
                message,
                known_fields(&written.field.value, object.object),
            );
            continue;
        };
        match allowed(lowered, field) {
            None => {
                let message = format!("the discriminator `{}` is not a string", written.field.value);
                diagnostics.error(&written.field.span, message, "give it `type: string` with an `enum`");
            }
            Some(allowed) if !allowed.is_empty() => {
                for (_, value) in &written.values.0 {
                    if !allowed.contains(&value.value.as_str()) {
                        let message = format!("`{}` is no value of `{}`", value.value, field.name);
                        diagnostics.error(
                            &value.span,
                            message,
                            suggest::did_you_mean(&value.value, &allowed),
                        );
                    }
                }
            }
            Some(_) => {}
        }
    }
}

fn every_member_has_a_value(union: &Union, written: &Discriminator, diagnostics: &mut Diagnostics) {
    let members: Vec<&str> = union.members.iter().map(String::as_str).collect();
    for (name, _) in written.values.0.iter().filter(|(name, _)| !members.contains(&name.value.as_str())) {
        let message = format!("`{}` is no member of the union", name.value);
        diagnostics.error(&name.span, message, suggest::did_you_mean(&name.value, &members));
    }
    let valued: BTreeSet<&str> = written.values.0.iter().map(|(name, _)| name.value.as_str()).collect();
    let missing: Vec<&str> = members.iter().copied().filter(|member| !valued.contains(member)).collect();
    if !missing.is_empty() {
        let message = format!("no value for {}", suggest::listed(&missing));
        diagnostics.error(&written.span, message, "add one value for each member to `values`");
    }
    let mut seen = BTreeSet::new();
    for (_, value) in &written.values.0 {
        if !seen.insert(&value.value) {
            let message = format!("the value `{}` stands for two members", value.value);
            diagnostics.error(&value.span, message, "give each member a value of its own");
        }
    }
}

fn written_members(union: &UnionExtension) -> impl Iterator<Item = &crate::source::Spanned<String>> {
    union.exactly_one.as_ref().or(union.at_most_one.as_ref()).into_iter().flatten()
}

/// The closed set of values of a text field, empty where it is open; `None` for other fields.
fn allowed<'m>(lowered: &'m Lowered<'_>, field: &'m Field) -> Option<Vec<&'m str>> {
    match lowered.model.resolve(&field.usage) {
        Resolved::Enum(_, values) => Some(values.iter().map(|value| value.value.as_str()).collect()),
        Resolved::Scalar(Shape::String(_)) => {
            Some(field.usage.constraints.enum_values.iter().map(String::as_str).collect())
        }
        _ => None,
    }
}

fn known_fields(name: &str, object: &ObjectType) -> String {
    suggest::did_you_mean(name, &object.fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>())
}
