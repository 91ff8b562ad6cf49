//! Types that are found, and what is refused.

use crate::{environment::Environment, program::Program, types::Type};

fn environment() -> Environment {
    let spec = Type::object("Spec", [("replicas", Type::Int), ("labels", Type::map(Type::Text, Type::Text))]);
    let items = Type::list(spec.clone());
    Environment::new()
        .with_variable("self", Type::object("Widget", [("spec", spec), ("items", items)]))
        .with_variable("any", Type::Dyn)
        .with_variable("a.b", Type::Bool)
}

fn type_of(text: &str) -> String {
    match Program::compile(text, &environment(), &Type::Dyn) {
        Ok(program) => program.term().of.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn types_are_found() {
    for (text, expected) in [
        ("self.spec.replicas + 1", "int"),
        ("self.spec.labels['a']", "string"),
        ("self.spec.?labels", "optional_type(map(string, string))"),
        ("self.?spec.replicas", "optional_type(int)"),
        ("self.items.map(item, item.replicas)", "list(int)"),
        ("self.items.filter(item, item.replicas > 1)", "list(Spec)"),
        ("self.spec.labels.transformMap(k, v, size(v))", "map(string, int)"),
        ("any.field[1].other", "dyn"),
        ("any + 1", "int"),
        ("any ? 1 : 2", "int"),
        ("a.b ? [] : [1]", "list(int)"),
        ("[1, 'a']", "list(dyn)"),
        ("[].map(x, [x])", "list(list(dyn))"),
        ("optional.none().orValue(5)", "int"),
        ("[1].all(a, a == 1) && a.b", "bool"),
        ("cel.bind(x, 'a', x + x)", "string"),
        ("type(1) == int", "bool"),
    ] {
        assert_eq!(type_of(text), expected, "{text}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, expected) in [
        ("self.spec.replica", "1:1: Spec has no field \"replica\""),
        ("selff.spec", "1:1: undeclared name \"selff\""),
        ("self.spec.replicas == '1'", "1:1: \"==\" does not take (int, string)"),
        ("self.items.all(i, i.replicas)", "1:19: the condition has the type int, and not bool"),
        ("size(1)", "1:1: \"size\" does not take (int)"),
        ("sise('a')", "1:1: undeclared function \"sise\""),
        ("1 && true", "1:1: the operand has the type int, and not bool"),
        ("true ? 1 : 'a'", "1:12: the other value has the type string, and not int"),
        ("1.all(x, true)", "1:1: a value of the type int has no items"),
        ("{[1]: 2}", "1:2: a key cannot have the type list(int)"),
        ("Widget{a: 1}", "1:1: objects of the type \"Widget\" cannot be made here"),
        ("[a.b].all(a, a.b)", "1:14: a value of the type bool has no fields"),
    ] {
        assert_eq!(type_of(text), expected, "{text}");
    }
    let wrong = Program::compile("1", &environment(), &Type::Bool).unwrap_err();
    assert_eq!(wrong.to_string(), "1:1: the expression has the type int, and not bool");
}

#[test]
fn types_that_grow_are_bounded() {
    let rows = "[1]".to_owned() + &".map(a, [[[[[[[[a]]]]]]]])".repeat(60);
    assert_eq!(type_of(&rows).split_once(": ").unwrap().1, "the type of a term is nested too deep");
}

#[test]
fn work_grows_with_the_text_and_not_faster() {
    // Each call asks for several types that are not known. Were what is known copied for each, this would
    // take minutes.
    let long = format!("[{}]", vec!["size([]) + size({})"; 1_900].join(", "));
    assert_eq!(type_of(&long), "list(int)");
}
