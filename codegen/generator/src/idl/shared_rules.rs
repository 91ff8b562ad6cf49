//! Rules that a type takes over from another one (`rulesOf`).

use super::{rules::ObjectRule, schema::Schema};

/// The rules of an object, with those that it takes over from other types.
pub fn with_shared<'s>(
    schema: &'s Schema,
    find: impl Fn(&str) -> Option<&'s Schema>,
) -> impl Iterator<Item = &'s ObjectRule> {
    let own = schema.rules.iter().flatten();
    own.flat_map(move |rule| {
        let taken = rule.rules_of.as_ref().and_then(|of| Some(shared(find(&of.value)?, rule)));
        std::iter::once(rule).chain(taken.into_iter().flatten())
    })
}

/// The rules that a type shares with an entry of another one.
pub fn shared<'s>(of: &'s Schema, entry: &'s ObjectRule) -> impl Iterator<Item = &'s ObjectRule> {
    fn name(rule: &ObjectRule) -> Option<&str> {
        rule.shared.as_ref().map(|name| name.value.as_str())
    }
    let is_taken = move |rule: &&ObjectRule| rule.rules_of.is_none() && name(rule) == name(entry);
    of.rules.iter().flatten().filter(is_taken)
}
