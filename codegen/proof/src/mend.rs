//! Random objects made valid: an object is changed at the places that its errors name, again and again. What
//! is put there comes from the words of the error, or is a value that many rules allow.

use std::collections::BTreeSet;

use orch_runtime::{
    Tree, TreeMap,
    conversion::Direction,
    field_error::{FieldError, Reason},
    type_def::{Scalar, Shape, TypeDef},
};
use serde_json::json;

use crate::{
    objects::{self, Choices},
    pair::{Pair, typed},
};

/// How often an object is changed until it is given up.
const ROUNDS: usize = 24;

/// After so many rounds more is taken away than the place itself: what holds it, and what holds that.
const PATIENCE: usize = 6;

/// The object, changed until it is valid, or for so many rounds.
pub fn mended(pair: &Pair, direction: Direction, mut tree: Tree, choices: &mut Choices<'_>) -> Tree {
    let (resource, _) = pair.ends(direction);
    for round in 0..ROUNDS {
        let errors = pair.errors(direction, &tree);
        if errors.is_empty() {
            break;
        }
        let mut seen = BTreeSet::new();
        for error in &errors {
            let mut path = steps(&error.field);
            path.truncate(path.len().saturating_sub(round / PATIENCE).max(1));
            if seen.insert(path.clone()) {
                let all = Shape::Object(resource.type_def);
                mend(&mut tree, Named::of(&all), &path, error, choices);
            }
        }
        tree = typed(resource, tree, true);
    }
    tree
}

/// A field, or the key or number of an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Field(String),
    Item(String),
}

/// `spec.ports[0].name` in parts.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let inner = rest.strip_prefix('[').and_then(|inner| inner.split_once(']'));
        if let Some((key, after)) = inner {
            steps.push(Step::Item(key.to_owned()));
            rest = after;
            continue;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let end = rest.find(['.', '[']).unwrap_or(rest.len()).max(1);
        steps.push(Step::Field(rest[..end].to_owned()));
        rest = &rest[end..];
    }
    steps
}

/// What a place may hold, where that is known.
#[derive(Clone, Copy)]
struct Named<'s> {
    shape: Option<&'s Shape>,
}

impl<'s> Named<'s> {
    fn of(shape: &'s Shape) -> Self {
        Named { shape: Some(shape) }
    }

    fn below(self, step: &Step) -> Named<'s> {
        let shape = match (self.shape, step) {
            (Some(Shape::Object(def)), Step::Field(name)) => def.field(name).map(|field| &field.shape),
            (Some(Shape::List { item, .. }), Step::Item(_)) => Some(*item),
            (Some(Shape::Map { value, .. }), Step::Item(_)) => Some(*value),
            _ => None,
        };
        Named { shape }
    }
}

fn mend(tree: &mut Tree, at: Named<'_>, path: &[Step], error: &FieldError, choices: &mut Choices<'_>) {
    let Some((step, rest)) = path.split_first() else { return };
    let below = at.below(step);
    if !rest.is_empty()
        && let Some(value) = value_at(tree, step)
        && !value.is_null()
    {
        return mend(value, below, rest, error, choices);
    }
    let is_removed = match error.reason {
        Reason::Required | Reason::NotSupported if rest.is_empty() => false,
        Reason::Forbidden | Reason::TooMany => true,
        _ => choices.below(2) == 0,
    };
    // What holds the place is missing: it is made, and what is wrong with it is told in the next round.
    let value = match below.shape {
        _ if is_removed => None,
        Some(Shape::Object(def)) if rest.is_empty() => {
            let given = value_at(tree, step).and_then(|value| value.as_object().cloned());
            Some(with_one_more(given, def, &error.body, choices))
        }
        shape => likely(shape, &error.body, choices),
    };
    match (tree, step) {
        (Tree::Object(fields), Step::Field(name) | Step::Item(name)) => {
            match value {
                Some(value) => fields.insert(name.clone(), value),
                None => fields.remove(name),
            };
        }
        (Tree::Array(items), Step::Item(number)) => {
            let Some(number) = number.parse().ok().filter(|number| *number < items.len()) else { return };
            match value {
                Some(value) => items[number] = value,
                None => drop(items.remove(number)),
            }
        }
        _ => {}
    }
}

fn value_at<'t>(tree: &'t mut Tree, step: &Step) -> Option<&'t mut Tree> {
    match (tree, step) {
        (Tree::Array(items), Step::Item(number)) => items.get_mut(number.parse::<usize>().ok()?),
        (Tree::Object(fields), Step::Field(name) | Step::Item(name)) => fields.get_mut(name),
        _ => None,
    }
}

/// A value that may be right, of a shape; `None` where no shape is known.
fn likely(shape: Option<&Shape>, words: &str, choices: &mut Choices<'_>) -> Option<Tree> {
    const TEXTS: [&str; 8] = ["a", "b", "a.b", "a/b", "*", "Normal", "/a", "1"];
    const NUMBERS: [i64; 5] = [1, 0, 2, 30, 64];
    let mut quoted: Vec<&str> = words.split('"').skip(1).step_by(2).collect();
    // The first one is the value that was refused.
    if quoted.len() > 1 {
        quoted.remove(0);
    }
    Some(match shape? {
        Shape::Scalar(Scalar::Boolean) => json!(choices.below(2) == 1),
        Shape::Scalar(Scalar::String | Scalar::IntOrString) if !quoted.is_empty() && choices.below(4) > 0 => {
            json!(quoted[choices.below(quoted.len())])
        }
        Shape::Scalar(Scalar::String) => json!(TEXTS[choices.below(TEXTS.len())]),
        Shape::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Double | Scalar::IntOrString) => {
            json!(NUMBERS[choices.below(NUMBERS.len())])
        }
        Shape::Scalar(Scalar::Quantity) => json!(NUMBERS[choices.below(NUMBERS.len())].to_string()),
        Shape::Scalar(Scalar::Duration) => json!("1m"),
        Shape::Object(def) => modest(def, words, choices),
        Shape::List { item, .. } => json!([likely(Some(item), words, choices)?]),
        Shape::Map { value, .. } => json!({"a": likely(Some(value), words, choices)?}),
        shape => objects::value(shape, choices),
    })
}

/// An object that is refused, or a new one, with one more field: some objects want one of several. Mostly the
/// words of the error name them.
fn with_one_more(given: Option<TreeMap>, def: &TypeDef, words: &str, choices: &mut Choices<'_>) -> Tree {
    let mut made = match given {
        Some(given) if choices.below(2) == 0 => Tree::Object(given),
        _ => modest(def, words, choices),
    };
    let named: BTreeSet<&str> = words.split(|ch: char| !ch.is_ascii_alphanumeric()).collect();
    let optional = || def.fields.iter().filter(|field| !field.required && !field.write_only);
    let mut may_be: Vec<_> = optional().filter(|field| named.contains(field.name)).collect();
    if may_be.is_empty() {
        may_be.extend(optional());
    }
    if let Some(fields) = made.as_object_mut()
        && !may_be.is_empty()
    {
        let field = may_be[choices.below(may_be.len())];
        fields.extend(likely(Some(&field.shape), "", choices).map(|value| (field.name.to_owned(), value)));
    }
    made
}

/// An object with what has to be given.
fn modest(def: &TypeDef, words: &str, choices: &mut Choices<'_>) -> Tree {
    let given = def.fields.iter().filter(|field| field.required);
    let fields = given.filter_map(|field| {
        let value = likely(Some(&field.shape), words, choices)?;
        Some((field.name.to_owned(), value))
    });
    Tree::Object(fields.collect())
}

#[cfg(test)]
mod tests {
    use orch_runtime::{path::Path, type_def::FieldDef};

    use super::*;

    /// One of several fields that are all optional, as the error names them, and as it does not.
    #[test]
    fn an_object_gets_one_of_the_fields_that_it_wants() {
        const TEXT: Shape = Shape::Scalar(Scalar::String);
        static SPEC: TypeDef = TypeDef {
            name: "v1.Spec",
            short_name: "Spec",
            fields: &[
                FieldDef { name: "other", shape: TEXT, ..FieldDef::PLAIN },
                FieldDef { name: "first", shape: TEXT, ..FieldDef::PLAIN },
                FieldDef { name: "second", shape: TEXT, ..FieldDef::PLAIN },
            ],
            by_name: &[],
            atomic: false,
            size: 0,
        };
        static KIND: TypeDef = TypeDef {
            name: "v1.Kind",
            short_name: "Kind",
            fields: &[FieldDef { name: "spec", shape: Shape::Object(&SPEC), ..FieldDef::PLAIN }],
            by_name: &[],
            atomic: false,
            size: 0,
        };
        let path = Path::ROOT.field("spec");
        let [named, silent] =
            ["either first or second must be given", "no"].map(|words| FieldError::required(&path, words));
        for given in [json!({}), json!({"spec": {}}), json!({"spec": {"other": "x"}})] {
            for number in 0..20 {
                let numbers = [number, number / 2, number / 4, number];
                let mended = |error: &FieldError| {
                    let mut tree = given.clone();
                    let all = Shape::Object(&KIND);
                    mend(
                        &mut tree,
                        Named::of(&all),
                        &steps(&error.field),
                        error,
                        &mut Choices::new(&numbers),
                    );
                    tree["spec"].as_object().cloned().unwrap_or_default()
                };
                let found = mended(&named);
                assert!(found.contains_key("first") || found.contains_key("second"), "{found:?}");
                assert!(!mended(&silent).is_empty());
            }
        }
    }

    #[test]
    fn paths_are_read_as_errors_write_them() {
        let field = |name: &str| Step::Field(name.to_owned());
        let item = |key: &str| Step::Item(key.to_owned());
        for (path, expected) in [
            ("", vec![]),
            ("spec", vec![field("spec")]),
            ("spec.ports[0].name", vec![field("spec"), field("ports"), item("0"), field("name")]),
            ("data[a.b]", vec![field("data"), item("a.b")]),
        ] {
            assert_eq!(steps(path), expected, "{path}");
        }
    }
}
