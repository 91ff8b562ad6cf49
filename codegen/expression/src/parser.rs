//! From text to terms.
//!
//! Binary operators are parsed by precedence, so the parser calls itself only for what stands in brackets,
//! and never for a long row of operators. How deep it may go is bounded.

mod macros;

use crate::{
    ast::{Element, Entry, Literal, Node, NodeKind},
    error::{Failure, Problem},
    lexer::{Token, tokens},
    limits::Limits,
    span::Span,
};

/// Operators with two operands: how they are written, the function, and how tightly they bind.
const OPERATORS: &[(&str, &str, u8)] = &[
    ("<", "_<_", 1),
    ("<=", "_<=_", 1),
    (">", "_>_", 1),
    (">=", "_>=_", 1),
    ("==", "_==_", 1),
    ("!=", "_!=_", 1),
    ("in", "@in", 1),
    ("+", "_+_", 2),
    ("-", "_-_", 2),
    ("*", "_*_", 3),
    ("/", "_/_", 3),
    ("%", "_%_", 3),
];

/// Names that the language keeps for later. They may stand behind a dot.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Names that may not even stand behind a dot.
const KEYWORDS: &[&str] = &["false", "in", "null", "true"];

/// Parses a whole text.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Node, Box<Failure>> {
    if text.len() > limits.text {
        let problem = format!("the expression is longer than {} bytes", limits.text);
        return Err(Failure::new(Span::default(), Problem::TooLarge(problem)));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, nesting: 0, terms: 0, limits };
    let node = parser.expression()?;
    parser.expect_end()?;
    Ok(node)
}

struct Parser<'t> {
    tokens: &'t [(Token, Span)],
    at: usize,
    /// How often the parser is inside of itself.
    nesting: usize,
    terms: usize,
    limits: &'t Limits,
}

type Parsed<T = Node> = Result<T, Box<Failure>>;

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    /// Moves on; the end stays the end.
    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.take(symbol) { Ok(()) } else { Err(self.unexpected(&format!("{symbol:?}"))) }
    }

    fn expect_end(&self) -> Parsed<()> {
        if *self.peek() == Token::End { Ok(()) } else { Err(self.unexpected("an operator or the end")) }
    }

    fn unexpected(&self, wanted: &str) -> Box<Failure> {
        let found = match self.peek() {
            Token::Name(name) => format!("{name:?}"),
            Token::Quoted(name) => format!("`{name}`"),
            Token::Literal(_) | Token::Int(_) => "a value".to_owned(),
            Token::Symbol(symbol) => format!("{symbol:?}"),
            Token::End => "the end".to_owned(),
        };
        Failure::syntax(self.span(), format!("expected {wanted}, found {found}"))
    }

    /// A term over others, whose greatest depth is given. All terms are made here, and counted.
    fn node(&mut self, at: Span, below: usize, kind: NodeKind) -> Parsed {
        self.terms += 1;
        if self.terms > self.limits.terms {
            let problem = format!("the expression has more than {} terms", self.limits.terms);
            return Err(Failure::new(at, Problem::TooLarge(problem)));
        }
        let depth = below + 1;
        if depth > self.limits.depth {
            return Err(self.too_deep(at));
        }
        Ok(Node { kind, at, depth })
    }

    fn too_deep(&self, at: Span) -> Box<Failure> {
        let problem = format!("the expression is nested deeper than {} levels", self.limits.depth);
        Failure::new(at, Problem::TooLarge(problem))
    }

    /// Everything: conditions bind least.
    fn expression(&mut self) -> Parsed {
        self.nesting += 1;
        if self.nesting > self.limits.depth {
            return Err(self.too_deep(self.span()));
        }
        let condition = self.row("||")?;
        let node = if self.take("?") {
            let then = self.row("||")?;
            self.expect(":")?;
            let otherwise = self.expression()?;
            let below = condition.depth.max(then.depth).max(otherwise.depth);
            let at = condition.at.to(otherwise.at);
            self.node(at, below, NodeKind::Conditional(Box::new([condition, then, otherwise])))?
        } else {
            condition
        };
        self.nesting -= 1;
        Ok(node)
    }

    /// Operands of `||`, each of which is a row of operands of `&&`: one term, however many there are.
    fn row(&mut self, symbol: &str) -> Parsed {
        let is_or = symbol == "||";
        let mut operands = Vec::new();
        loop {
            operands.push(if is_or { self.row("&&")? } else { self.binary(1)? });
            if !self.take(symbol) {
                break;
            }
        }
        if operands.len() == 1 {
            return Ok(operands.remove(0));
        }
        let at = operands[0].at.to(operands[operands.len() - 1].at);
        let below = depth(&operands);
        self.node(at, below, if is_or { NodeKind::Or(operands) } else { NodeKind::And(operands) })
    }

    /// Operators that bind at least so tightly.
    fn binary(&mut self, least: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Some((function, power)) = self.operator().filter(|(_, power)| *power >= least) {
            self.advance();
            let right = self.binary(power + 1)?;
            let at = left.at.to(right.at);
            left = self.call(at, function, None, vec![left, right])?;
        }
        Ok(left)
    }

    fn operator(&self) -> Option<(&'static str, u8)> {
        let written = match self.peek() {
            Token::Symbol(symbol) => *symbol,
            Token::Name(name) if name == "in" => "in",
            _ => return None,
        };
        OPERATORS
            .iter()
            .find(|(symbol, ..)| *symbol == written)
            .map(|(_, function, power)| (*function, *power))
    }

    /// Any number of one sign; two of them cancel each other.
    fn unary(&mut self) -> Parsed {
        let start = self.span();
        for (symbol, function) in [("!", "!_"), ("-", "-_")] {
            let mut count = 0;
            while self.is_symbol(symbol) && !(symbol == "-" && self.is_negative_number()) {
                self.advance();
                count += 1;
            }
            if count == 0 {
                continue;
            }
            let operand = self.member()?;
            let at = start.to(operand.at);
            // Two are kept where there is an even number, so that the operand's type is still checked.
            let calls = if count % 2 == 1 { 1 } else { 2 };
            return (0..calls).try_fold(operand, |operand, _| self.call(at, function, None, vec![operand]));
        }
        self.member()
    }

    /// Whether here is a minus that belongs to the number behind it.
    fn is_negative_number(&self) -> bool {
        matches!(self.tokens.get(self.at + 1), Some((Token::Int(_) | Token::Literal(Literal::Double(_)), _)))
    }

    /// A term and what is selected of it and called on it.
    fn member(&mut self) -> Parsed {
        let mut node = self.primary()?;
        loop {
            let start = node.at;
            if self.take(".") {
                let is_optional = self.take("?");
                let (field, is_quoted) = self.field_name()?;
                if !is_optional && !is_quoted && self.take("(") {
                    let arguments = self.list_of(")", Self::expression)?;
                    let at = start.to(self.last_span());
                    node = self.method(at, &field, node, arguments)?;
                } else {
                    let (at, below) = (start.to(self.last_span()), node.depth);
                    let kind = NodeKind::Select { operand: Box::new(node), field, is_optional };
                    node = self.node(at, below, kind)?;
                }
            } else if self.take("[") {
                let is_optional = self.take("?");
                let index = self.expression()?;
                self.expect("]")?;
                let (at, below) = (start.to(self.last_span()), node.depth.max(index.depth));
                let kind = NodeKind::Index { operand: Box::new(node), index: Box::new(index), is_optional };
                node = self.node(at, below, kind)?;
            } else if self.is_symbol("{") {
                let Some(name) = dotted(&node) else { return Ok(node) };
                self.advance();
                self.list_of("}", |parser| {
                    parser.take("?");
                    parser.field_name()?;
                    parser.expect(":")?;
                    parser.expression()
                })?;
                let at = start.to(self.last_span());
                node = self.node(at, 0, NodeKind::Message(name))?;
            } else {
                return Ok(node);
            }
        }
    }

    /// What may stand behind a dot, and whether it is in backticks.
    fn field_name(&mut self) -> Parsed<(String, bool)> {
        let found = match self.peek() {
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) => (name.clone(), false),
            Token::Quoted(name) => (name.clone(), true),
            _ => return Err(self.unexpected("a name")),
        };
        self.advance();
        Ok(found)
    }

    fn primary(&mut self) -> Parsed {
        let start = self.span();
        match self.peek().clone() {
            Token::Literal(literal) => {
                self.advance();
                self.node(start, 0, NodeKind::Literal(literal))
            }
            Token::Int(digits) => {
                self.advance();
                let literal = int(&digits, start)?;
                self.node(start, 0, NodeKind::Literal(literal))
            }
            Token::Symbol("-") => {
                self.advance();
                let literal = match self.peek() {
                    Token::Int(digits) => int(&format!("-{digits}"), start)?,
                    Token::Literal(Literal::Double(number)) => Literal::Double(-number),
                    _ => return Err(self.unexpected("a number")),
                };
                let at = start.to(self.span());
                self.advance();
                self.node(at, 0, NodeKind::Literal(literal))
            }
            Token::Symbol("(") => {
                self.advance();
                let node = self.expression()?;
                self.expect(")")?;
                Ok(node)
            }
            Token::Symbol("[") => {
                self.advance();
                let elements = self.list_of("]", |parser| {
                    let is_optional = parser.take("?");
                    Ok(Element { value: parser.expression()?, is_optional })
                })?;
                let below = elements.iter().map(|element| element.value.depth).max().unwrap_or(0);
                self.node(start.to(self.last_span()), below, NodeKind::List(elements))
            }
            Token::Symbol("{") => {
                self.advance();
                let entries = self.list_of("}", |parser| {
                    let is_optional = parser.take("?");
                    let key = parser.expression()?;
                    parser.expect(":")?;
                    Ok(Entry { key, value: parser.expression()?, is_optional })
                })?;
                let below = entries.iter().map(|entry| entry.key.depth.max(entry.value.depth)).max();
                self.node(start.to(self.last_span()), below.unwrap_or(0), NodeKind::Map(entries))
            }
            Token::Symbol(".") => {
                self.advance();
                self.name_or_call(start, true)
            }
            Token::Name(_) => self.name_or_call(start, false),
            Token::Quoted(_) | Token::Symbol(_) | Token::End => Err(self.unexpected("a term")),
        }
    }

    fn name_or_call(&mut self, start: Span, is_absolute: bool) -> Parsed {
        let Token::Name(name) = self.peek().clone() else { return Err(self.unexpected("a name")) };
        let literal = match name.as_str() {
            "null" => Some(Literal::Null),
            "true" => Some(Literal::Bool(true)),
            "false" => Some(Literal::Bool(false)),
            _ => None,
        };
        if let Some(literal) = literal.filter(|_| !is_absolute) {
            self.advance();
            return self.node(start, 0, NodeKind::Literal(literal));
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(Failure::syntax(self.span(), format!("{name:?} is a reserved word")));
        }
        self.advance();
        if self.take("(") {
            let arguments = self.list_of(")", Self::expression)?;
            return self.function(start.to(self.last_span()), &name, arguments);
        }
        self.node(start.to(self.last_span()), 0, NodeKind::Name { name, is_absolute })
    }

    /// Items up to a closing bracket, with commas between them and maybe one behind the last.
    fn list_of<T>(&mut self, end: &str, item: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(item(self)?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    fn call(&mut self, at: Span, function: &str, receiver: Option<Node>, arguments: Vec<Node>) -> Parsed {
        let below = depth(&arguments).max(receiver.as_ref().map_or(0, |receiver| receiver.depth));
        let (function, receiver) = (function.to_owned(), receiver.map(Box::new));
        self.node(at, below, NodeKind::Call { function, receiver, arguments })
    }
}

fn depth(nodes: &[Node]) -> usize {
    nodes.iter().map(|node| node.depth).max().unwrap_or(0)
}

/// The number of decimal or, behind `0x`, hexadecimal digits.
fn int(digits: &str, at: Span) -> Parsed<Literal> {
    let (sign, unsigned) = match digits.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", digits),
    };
    let (radix, unsigned) = match unsigned.strip_prefix("0x") {
        Some(unsigned) => (16, unsigned),
        None => (10, unsigned),
    };
    let number = i64::from_str_radix(&format!("{sign}{unsigned}"), radix);
    number.map(Literal::Int).map_err(|_| Failure::syntax(at, "the number is too large for int"))
}

/// The text of a term that is made of names and dots only.
pub(crate) fn dotted(node: &Node) -> Option<String> {
    match &node.kind {
        NodeKind::Name { name, .. } => Some(name.clone()),
        NodeKind::Select { operand, field, is_optional: false } => {
            dotted(operand).map(|before| format!("{before}.{field}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
