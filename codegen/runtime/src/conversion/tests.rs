//! Steps of conversions, each both ways.

use serde_json::json;

use super::*;
use crate::vocabulary::EXAMPLE;

const NOTE: &str = "example.com/kept";

fn step(at: Place, below: &'static [Place], above: &'static [Place], how: How) -> Step {
    Step { at, below, above, how, annotation: Some(NOTE) }
}

fn converted(step: &Step, direction: Direction, tree: &Tree) -> Tree {
    let mut tree = tree.clone();
    convert(std::slice::from_ref(step), direction, true, &EXAMPLE, &mut tree);
    tree
}

fn kept(mut tree: Tree, text: &str) -> Tree {
    tree["metadata"] = json!({"annotations": {NOTE: text}});
    tree
}

/// Both ways of every sort of step, with what has no place in the other form.
#[test]
fn steps_go_both_ways() {
    use Direction::{Down, Up};
    const A: &[Place] = &[&["a"]];
    const B: &[Place] = &[&["b"]];
    const TWO: &[Place] = &[&["x"], &["y", "z"]];
    let moved = step(&[], TWO, &[&["y", "p"], &["q"]], How::Move);
    let inner = step(&["items", EACH], A, B, How::Move);
    let default = step(&["in"], A, A, How::Default("30"));
    let wrap = step(&[], A, B, How::Wrap);
    let unwrap = step(&[], A, B, How::Unwrap);
    let join = step(&[], TWO, B, How::Join(":"));
    let split = step(&[], A, TWO, How::Split(":"));
    let values = step(&[], A, B, How::Values(&[("One", "1"), ("Uno", "1")]));
    let constant = step(&[], &[], B, How::Constant("\"c\""));
    let keep = step(&[], &[], B, How::Keep);
    for (step, direction, given, expected) in [
        (&moved, Up, json!({"x": 1, "y": {"z": 2}}), json!({"y": {"p": 1}, "q": 2})),
        (&moved, Up, json!({"y": {"z": 2, "other": 3}}), json!({"y": {"other": 3}, "q": 2})),
        (&inner, Up, json!({"items": [{"a": 1}, {"c": 2}]}), json!({"items": [{"b": 1}, {"c": 2}]})),
        (&inner, Up, json!({"items": {"k": {"a": 1}}}), json!({"items": {"k": {"b": 1}}})),
        (&default, Up, json!({"in": {"a": 7}}), json!({"in": {"a": 7}})),
        (&default, Down, json!({"in": {"a": 0}}), kept(json!({"in": {"a": 0}}), "0")),
        (&wrap, Up, json!({"a": "v"}), json!({"b": ["v"]})),
        (&wrap, Down, json!({"b": ["v", "w"]}), kept(json!({"a": "v"}), "[\"v\",\"w\"]")),
        (&wrap, Down, json!({"b": []}), kept(json!({}), "[]")),
        (&wrap, Down, json!({"b": [""]}), kept(json!({"a": ""}), "[\"\"]")),
        (&unwrap, Down, json!({"b": "v"}), json!({"a": ["v"]})),
        (&unwrap, Up, json!({"a": ["v", "w"]}), kept(json!({"b": "v"}), "[\"v\",\"w\"]")),
        (&unwrap, Up, json!({"a": [""]}), kept(json!({"b": ""}), "[\"\"]")),
        (&join, Up, json!({"x": "h", "y": {"z": "80"}}), json!({"b": "h:80"})),
        (&join, Up, json!({"x": "h"}), json!({"b": "h"})),
        (&join, Up, json!({"x": "h:1"}), kept(json!({"b": "h:1"}), "[\"h:1\",null]")),
        (&join, Down, json!({"b": "h:80:1"}), json!({"x": "h", "y": {"z": "80:1"}})),
        (&split, Up, json!({"a": "h:80"}), json!({"x": "h", "y": {"z": "80"}})),
        (&split, Up, json!({"a": "h:"}), kept(json!({"x": "h"}), "\"h:\"")),
        (&values, Up, json!({"a": "One"}), json!({"b": "1"})),
        (&values, Up, json!({"a": "Two"}), json!({"b": "Two"})),
        (&values, Up, json!({"a": "Uno"}), kept(json!({"b": "1"}), "\"Uno\"")),
        (&constant, Up, json!({}), json!({"b": "c"})),
        (&constant, Down, json!({"b": "d"}), kept(json!({}), "\"d\"")),
        (&keep, Down, json!({"b": {"c": [1]}}), kept(json!({}), "{\"c\":[1]}")),
        (&keep, Down, json!({"a": 1}), json!({"a": 1})),
    ] {
        let there = converted(step, direction, &given);
        assert_eq!(there, expected, "{step:?} {direction:?} {given}");
        let mut back = converted(step, direction.reverse(), &there);
        if back["metadata"] == json!({}) {
            back.as_object_mut().unwrap().remove("metadata");
        }
        assert_eq!(back, given, "{step:?} {direction:?} and back");
    }
    let absent = json!({"in": {"other": 1}});
    assert_eq!(converted(&default, Up, &absent), json!({"in": {"other": 1, "a": 30}}));
    assert_eq!(converted(&default, Up, &json!({})), json!({}), "there is nothing to fill in");
}

#[test]
fn what_was_kept_counts_while_the_object_is_as_it_was() {
    let wrap = step(&[], &[&["a"]], &[&["b"]], How::Wrap);
    let default = step(&[], &[&["a"]], &[&["a"]], How::Default("30"));
    let plain = |tree: Tree| {
        let mut tree = tree;
        tree.as_object_mut().unwrap().remove("metadata");
        tree
    };
    for (step, given, text, expected) in [
        (&wrap, json!({"a": "v"}), "[\"v\",\"w\"]", json!({"b": ["v", "w"]})),
        (&wrap, json!({"a": "new"}), "[\"v\",\"w\"]", json!({"b": ["new"]})),
        (&wrap, json!({"a": "v"}), "no JSON", json!({"b": ["v"]})),
        (&default, json!({"a": 0}), "0", json!({"a": 0})),
        (&default, json!({"a": 0}), "", json!({"a": 0})),
        (&default, json!({"a": 5}), "0", json!({"a": 5})),
    ] {
        let up = converted(step, Direction::Up, &kept(given.clone(), text));
        assert_eq!(plain(up), expected, "{given} {text}");
        let mut ignored = kept(given, text);
        convert(std::slice::from_ref(step), Direction::Up, false, &EXAMPLE, &mut ignored);
        assert_eq!(ignored["metadata"], json!({}), "an annotation that is not used is dropped");
    }
}

/// A name stands for one field below and for another one above; whichever step comes first.
#[test]
fn all_values_are_taken_before_any_is_put() {
    use Direction::{Down, Up};
    let plain = |at, below, above, how| Step { annotation: None, ..step(at, below, above, how) };
    let steps = [
        plain(&["spec"], &[&["shares"]], &[&["shares"]], How::Default("30")),
        plain(&[], &[&["spec", "host"]], &[&["spec", "name"]], How::Move),
        plain(&[], &[&["spec", "name"]], &[&["spec", "names"]], How::Wrap),
        plain(&[], &[&["to"]], &[&["to", "kind"], &["to", "name"]], How::Split("/")),
        plain(&["in"], &[&["look"]], &[&["paint"]], How::Move),
        plain(&["in"], &[&["colour"]], &[&["look", "colour"]], How::Move),
    ];
    let reversed: Vec<Step> = steps.iter().rev().copied().collect();
    for steps in [&steps[..], &reversed] {
        for (below, above) in [
            (
                json!({"spec": {"host": "h", "name": "n", "shares": 1}}),
                json!({"spec": {"name": "h", "names": ["n"], "shares": 1}}),
            ),
            (json!({"spec": {"host": "h", "shares": 1}}), json!({"spec": {"name": "h", "shares": 1}})),
            (json!({"to": "a/b"}), json!({"to": {"kind": "a", "name": "b"}})),
            (
                json!({"in": {"look": {}, "colour": "red"}}),
                json!({"in": {"look": {"colour": "red"}, "paint": {}}}),
            ),
            (json!({"in": {"colour": "red"}}), json!({"in": {"look": {"colour": "red"}}})),
            (json!({"spec": {"shares": 1}}), json!({"spec": {"shares": 1}})),
        ] {
            for (direction, from, to) in [(Up, &below, &above), (Down, &above, &below)] {
                let mut tree = from.clone();
                convert(steps, direction, true, &EXAMPLE, &mut tree);
                assert_eq!(&tree, to, "{direction:?} {from}");
            }
        }
        let mut nothing_left = json!({"to": {}});
        convert(steps, Down, true, &EXAMPLE, &mut nothing_left);
        assert_eq!(nothing_left, json!({}), "an object is no text");
        let mut moved_away = json!({"spec": {"name": "n"}});
        convert(steps, Up, true, &EXAMPLE, &mut moved_away);
        assert_eq!(moved_away, json!({"spec": {"names": ["n"], "shares": 30}}), "there is a spec to fill in");
        let below = json!({"f:spec": {"f:host": {}, "f:name": {}}, "f:to": {}});
        let mut set = below.clone();
        owned::convert(steps, &Wholes::default(), Up, &mut set);
        assert_eq!(
            set,
            json!({"f:spec": {"f:name": {}, "f:names": {}}, "f:to": {"f:kind": {}, "f:name": {}}})
        );
        owned::convert(steps, &Wholes::default(), Down, &mut set);
        assert_eq!(set, below);
        for (below, above) in [("spec.host", Some("spec.name")), ("spec.name", None)] {
            assert_eq!(path(steps, Up, below).as_deref(), above);
        }
    }
}

/// An object from which all has gone stays where an annotation keeps a part of it, and goes otherwise.
#[test]
fn what_is_kept_comes_back_to_its_object() {
    use Direction::{Down, Up};
    let named =
        |annotation, at, above, how| Step { annotation: Some(annotation), ..step(at, &[], above, how) };
    let steps =
        [named("a", &["in"], &[&["tongue"]], How::Keep), named("b", &[], &[&["in", "site"]], How::Keep)];
    let reversed: Vec<Step> = steps.iter().rev().copied().collect();
    for steps in [&steps[..], &reversed] {
        for (above, below) in [
            (
                json!({"in": {"tongue": "de", "site": "s"}}),
                json!({"in": {}, "metadata": {"annotations": {"a": "\"de\"", "b": "\"s\""}}}),
            ),
            (json!({"in": {"site": "s"}}), json!({"metadata": {"annotations": {"b": "\"s\""}}})),
            (json!({"in": {}}), json!({"in": {}})),
        ] {
            let mut tree = above.clone();
            convert(steps, Down, true, &EXAMPLE, &mut tree);
            assert_eq!(tree, below, "{above}");
            convert(steps, Up, true, &EXAMPLE, &mut tree);
            tree.as_object_mut().unwrap().remove("metadata");
            assert_eq!(tree, above);
        }
    }
}

#[test]
fn paths_and_owners_follow_what_moves() {
    let steps: &'static [Step] = Box::leak(Box::new([
        step(&["spec", "ports", EACH], &[&["port"]], &[&["number"]], How::Move),
        step(&["spec"], &[&["size"]], &[&["dimension", "size"]], How::Move),
        step(&["spec"], &[&["host"]], &[&["hosts"]], How::Wrap),
    ]));
    for (below, above) in [
        ("spec.size", Some("spec.dimension.size")),
        ("spec.sizes", Some("spec.sizes")),
        ("metadata.name", Some("metadata.name")),
        ("spec.host", None),
    ] {
        assert_eq!(path(steps, Direction::Up, below).as_deref(), above);
        if let Some(above) = above {
            assert_eq!(path(steps, Direction::Down, above).as_deref(), Some(below));
        }
    }
    let below = json!({"f:spec": {
        "f:host": {},
        "f:ports": {"k:{\"a\":\"TCP\",\"port\":80}": {".": {}, "f:port": {}}, "v:1": {}},
        "f:size": {}, "f:sort": {},
    }});
    let mut set = below.clone();
    owned::convert(steps, &Wholes::default(), Direction::Up, &mut set);
    let above = json!({"f:spec": {
        "f:dimension": {"f:size": {}}, "f:hosts": {},
        "f:ports": {"k:{\"a\":\"TCP\",\"number\":80}": {".": {}, "f:number": {}}, "v:1": {}},
        "f:sort": {},
    }});
    assert_eq!(set.to_string(), above.to_string());
    owned::convert(steps, &Wholes::default(), Direction::Down, &mut set);
    assert_eq!(set.to_string(), below.to_string());
}

/// Who owns a part of what is owned as a whole owns all of it, and all that becomes of it.
#[test]
fn owners_of_parts_own_the_whole() {
    use Direction::{Down, Up};
    const WHOLES: Wholes = Wholes {
        below: &[&["spec", "same"], &["spec", "parts", EACH, "at"]],
        above: &[&["spec", "same"], &["spec", "ref"], &["spec", "parts", EACH, "at"]],
    };
    let steps: &'static [Step] = Box::leak(Box::new([
        step(&["spec", "parts", EACH], &[&["zone"]], &[&["at", "zone"]], How::Move),
        step(
            &[],
            &[&["spec", "name"], &["spec", "same", "from"]],
            &[&["spec", "ref", "name"], &["spec", "out"]],
            How::Move,
        ),
        step(
            &[],
            &[&["spec", "path"]],
            &[&["spec", "ref", "group"], &["spec", "ref", "kind"]],
            How::Split("/"),
        ),
        step(&[], &[&["spec", "same", "a"]], &[&["spec", "same", "b"]], How::Move),
    ]));
    for (from, there, back) in [
        (json!({"f:name": {}}), json!({"f:ref": {}}), json!({"f:name": {}, "f:path": {}})),
        (json!({"f:path": {}}), json!({"f:ref": {}}), json!({"f:name": {}, "f:path": {}})),
        (json!({"f:same": {}}), json!({"f:out": {}, "f:same": {}}), json!({"f:same": {}})),
        (json!({"f:other": {}}), json!({"f:other": {}}), json!({"f:other": {}})),
        (
            json!({"f:parts": {"k:{\"a\":1}": {".": {}, "f:zone": {}}}}),
            json!({"f:parts": {"k:{\"a\":1}": {".": {}, "f:at": {}}}}),
            json!({"f:parts": {"k:{\"a\":1}": {".": {}, "f:at": {}, "f:zone": {}}}}),
        ),
    ] {
        let set = |fields: &Tree| json!({"f:spec": fields});
        let mut owned = set(&from);
        owned::convert(steps, &WHOLES, Up, &mut owned);
        assert_eq!(owned, set(&there), "{from}");
        owned::convert(steps, &WHOLES, Down, &mut owned);
        assert_eq!(owned, set(&back), "{from}");
        owned::convert(steps, &WHOLES, Up, &mut owned);
        assert_eq!(owned, set(&there), "what is owned there stays: {from}");
    }
}
