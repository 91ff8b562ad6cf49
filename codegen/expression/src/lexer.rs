//! The words of an expression.
//!
//! The grammar of words is that of the language definition of CEL, section "Syntax".

mod literal;

use crate::{ast::Literal, error::Failure, span::Span};

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name or a keyword.
    Name(String),
    /// A name in backticks, which may only stand behind a dot.
    Quoted(String),
    /// A value. Numbers are read by the parser, which knows the sign.
    Literal(Literal),
    /// The digits of an `int`, without the sign.
    Int(String),
    /// Operators and brackets.
    Symbol(&'static str),
    /// Behind the last word.
    End,
}

/// Longer ones first.
const SYMBOLS: &[&str] = &[
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "/", "%", "?", ":", ".", ",", "(", ")",
    "[", "]", "{", "}",
];

/// All words with their places; the last one is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Box<Failure>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let token = lexer.token()?;
        let is_end = token == Token::End;
        tokens.push((token, lexer.span(start)));
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    /// Takes the characters for which `belongs` holds.
    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.find(|ch| !belongs(ch)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Blanks and comments, which go from `//` to the end of the line.
    fn skip_blank(&mut self) {
        loop {
            self.take_while(|ch| matches!(ch, ' ' | '\t' | '\n' | '\r' | '\x0C'));
            if !self.rest().starts_with("//") {
                return;
            }
            self.take_while(|ch| ch != '\n');
        }
    }

    fn token(&mut self) -> Result<Token, Box<Failure>> {
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        if let Some(literal) = self.text_or_bytes()? {
            return Ok(Token::Literal(literal));
        }
        if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|ch: char| ch.is_ascii_digit())) {
            return self.number();
        }
        if first == '_' || first.is_ascii_alphabetic() {
            let name = self.take_while(|ch| ch == '_' || ch.is_ascii_alphanumeric());
            return Ok(Token::Name(name.to_owned()));
        }
        if first == '`' {
            self.at += 1;
            let name = self.take_while(|ch| ch.is_ascii_alphanumeric() || "_.-/ ".contains(ch));
            if name.is_empty() || !self.rest().starts_with('`') {
                return Err(Failure::syntax(self.span(start), "a name in backticks is not closed"));
            }
            self.at += 1;
            return Ok(Token::Quoted(name.to_owned()));
        }
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            self.at += symbol.len();
            return Ok(Token::Symbol(symbol));
        }
        self.at += first.len_utf8();
        Err(Failure::syntax(self.span(start), format!("unexpected character {first:?}")))
    }

    fn number(&mut self) -> Result<Token, Box<Failure>> {
        let start = self.at;
        if self.rest().starts_with("0x") {
            self.at += 2;
            let digits = self.take_while(|ch| ch.is_ascii_hexdigit());
            if digits.is_empty() {
                return Err(Failure::syntax(self.span(start), "a hexadecimal number needs digits"));
            }
            return self.integer(start, digits, 16);
        }
        let digits = self.take_while(|ch| ch.is_ascii_digit());
        let rest = self.rest();
        let has_fraction = rest.starts_with('.') && rest[1..].starts_with(|ch: char| ch.is_ascii_digit());
        if has_fraction {
            self.at += 1;
            self.take_while(|ch| ch.is_ascii_digit());
        }
        let has_exponent = self.rest().starts_with(['e', 'E']);
        if has_exponent {
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            if self.take_while(|ch| ch.is_ascii_digit()).is_empty() {
                return Err(Failure::syntax(self.span(start), "an exponent needs digits"));
            }
        }
        if !has_fraction && !has_exponent {
            return self.integer(start, digits, 10);
        }
        let number = self.text[start..self.at].parse::<f64>();
        let number = number.map_err(|_| Failure::syntax(self.span(start), "not a number"))?;
        if number.is_infinite() {
            return Err(Failure::syntax(self.span(start), "the number is too large for double"));
        }
        Ok(Token::Literal(Literal::Double(number)))
    }

    fn integer(&mut self, start: usize, digits: &str, radix: u32) -> Result<Token, Box<Failure>> {
        if self.rest().starts_with(['u', 'U']) {
            self.at += 1;
            let number = u64::from_str_radix(digits, radix);
            return number
                .map(|number| Token::Literal(Literal::Uint(number)))
                .map_err(|_| Failure::syntax(self.span(start), "the number is too large for uint"));
        }
        Ok(Token::Int(self.text[start..self.at].to_owned()))
    }
}
