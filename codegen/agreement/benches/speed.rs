//! What a simple rule costs, compiled and interpreted: `cargo bench -p orch-agreement`.

use std::{hint::black_box, time::Instant};

use orch_agreement::agreement::v1::Range;
use orch_expression::{environment::Environment, program::Program, types::Type, value::Value};
use orch_runtime::{field_error::Validation, object::Validate, path::Path, vocabulary::EXAMPLE};

const TURNS: u32 = 1_000_000;

fn main() {
    let range = Range { min: 1, max: 5 };
    let mut cx = Validation::new(&EXAMPLE);
    report("compiled", || black_box(&range).validate_expressions(None, &Path::ROOT, &mut cx));
    assert!(cx.is_empty(), "the rule holds");

    let of = Type::object("Range", [("min", Type::Int), ("max", Type::Int)]);
    let environment = Environment::new().with_variable("self", of);
    let Ok(program) = Program::compile("self.min <= self.max", &environment, &Type::Bool) else {
        unreachable!("the rule is right")
    };
    let value = [("self", Value::object([("min", Value::Int(1)), ("max", Value::Int(5))]))];
    report("interpreted", || {
        let holds = program.evaluate(black_box(&value));
        assert!(matches!(holds, Ok(Value::Bool(true))));
    });
}

fn report(name: &str, mut turn: impl FnMut()) {
    let start = Instant::now();
    for _ in 0..TURNS {
        turn();
    }
    let nanos = start.elapsed().as_nanos() as f64 / f64::from(TURNS);
    println!("self.min <= self.max, {name}: {nanos:.1} ns");
}
