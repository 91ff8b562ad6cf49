//! Bounds of evaluations, and faults with their places. Values are in `tests/conformance`.

use crate::{
    environment::Environment, error::Problem, fault::Fault, limits::Limits, program::Program, types::Type,
    value::Value,
};

fn evaluate(text: &str, any: Value) -> Result<Value, Problem> {
    let environment = Environment::new().with_variable("any", Type::Dyn);
    let program = Program::compile(text, &environment, &Type::Dyn).unwrap_or_else(|error| panic!("{error}"));
    program.evaluate(&[("any", any)]).map_err(|error| error.problem)
}

fn fault(text: &str, any: Value) -> Option<Fault> {
    match evaluate(text, any) {
        Err(Problem::Evaluation(fault)) => Some(fault),
        _ => None,
    }
}

#[test]
fn faults_have_a_place() {
    let program = Program::compile("1 +\n 2 / 0", &Environment::new(), &Type::Int).unwrap();
    assert_eq!(program.evaluate(&[]).unwrap_err().to_string(), "2:2: division by zero");
}

#[test]
fn costs_are_bounded_however_they_come() {
    let numbers = || Value::list((0..10_000).map(Value::Int).collect());
    let text = || Value::from("a".repeat(1_000_000));
    for (expression, any) in [
        ("any.all(a, any.all(b, any.all(c, true)))", numbers()),
        ("any.map(a, any.map(b, any))", numbers()),
        ("lists.range(1000000000).size() > 0", Value::Null),
        ("any.distinct() == any", numbers()),
        ("lists.range(900).map(i, any + any).size() > 0", text()),
        ("[1, 2, 3, 4, 5, 6, 7, 8, 9].map(i, any.matches('(a+)+$')).size() > 0", text()),
        ("any.replace('a', any).size() > 0", text()),
        ("any.split('').size() > 0", text()),
        ("'%s'.format([any.map(a, any)]).size() > 0", numbers()),
    ] {
        assert_eq!(fault(expression, any), Some(Fault::TooManySteps), "{expression}");
    }
}

#[test]
fn a_small_value_with_many_parts_is_not_walked_to_its_end() {
    // Eight lists, each of which has the one before eight times: 16 million parts.
    let last = "v8 == [v8[0], v8[1], v8[2], v8[3], v8[4], v8[5], v8[6], v8[7]]".to_owned();
    let text = (1..=8).rev().fold(last, |text, level| {
        let inner = vec![format!("v{}", level - 1); 8].join(", ");
        format!("cel.bind(v{level}, [{inner}], {text})")
    });
    assert_eq!(fault(&format!("cel.bind(v0, any, {text})"), Value::Null), Some(Fault::TooManySteps));
}

#[test]
fn running_out_of_steps_cannot_be_hidden() {
    let expensive = "lists.range(1000000000).size() > 0";
    for text in [format!("true || {expensive}"), format!("{expensive} || true")] {
        let is_first = text.starts_with("true");
        assert_eq!(fault(&text, Value::Null).is_none(), is_first, "{text}");
    }
    let hidden = format!("[1, 2].exists(x, x == 2 || {expensive})");
    assert_eq!(fault(&hidden, Value::Null), Some(Fault::TooManySteps));
}

#[test]
fn a_limit_is_that_of_the_environment() {
    let limits = Limits { steps: 10, ..Limits::default() };
    let environment = Environment::new().with_limits(limits);
    let evaluate = |text| Program::compile(text, &environment, &Type::Int).unwrap().evaluate(&[]);
    assert!(evaluate("1 + 2 + 3").is_ok());
    assert!(evaluate("1 + 2 + 3 + 4 + 5 + 6").is_err());
}

#[test]
fn values_are_not_nested_without_end() {
    let rows = "any".to_owned() + &".map(a, dyn([[[[[[[[[[a]]]]]]]]]]))".repeat(60);
    assert_eq!(fault(&rows, Value::list(vec![Value::Null])), Some(Fault::TooDeep));
}

#[test]
fn a_stack_of_two_mebibytes_is_enough() {
    let deepest = [
        "(".repeat(95) + "1" + &")".repeat(95),
        "[".repeat(95) + &"]".repeat(95),
        "dyn(".repeat(95) + "1" + &")".repeat(95),
        vec!["1"; 95].join(" + "),
        "any".to_owned() + &".f".repeat(95),
        "[1].map(a, ".repeat(48) + "a" + &")".repeat(48),
        "true ? 1 : ".repeat(95) + "1",
        "!(".repeat(48) + "true" + &")".repeat(48),
    ];
    let run = move || {
        for text in &deepest {
            let environment = Environment::new().with_variable("any", Type::Dyn);
            if let Ok(program) = Program::compile(text, &environment, &Type::Dyn) {
                drop(program.evaluate(&[("any", Value::Null)]));
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(run).unwrap();
    assert!(thread.join().is_ok());
}

#[test]
fn a_variable_needs_a_value() {
    let environment = Environment::new().with_variable("a", Type::Int);
    let program = Program::compile("true || a == 1", &environment, &Type::Bool).unwrap();
    assert!(program.evaluate(&[]).is_ok());
    let program = Program::compile("a == 1 || true", &environment, &Type::Bool).unwrap();
    assert_eq!(program.evaluate(&[]).unwrap_err().to_string(), "1:1: the variable a has no value");
}
