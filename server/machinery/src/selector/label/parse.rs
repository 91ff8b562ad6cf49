//! Parses label selectors: a lexer, and recursive descent over its tokens. The errors have the words of the
//! reference server.

use orch_runtime::constraint;

use super::{Operator, Requirement, SelectorError, invalid};

/// Reads all requirements, in the order of the text.
pub(super) fn parse(text: &str) -> Result<Vec<Requirement>, SelectorError> {
    let mut parser = Parser { tokens: lex(text), next: 0 };
    let mut requirements = Vec::new();
    loop {
        match parser.peek() {
            Token::End => return Ok(requirements),
            Token::Word(_) | Token::Symbol("!") => {
                let requirement = parser.requirement();
                requirements.push(
                    requirement.map_err(|error| {
                        SelectorError(format!("unable to parse requirement: {}", error.0))
                    })?,
                );
            }
            other @ Token::Symbol(_) => {
                return Err(other.unexpected("', expected: !, identifier, or 'end of string'"));
            }
        }
        match parser.take() {
            Token::End => return Ok(requirements),
            Token::Symbol(",") => match parser.peek() {
                Token::Word(_) | Token::Symbol("!") => {}
                other => return Err(other.unexpected("', expected: identifier after ','")),
            },
            other => return Err(other.unexpected("', expected: ',' or 'end of string'")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'t> {
    /// A key, a value, `in` or `notin`, depending on its position.
    Word(&'t str),
    /// One of `( ) , ! = == != < >`.
    Symbol(&'static str),
    End,
}

impl Token<'_> {
    /// The error `found '<token><rest>`. `rest` begins with the closing quote.
    fn unexpected(self, rest: &str) -> SelectorError {
        let literal = match self {
            Token::Word(word) => word,
            Token::Symbol(symbol) => symbol,
            Token::End => "",
        };
        SelectorError(format!("found '{literal}{rest}"))
    }
}

/// The longest come first, so that `==` is not read as two symbols.
const SYMBOLS: &[&str] = &["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

fn lex(text: &str) -> Vec<Token<'_>> {
    let blank = |ch: char| matches!(ch, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(blank);
    while !rest.is_empty() {
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
        } else {
            let ends_word = |ch: char| blank(ch) || matches!(ch, '=' | '!' | '(' | ')' | ',' | '>' | '<');
            let (word, after) = rest.split_at(rest.find(ends_word).unwrap_or(rest.len()));
            tokens.push(Token::Word(word));
            rest = after;
        }
        rest = rest.trim_start_matches(blank);
    }
    tokens
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    next: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Token<'t> {
        self.tokens.get(self.next).copied().unwrap_or(Token::End)
    }

    fn take(&mut self) -> Token<'t> {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let negated = self.peek() == Token::Symbol("!");
        if negated {
            self.take();
        }
        let key = match self.take() {
            Token::Word(word) => word,
            other => return Err(other.unexpected("', expected: identifier")),
        };
        let faults = constraint::qualified_name(key);
        if !faults.is_empty() {
            // The reference server has no path here, and prints `<nil>`.
            return Err(SelectorError(invalid("<nil>", key, &faults.join("; "))));
        }
        let key = key.to_owned();
        if negated {
            return Requirement::new(key, Operator::DoesNotExist, Vec::new());
        }
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Requirement::new(key, Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.value_set()?,
            _ => vec![self.exact_value()?],
        };
        Requirement::new(key, operator, values)
    }

    fn operator(&mut self) -> Result<Operator, SelectorError> {
        match self.take() {
            Token::Word("in") => Ok(Operator::In),
            Token::Word("notin") => Ok(Operator::NotIn),
            Token::Symbol("=") => Ok(Operator::Equals),
            Token::Symbol("==") => Ok(Operator::DoubleEquals),
            Token::Symbol("!=") => Ok(Operator::NotEquals),
            Token::Symbol(">") => Ok(Operator::GreaterThan),
            Token::Symbol("<") => Ok(Operator::LessThan),
            other => Err(other.unexpected("', expected: in, notin, =, ==, !=, gt, lt")),
        }
    }

    fn exact_value(&mut self) -> Result<String, SelectorError> {
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Ok(String::new());
        }
        match self.take() {
            Token::Word(word) => Ok(word.to_owned()),
            other => Err(other.unexpected("', expected: identifier")),
        }
    }

    /// `(a,b)`. Values may be empty.
    fn value_set(&mut self) -> Result<Vec<String>, SelectorError> {
        match self.take() {
            Token::Symbol("(") => {}
            // The reference server has no comma before "expected".
            other => return Err(other.unexpected("' expected: '('")),
        }
        match self.peek() {
            Token::Word(_) | Token::Symbol(",") => self.values(),
            Token::Symbol(")") => {
                self.take();
                Ok(vec![String::new()])
            }
            other => Err(other.unexpected("', expected: ',', ')' or identifier")),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        let mut values = Vec::new();
        let mut blank_so_far = true;
        loop {
            match self.take() {
                Token::Word(word) => {
                    blank_so_far = false;
                    values.push(word.to_owned());
                    match self.peek() {
                        Token::Symbol("," | ")") => {}
                        other => return Err(other.unexpected("', expected: ',' or ')'")),
                    }
                }
                Token::Symbol(",") => {
                    let blank_after = matches!(self.peek(), Token::Symbol("," | ")"));
                    if blank_so_far || blank_after {
                        values.push(String::new());
                    }
                    blank_so_far = false;
                }
                Token::Symbol(")") => return Ok(values),
                other => return Err(other.unexpected("', expected: ',', or identifier")),
            }
        }
    }
}
