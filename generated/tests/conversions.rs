//! Proofs of conversions, for random objects of every kind that is converted: nothing is lost on the way to
//! the other form and back, from either side.
//!
//! `ORCH_TEST_CASES=100000` looks at more objects; `ORCH_TEST_SEED=7` repeats a run.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

#[path = "support/random.rs"]
mod random;

use std::env;

use orch_api::KUBERNETES;
use orch_runtime::{
    Tree, TreeMap,
    conversion::Direction,
    resource_def::ResourceDef,
    type_def::{Shape, TypeDef},
};
use proptest::{collection::vec, prelude::*, test_runner::TestCaseError};
use random::{Choices, for_every_kind, object};

/// How many objects of each form are made, unless `ORCH_TEST_CASES` says otherwise.
const CASES: u32 = 1000;

/// Checks a property of objects of one side of every conversion. It is given the kind of that side, the other
/// one, and the way there.
fn for_objects(
    direction: Direction,
    property: impl Fn(&'static ResourceDef, &'static ResourceDef, &Tree) -> Result<(), TestCaseError>,
) {
    let cases = env::var("ORCH_TEST_CASES").ok().map_or(CASES, |cases| cases.parse().unwrap());
    let proved = std::cell::Cell::new(0);
    for_every_kind(cases, |resource, runner| {
        let Some(conversion) = &resource.conversion else { return };
        let (from, to) = match direction {
            Direction::Up => (resource, conversion.to),
            Direction::Down => (conversion.to, resource),
        };
        let run = runner.run(&vec(any::<u32>(), 100..400), |numbers| {
            property(from, to, &object(from.type_def, &mut Choices::new(&numbers)))
        });
        run.unwrap_or_else(|error| panic!("{} {} {direction:?}: {error}", resource.version, resource.kind));
        proved.set(proved.get() + 1);
    });
    assert!(proved.get() > 0, "no kind is converted");
}

/// What the type makes of a tree; with its defaults, as it is stored and as clients see it.
fn typed(resource: &ResourceDef, tree: Tree, defaults: bool) -> Tree {
    let mut object = (resource.from_tree)(tree).unwrap();
    if defaults {
        object.set_defaults();
    }
    object.to_tree().unwrap()
}

/// An object of one kind in the form of the other one.
fn converted(from: &ResourceDef, to: &ResourceDef, tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    let (conversion, direction) = between(from, to);
    conversion.convert(direction, true, &KUBERNETES, &mut tree);
    typed(to, tree, false)
}

fn between<'r>(
    from: &'r ResourceDef,
    to: &'r ResourceDef,
) -> (&'r orch_runtime::resource_def::ConversionDef, Direction) {
    match (&from.conversion, &to.conversion) {
        (Some(conversion), _) if std::ptr::eq(conversion.to, to) => (conversion, Direction::Up),
        (_, Some(conversion)) => (conversion, Direction::Down),
        _ => panic!("the kinds are not converted"),
    }
}

#[test]
fn what_goes_up_comes_down_as_it_was() {
    for_objects(Direction::Up, |from, to, made| {
        let object = typed(from, made.clone(), true);
        let above = converted(from, to, &object);
        let back = typed(from, converted(to, from, &above), true);
        // A zero that means the default is the default from then on.
        prop_assert_eq!(converted(from, to, &back), above, "{}", object);
        Ok(())
    });
}

#[test]
fn what_goes_down_comes_up_as_it_was() {
    for_objects(Direction::Down, |from, to, made| {
        let object = typed(from, made.clone(), true);
        let below = converted(from, to, &object);
        prop_assert_eq!(converted(to, from, &below), object.clone(), "{}", below);
        // A client that sends back what it has read, with the defaults of its version, changes nothing.
        let sent = typed(to, below.clone(), true);
        prop_assert_eq!(converted(to, from, &sent), object);
        prop_assert_eq!(sent, below);
        Ok(())
    });
}

#[test]
fn defaults_of_either_side_are_the_same() {
    for_objects(Direction::Up, |from, to, made| {
        let sent = typed(from, made.clone(), true);
        let stored = typed(to, converted(from, to, &sent), true);
        let shown = converted(to, from, &stored);
        prop_assert_eq!(typed(from, shown.clone(), true), shown);
        Ok(())
    });
}

/// Who owns every field of an object owns every field of it in the other form and back. What only an
/// annotation keeps has no owner there.
#[test]
fn owners_of_fields_stay() {
    for direction in [Direction::Up, Direction::Down] {
        for_objects(direction, |from, to, made| {
            let object = typed(from, made.clone(), true);
            let owned = all_of(&object, from.type_def);
            let (conversion, direction) = between(from, to);
            let mut there = owned.clone();
            conversion.convert_owned(direction, &mut there);
            let mut back = there.clone();
            conversion.convert_owned(direction.reverse(), &mut back);
            prop_assert_eq!(back, owned, "{}", there);
            Ok(())
        });
    }
}

/// The set of all fields of an object, lists as a whole.
fn all_of(tree: &Tree, def: &'static TypeDef) -> Tree {
    let fields = tree.as_object().into_iter().flatten().map(|(name, value)| {
        let below = match def.field(name).map(|field| &field.shape) {
            Some(Shape::Object(def)) => all_of(value, def),
            _ => Tree::Object(TreeMap::new()),
        };
        (format!("f:{name}"), below)
    });
    let sorted: std::collections::BTreeMap<String, Tree> = fields.collect();
    Tree::Object(sorted.into_iter().collect())
}
