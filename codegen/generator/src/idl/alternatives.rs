//! Rules about several fields: `.(containers|initContainers)[*].name` is a rule for each of them.

use std::{borrow::Cow, slice};

use schemars::{JsonSchema, SchemaGenerator};

use super::{reading::Read, rules::ObjectRule};
use crate::{
    diagnostic::Diagnostics,
    source::{Node, Spanned, Value},
};

/// The rules of an object, one for each field.
#[derive(Debug)]
pub struct Rules(Vec<ObjectRule>);

impl Rules {
    /// Each of them.
    pub fn iter(&self) -> slice::Iter<'_, ObjectRule> {
        self.0.iter()
    }
}

impl<'r> IntoIterator for &'r Rules {
    type Item = &'r ObjectRule;
    type IntoIter = slice::Iter<'r, ObjectRule>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Read for Rules {
    fn read(node: &Node, diagnostics: &mut Diagnostics) -> Option<Self> {
        let Value::List(items) = &node.value else {
            return Vec::read(node, diagnostics).map(Rules);
        };
        let mut rules = Vec::new();
        for item in items {
            let mut each = each_field(item).into_iter();
            rules.extend(each.next().and_then(|rule| ObjectRule::read(&rule, diagnostics)));
            // What is wrong with one of them is wrong with all.
            rules.extend(each.filter_map(|rule| ObjectRule::read(&rule, &mut Diagnostics::default())));
        }
        Some(Rules(rules))
    }
}

impl JsonSchema for Rules {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rules".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> schemars::Schema {
        Vec::<ObjectRule>::json_schema(generator)
    }
}

/// A rule for each alternative of its field. Where the same group stands in another text of the rule, it is
/// replaced there too.
fn each_field(rule: &Node) -> Vec<Node> {
    let group = match rule.get("field").map(|field| &field.value) {
        Some(Value::String(field)) => group(field),
        _ => None,
    };
    let Some(group) = group else { return vec![rule.clone()] };
    let replaced = words(group).flat_map(|word| each_field(&replaced(rule, group, word)));
    replaced.collect()
}

/// The paths that a path with alternatives stands for.
pub fn each_path(path: &str) -> Vec<String> {
    let Some(group) = group(path) else { return vec![path.to_owned()] };
    words(group).flat_map(|word| each_path(&path.replacen(group, word, 1))).collect()
}

/// The first `(a|b)` of a path.
fn group(path: &str) -> Option<&str> {
    let from = path.find('(')?;
    let length = path[from..].find(')')?;
    Some(&path[from..=from + length])
}

fn words(group: &str) -> impl Iterator<Item = &str> {
    group[1..group.len() - 1].split('|')
}

fn replaced(node: &Node, group: &str, word: &str) -> Node {
    let value = match &node.value {
        Value::String(text) => Value::String(text.replace(group, word)),
        Value::List(items) => Value::List(items.iter().map(|item| replaced(item, group, word)).collect()),
        Value::Map(entries) => {
            let entry = |(key, node): &(Spanned<String>, Node)| {
                let name = key.value.replace(group, word);
                (Spanned { value: name, span: key.span.clone() }, replaced(node, group, word))
            };
            Value::Map(entries.iter().map(entry).collect())
        }
        other => other.clone(),
    };
    Node { span: node.span.clone(), value }
}

#[cfg(test)]
mod tests {
    use super::each_path;

    #[test]
    fn a_path_stands_for_each_of_its_alternatives() {
        assert_eq!(each_path(".a[*].b"), [".a[*].b"]);
        assert_eq!(each_path(".(a|b).(c|d)"), [".a.c", ".a.d", ".b.c", ".b.d"]);
        assert_eq!(each_path("(.a.b|.c)"), [".a.b", ".c"]);
    }
}
