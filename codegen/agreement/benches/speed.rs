//! What a simple rule costs, compiled and interpreted: `cargo bench -p orch-agreement`. A compiled one is to
//! cost less than 20 ns. `celgo/` measures the same rule with the interpreter of the reference.

use std::{hint::black_box, process::Command, time::Instant};

use orch_agreement::agreement::v1::Range;
use orch_expression::{environment::Environment, program::Program, types::Type, value::Value};
use orch_runtime::{field_error::Validation, object::Validate, path::Path, vocabulary::EXAMPLE};

const TURNS: u32 = 1_000_000;
const MOST_NANOS: f64 = 20.0;

fn main() {
    let range = Range { min: 1, max: 5 };
    let mut cx = Validation::new(&EXAMPLE);
    let compiled = report("compiled", || {
        black_box(&range).validate_expressions(None, &Path::ROOT, black_box(&mut cx));
    });
    assert!(black_box(&cx).is_empty(), "the rule holds");
    assert!(compiled < MOST_NANOS, "a compiled rule costs less than {MOST_NANOS} ns");

    let of = Type::object("Range", [("min", Type::Int), ("max", Type::Int)]);
    let environment = Environment::new().with_variable("self", of);
    let Ok(program) = Program::compile("self.min <= self.max", &environment, &Type::Bool) else {
        unreachable!("the rule is right")
    };
    let value = [("self", Value::object([("min", Value::Int(1)), ("max", Value::Int(5))]))];
    report("interpreted", || {
        let holds = black_box(program.evaluate(black_box(&value)));
        assert!(matches!(holds, Ok(Value::Bool(true))));
    });
    measure_reference();
}

/// The interpreter of the reference says itself what it takes.
fn measure_reference() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/celgo");
    let is_measured = Command::new("go").args(["run", "."]).current_dir(folder).status();
    if !is_measured.is_ok_and(|status| status.success()) {
        println!("SKIPPED: cel-go needs Go and its modules");
    }
}

fn report(name: &str, mut turn: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..TURNS {
        turn();
    }
    let nanos = start.elapsed().as_nanos() as f64 / f64::from(TURNS);
    println!("self.min <= self.max, {name}: {nanos:.1} ns");
    nanos
}
