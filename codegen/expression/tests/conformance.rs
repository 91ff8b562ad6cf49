//! The cases of the CEL specification (its tests, `simple/testdata`), as tables: an expression, the variables
//! with their types, and its value, as an expression too, or that it fails.
//!
//! Left out are cases about protocol buffer messages, containers and declared functions. Where the
//! specification turns the type checker off, a case says `unchecked`: here it is always on, and may refuse
//! it.

#![expect(clippy::unwrap_used, reason = "a panic is the report of a test")]

use std::{collections::BTreeMap, fs, path::Path};

use orch_expression::{environment::Environment, program::Program, types::Type, value::Value};
use serde_json::Value as Json;

/// What a line of a table may say.
#[derive(Default)]
struct Case {
    expression: String,
    /// The type and the value of each variable; the value is an expression.
    variables: BTreeMap<String, (String, String)>,
    /// The value.
    is: Option<String>,
    /// The type that the checker finds.
    of: Option<String>,
    /// Whether it cannot be compiled or evaluated.
    fails: bool,
    /// Whether the type checker may refuse it.
    unchecked: bool,
}

#[test]
fn the_cases_of_the_specification_have_their_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut count, mut refused, mut problems) = (0, 0, Vec::new());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for (index, line) in text.lines().enumerate() {
            count += 1;
            match judge(&case_of(line)) {
                Ok(is_judged) => refused += usize::from(!is_judged),
                Err(problem) => {
                    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
                    problems.push(format!("{name}:{}: {problem}\n    {line}", index + 1));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} of {count}:\n{}", problems.len(), problems.join("\n"));
    assert!(count > 1400, "only {count} cases are found");
    assert!(refused < 40, "the type checker refuses {refused}");
}

fn case_of(line: &str) -> Case {
    let Json::Object(fields) = serde_json::from_str(line).unwrap() else { panic!("no object: {line}") };
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let mut case = Case::default();
    for (name, field) in &fields {
        match name.as_str() {
            "expression" => case.expression = text(field),
            "variables" => {
                let variables = field.as_object().unwrap().iter();
                case.variables =
                    variables.map(|(name, pair)| (name.clone(), (text(&pair[0]), text(&pair[1])))).collect();
            }
            "is" => case.is = Some(text(field)),
            "type" => case.of = Some(text(field)),
            "fails" => case.fails = field.as_bool().unwrap(),
            "unchecked" => case.unchecked = field.as_bool().unwrap(),
            other => panic!("unknown field {other}: {line}"),
        }
    }
    case
}

/// Whether the case was judged; one that the type checker may refuse, and does, is not.
fn judge(case: &Case) -> Result<bool, String> {
    let mut environment = Environment::new();
    let mut variables = Vec::new();
    for (name, (of, value)) in &case.variables {
        environment = environment.with_variable(name, Type::parse(of).expect("the type is right"));
        variables.push((name.as_str(), constant(value)));
    }
    let program = match Program::compile(&case.expression, &environment, &Type::Dyn) {
        Ok(program) => program,
        Err(_) if case.fails => return Ok(true),
        Err(_) if case.unchecked => return Ok(false),
        Err(error) => return Err(error.to_string()),
    };
    if let Some(of) = &case.of {
        let found = program.term().of.to_string();
        if found != *of {
            return Err(format!("has the type {found}"));
        }
    }
    match (program.evaluate(&variables), &case.is) {
        (Err(_), None) if case.fails => Ok(true),
        (Ok(found), Some(wanted)) if found.to_string() == constant(wanted).to_string() => Ok(true),
        (_, None) if case.of.is_some() => Ok(true),
        (Ok(found), _) => Err(format!("is {found}")),
        (Err(error), _) => Err(error.to_string()),
    }
}

/// The value of an expression without variables.
fn constant(text: &str) -> Value {
    let program = Program::compile(text, &Environment::new(), &Type::Dyn);
    program.and_then(|program| program.evaluate(&[])).unwrap_or_else(|error| panic!("{text}: {error}"))
}
