//! Functions: which overloads fit.

use std::{collections::HashMap, sync::Arc};

use super::{Checked, Checker, too_deep};
use crate::{
    ast::Node,
    error::Failure,
    function::Overload,
    parser::dotted,
    span::Span,
    typed::{Term, TermKind},
    types::Type,
};

/// How operators are written, by the names of their functions.
const WRITTEN: &[(&str, &str)] = &[("@in", "in"), ("!_", "!"), ("-_", "-")];

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        at: Span,
        function: &str,
        receiver: Option<&Node>,
        arguments: &[Node],
    ) -> Checked {
        // `strings.quote(x)` is one name, unless `strings` is a variable of a macro.
        let full = receiver.filter(|receiver| !self.begins_with_local(receiver)).and_then(dotted);
        let full = full.map(|before| format!("{before}.{function}"));
        let environment = self.environment;
        let found = full.as_deref().and_then(|full| environment.function(full));
        let (overloads, receiver) = match found {
            Some(overloads) => (Some(overloads), None),
            None => (environment.function(function), receiver),
        };
        let is_method = receiver.is_some();
        let overloads: Vec<&Arc<Overload>> =
            overloads.into_iter().flatten().filter(|overload| overload.is_method == is_method).collect();
        if overloads.is_empty() {
            return Err(Failure::wrong_type(at, format!("undeclared function {function:?}")));
        }
        let terms = receiver.into_iter().chain(arguments);
        let terms = terms.map(|argument| self.term(argument)).collect::<Checked<Vec<Term>>>()?;
        self.resolve(at, function, &overloads, terms)
    }

    fn resolve(
        &mut self,
        at: Span,
        function: &str,
        overloads: &[&Arc<Overload>],
        arguments: Vec<Term>,
    ) -> Checked {
        let types: Vec<Type> = arguments.iter().map(|argument| argument.of.clone()).collect();
        let mut fitting = Vec::new();
        let mut of: Option<Type> = None;
        for overload in overloads.iter().filter(|overload| overload.parameters.len() == types.len()) {
            let mut letters = HashMap::new();
            let parameters: Vec<Type> = overload
                .parameters
                .iter()
                .map(|parameter| self.unifier.instance(parameter, &mut letters))
                .collect();
            let result = self.unifier.instance(&overload.result, &mut letters);
            if !self.unifier.unify_all(&parameters, &types) {
                continue;
            }
            fitting.push(Arc::clone(overload));
            let result = self.unifier.settled_so_far(&result).ok_or_else(|| too_deep(at))?;
            of = Some(match of {
                Some(before) if before != result => Type::Dyn,
                _ => result,
            });
        }
        let Some(of) = of else { return Err(self.no_overload(at, function, &arguments)) };
        Ok(Term { kind: TermKind::Call { overloads: fitting, arguments }, of, at })
    }

    fn no_overload(&self, at: Span, function: &str, arguments: &[Term]) -> Box<Failure> {
        let types: Option<Vec<String>> = arguments
            .iter()
            .map(|argument| self.unifier.settled(&argument.of).map(|of| of.to_string()))
            .collect();
        let Some(types) = types else { return too_deep(at) };
        let written = WRITTEN.iter().find(|(name, _)| *name == function).map(|(_, written)| *written);
        let written = written.unwrap_or_else(|| function.trim_matches('_'));
        Failure::wrong_type(at, format!("{written:?} does not take ({})", types.join(", ")))
    }
}
