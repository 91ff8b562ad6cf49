//! Macros: calls that are terms of their own, because an argument is a name or is not always evaluated.

use super::{Parsed, Parser, depth};
use crate::{
    ast::{Bind, Fold, FoldKind, Node, NodeKind, OptionalMap},
    error::Failure,
    span::Span,
};

/// Macros over items: the name, the number of variables, and what they do. Those that make values may have a
/// condition between the variables and the body.
const FOLDS: &[(&str, usize, FoldKind)] = &[
    ("all", 1, FoldKind::All),
    ("all", 2, FoldKind::All),
    ("exists", 1, FoldKind::Exists),
    ("exists", 2, FoldKind::Exists),
    ("exists_one", 1, FoldKind::ExistsOne),
    ("exists_one", 2, FoldKind::ExistsOne),
    ("existsOne", 1, FoldKind::ExistsOne),
    ("existsOne", 2, FoldKind::ExistsOne),
    ("filter", 1, FoldKind::Filter),
    ("map", 1, FoldKind::Map),
    ("transformList", 2, FoldKind::Map),
    ("transformMap", 2, FoldKind::TransformMap),
    ("transformMapEntry", 2, FoldKind::TransformMapEntry),
];

impl Parser<'_> {
    /// `function(arguments)`.
    pub(super) fn function(&mut self, at: Span, function: &str, mut arguments: Vec<Node>) -> Parsed {
        if function != "has" || arguments.len() != 1 {
            return self.call(at, function, None, arguments);
        }
        let argument = arguments.remove(0);
        let below = argument.depth;
        let NodeKind::Select { operand, field, is_optional: false } = argument.kind else {
            return Err(Failure::syntax(argument.at, "has() takes a field, as in has(a.b)"));
        };
        self.node(at, below, NodeKind::Has { operand, field })
    }

    /// `receiver.function(arguments)`.
    pub(super) fn method(
        &mut self,
        at: Span,
        function: &str,
        receiver: Node,
        arguments: Vec<Node>,
    ) -> Parsed {
        let count = arguments.len();
        let fold = FOLDS.iter().find(|(name, variables, kind)| {
            let makes_values =
                matches!(kind, FoldKind::Map | FoldKind::TransformMap | FoldKind::TransformMapEntry);
            *name == function && (count == variables + 1 || makes_values && count == variables + 2)
        });
        let below = receiver.depth.max(depth(&arguments));
        if let Some((_, variables, kind)) = fold {
            let fold = fold_of(*kind, *variables, receiver, arguments)?;
            return self.node(at, below, NodeKind::Fold(Box::new(fold)));
        }
        if matches!(function, "optMap" | "optFlatMap") && count == 2 {
            let [variable, body] = <[Node; 2]>::try_from(arguments).expect("there are two");
            let (variable, is_flat) = (variable_of(&variable)?, function == "optFlatMap");
            let map = OptionalMap { operand: receiver, variable, body, is_flat };
            return self.node(at, below, NodeKind::OptionalMap(Box::new(map)));
        }
        let is_cel = matches!(&receiver.kind, NodeKind::Name { name, is_absolute: false } if name == "cel");
        if is_cel && function == "bind" && count == 3 {
            let [variable, value, body] = <[Node; 3]>::try_from(arguments).expect("there are three");
            let bind = Bind { variable: variable_of(&variable)?, value, body };
            return self.node(at, below, NodeKind::Bind(Box::new(bind)));
        }
        self.call(at, function, Some(receiver), arguments)
    }
}

fn fold_of(kind: FoldKind, variables: usize, range: Node, mut arguments: Vec<Node>) -> Parsed<Fold> {
    let body = arguments.pop().expect("a macro has a body");
    let filter = if arguments.len() > variables { arguments.pop() } else { None };
    let names = arguments.iter().map(variable_of).collect::<Parsed<Vec<String>>>()?;
    if let [first, second] = names.as_slice()
        && first == second
    {
        return Err(Failure::syntax(arguments[1].at, "the two variables need different names"));
    }
    Ok(Fold { kind, range, variables: names, filter, body })
}

/// The name in the place of a variable.
fn variable_of(node: &Node) -> Parsed<String> {
    match &node.kind {
        NodeKind::Name { name, is_absolute: false } => Ok(name.clone()),
        _ => Err(Failure::syntax(node.at, "expected the name of a variable")),
    }
}
