//! Expressions: compiling and evaluating end, with a value or an error that names a place.

use orch_expression::{
    environment::Environment,
    limits::Limits,
    program::Program,
    types::Type,
    value::{Key, Value},
};

pub fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let request = Type::object("Request", [("verb", Type::Text), ("items", Type::list(Type::Int))]);
    let environment = Environment::new()
        .with_limits(limits)
        .with_variable("request", request)
        .with_variable("any", Type::Dyn);
    let Ok(program) = Program::compile(text, &environment, &Type::Dyn) else { return };
    let items = Value::list((0..5).map(Value::Int).collect());
    let request = Value::object([("verb", Value::from("get")), ("items", items.clone())]);
    let any = Value::map([(Key::from("a"), items), (Key::Int(1), Value::Null)].into());
    if let Ok(value) = program.evaluate(&[("request", request), ("any", any)]) {
        // A shown value could be much longer than the value; its type is enough.
        assert!(!value.type_name().is_empty());
    }
}
