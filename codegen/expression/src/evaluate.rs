//! The value of a typed expression.
//!
//! Each term takes a step of the budget, and functions take more where they look at much. So an evaluation
//! ends after a bounded time, whatever the values of the variables are.

mod fold;

use std::{collections::BTreeMap, sync::Arc};

use orch_runtime::expression::access::{self, exact_key};

use crate::{
    ast::{Element, Entry},
    budget::Budget,
    error::{Failure, Problem},
    fault::Fault,
    function::Overload,
    span::Span,
    typed::{Term, TermKind},
    value::Value,
};

/// How deep values may be nested.
const MAX_DEPTH: usize = 200;

type Evaluated<T = Value> = Result<T, Box<Failure>>;

/// Evaluates a term. `variables` has a value for each variable that is used.
pub(crate) fn evaluate(term: &Term, variables: &[(&str, Value)], budget: &mut Budget) -> Evaluated {
    Evaluation { variables, locals: Vec::new(), budget }.term(term)
}

struct Evaluation<'a> {
    variables: &'a [(&'a str, Value)],
    locals: Vec<Value>,
    budget: &'a mut Budget,
}

impl Evaluation<'_> {
    fn term(&mut self, term: &Term) -> Evaluated {
        self.budget.spend(1).map_err(|fault| failed(term.at, fault))?;
        let value = match &term.kind {
            TermKind::Constant(value) => return Ok(value.clone()),
            TermKind::Variable(name) => return self.variable(name).map_err(|fault| failed(term.at, fault)),
            TermKind::Local(position) => return Ok(self.locals[*position].clone()),
            TermKind::Select { operand, field, is_optional } => {
                let operand = self.term(operand)?;
                access::select(&operand, field, *is_optional)
            }
            TermKind::Has { operand, field } => {
                let operand = self.term(operand)?;
                access::has(&operand, field).map(Value::Bool)
            }
            TermKind::Index { operand, index, is_optional } => {
                let (operand, index) = (self.term(operand)?, self.term(index)?);
                access::index(&operand, &index, *is_optional)
            }
            TermKind::Call { overloads, arguments } => {
                let arguments =
                    arguments.iter().map(|term| self.term(term)).collect::<Evaluated<Vec<_>>>()?;
                call(overloads, &arguments, self.budget)
            }
            TermKind::And(operands) => return self.row(operands, true),
            TermKind::Or(operands) => return self.row(operands, false),
            TermKind::Conditional(parts) => {
                let [condition, then, otherwise] = &**parts;
                let holds = self.boolean(condition)?;
                return self.term(if holds { then } else { otherwise });
            }
            TermKind::List(elements) => Ok(self.list(elements)?),
            TermKind::Map(entries) => return self.map(entries).and_then(|map| shallow(map, term.at)),
            TermKind::Fold(fold) => return self.fold(fold).and_then(|value| shallow(value, term.at)),
            TermKind::Bind { value, body } => {
                let value = self.term(value)?;
                return self.with_local(value, body);
            }
            TermKind::OptionalMap { operand, body, is_flat } => {
                return self.optional_map(operand, body, *is_flat);
            }
        };
        shallow(value.map_err(|fault| failed(term.at, fault))?, term.at)
    }

    fn variable(&self, name: &str) -> Result<Value, Fault> {
        let found = self.variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone()).ok_or_else(|| Fault::Unbound(name.to_owned()))
    }

    fn boolean(&mut self, term: &Term) -> Evaluated<bool> {
        match self.term(term)? {
            Value::Bool(value) => Ok(value),
            _ => Err(failed(term.at, Fault::wrong_type())),
        }
    }

    /// `&&` if `goes_on` is true, else `||`. The first operand with the other value decides, even if one
    /// before it failed; else the first failure is the result.
    fn row(&mut self, operands: &[Term], goes_on: bool) -> Evaluated {
        let mut failure = None;
        for operand in operands {
            match self.boolean(operand) {
                Ok(value) if value == goes_on => {}
                Ok(value) => return Ok(Value::Bool(value)),
                Err(error) if is_final(&error) => return Err(error),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(Value::Bool(goes_on)), Err)
    }

    fn list(&mut self, elements: &[Element<Term>]) -> Evaluated {
        let mut items = Vec::with_capacity(elements.len());
        for Element { value, is_optional } in elements {
            let value = self.term(value)?;
            if *is_optional { items.extend(value.contained().cloned()) } else { items.push(value) }
        }
        Ok(Value::list(items))
    }

    fn map(&mut self, entries: &[Entry<Term>]) -> Evaluated {
        let mut map = BTreeMap::new();
        for Entry { key, value, is_optional } in entries {
            let (at, key, value) = (key.at, self.term(key)?, self.term(value)?);
            let value = if *is_optional { value.contained().cloned() } else { Some(value) };
            let Some(value) = value else { continue };
            let key = exact_key(&key).map_err(|fault| failed(at, fault))?;
            if map.contains_key(&key) {
                return Err(failed(at, Fault::invalid(format!("the key {key} is given twice"))));
            }
            map.insert(key, value);
        }
        Ok(Value::map(map))
    }

    fn with_local(&mut self, value: Value, body: &Term) -> Evaluated {
        self.locals.push(value);
        let result = self.term(body);
        self.locals.pop();
        result
    }

    fn optional_map(&mut self, operand: &Term, body: &Term, is_flat: bool) -> Evaluated {
        let optional = self.term(operand)?;
        if !matches!(optional, Value::Optional(_)) {
            return Err(failed(operand.at, Fault::wrong_type()));
        }
        let Some(value) = optional.contained() else { return Ok(optional) };
        let value = self.with_local(value.clone(), body)?;
        match value {
            Value::Optional(_) if is_flat => Ok(value),
            _ if is_flat => Err(failed(body.at, Fault::wrong_type())),
            _ => shallow(Value::optional(Some(value)), body.at),
        }
    }
}

fn failed(at: Span, fault: Fault) -> Box<Failure> {
    Failure::new(at, Problem::Evaluation(fault))
}

fn is_final(failure: &Failure) -> bool {
    failure.fault().is_some_and(Fault::is_final)
}

/// The value, unless it is nested too deep. Deep values would need deep stacks to be compared and dropped.
fn shallow(value: Value, at: Span) -> Evaluated {
    if value.depth() > MAX_DEPTH { Err(failed(at, Fault::TooDeep)) } else { Ok(value) }
}

/// Calls the first overload that takes the values.
fn call(overloads: &[Arc<Overload>], arguments: &[Value], budget: &mut Budget) -> Result<Value, Fault> {
    for argument in arguments {
        match argument {
            Value::Text(text) => budget.spend_bytes(text.len())?,
            Value::Bytes(bytes) => budget.spend_bytes(bytes.len())?,
            _ => {}
        }
    }
    let overload = match overloads {
        [only] => Some(only),
        several => several.iter().find(|overload| overload.takes(arguments)),
    };
    if let Some(overload) = overload {
        return (overload.implementation)(arguments, budget);
    }
    let types: Vec<&str> = arguments.iter().map(Value::type_name).collect();
    let function = overloads.first().map_or("", |overload| overload.function);
    Err(Fault::NoSuchOverload(format!("{function} of ({})", types.join(", "))))
}

#[cfg(test)]
mod tests;
