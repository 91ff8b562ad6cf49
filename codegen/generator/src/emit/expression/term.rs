//! Terms as Rust.

mod access;
mod call;
mod fold;
mod optional;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use orch_expression::{
    ast::{Element, Entry},
    typed::{Term, TermKind},
    types::Type,
    value::Value,
};

use super::{
    code,
    code::{Code, Form, Level},
    conversion,
};
use crate::{
    emit::emitter::Emitter,
    expression::scope,
    model::{Resolved, WORDS},
};

/// Translates the terms of one expression.
pub(super) struct Translation<'e, 'm> {
    pub emitter: &'e Emitter<'m>,
    /// `self`
    pub itself: Code<'m>,
    /// `oldSelf`
    pub old: Code<'m>,
    /// Other variables of the rule.
    pub others: Vec<(&'static str, Code<'m>)>,
    /// Variables of the macros around, from the outermost.
    pub locals: Vec<Code<'m>>,
    /// Those of them that can be null.
    pub null_locals: Vec<usize>,
}

impl<'m> Translation<'_, 'm> {
    /// A term in its own form.
    pub fn term(&mut self, term: &Term) -> Code<'m> {
        match &term.kind {
            TermKind::Constant(value) => self.constant(value),
            TermKind::Variable(name) => self.variable(name),
            TermKind::Local(position) if self.null_locals.contains(position) => {
                self.locals[*position].clone()
            }
            TermKind::Local(position) => self.plain(self.locals[*position].clone(), &term.of),
            TermKind::Select { operand, field, is_optional } => {
                self.select(term, operand, field, *is_optional)
            }
            TermKind::Has { operand, field } => self.has(operand, field),
            TermKind::Index { operand, index, is_optional } => self.index(term, operand, index, *is_optional),
            TermKind::Call { overloads, arguments } => call::call(self, term, overloads, arguments),
            TermKind::And(operands) => self.row(operands, true),
            TermKind::Or(operands) => self.row(operands, false),
            TermKind::Conditional(parts) => self.conditional(parts),
            TermKind::List(items) => self.list(items),
            TermKind::Map(entries) => self.map(entries),
            TermKind::Fold(fold) => fold::fold(self, term, fold),
            TermKind::Bind { value, body } => self.bind(value, body),
            TermKind::OptionalMap { operand, body, is_flat } => self.optional_map(operand, body, *is_flat),
        }
    }

    fn variable(&self, name: &str) -> Code<'m> {
        match name {
            "self" => self.itself.clone(),
            "oldSelf" => self.old.clone(),
            name => {
                let other = self.others.iter().find(|(known, _)| *known == name);
                other.map_or_else(|| self.words(), |(_, code)| code.clone())
            }
        }
    }

    fn list(&mut self, items: &[Element<Term>]) -> Code<'m> {
        let expression = self.emitter.runtime("expression");
        let mut can_fail = false;
        let has_optional = items.iter().any(|item| item.is_optional);
        let values = items.iter().map(|Element { value, is_optional }| {
            let value = self.value(value, &mut can_fail);
            match (has_optional, is_optional) {
                (false, _) => value,
                (true, false) => quote!(Some(#value)),
                (true, true) => quote!(#expression::contained(&#value)),
            }
        });
        let values: Vec<TokenStream> = values.collect();
        let tokens = if has_optional {
            quote!(#expression::new_list(vec![#(#values),*]))
        } else {
            quote!(#expression::Value::list(vec![#(#values),*]))
        };
        Code::atom(tokens, Form::Value).failing_if(can_fail)
    }

    fn map(&mut self, entries: &[Entry<Term>]) -> Code<'m> {
        let expression = self.emitter.runtime("expression");
        // It fails by itself, where a key is there twice.
        let mut can_fail = true;
        let pairs = entries.iter().map(|Entry { key, value, is_optional }| {
            let (key, value) = (self.value(key, &mut can_fail), self.value(value, &mut can_fail));
            let value =
                if *is_optional { quote!(#expression::contained(&#value)) } else { quote!(Some(#value)) };
            quote!((#key, #value))
        });
        let pairs: Vec<TokenStream> = pairs.collect();
        Code::atom(quote!(#expression::new_map(vec![#(#pairs),*])?), Form::Value).failing()
    }

    fn optional_map(&mut self, operand: &Term, body: &Term, is_flat: bool) -> Code<'m> {
        let expression = self.emitter.runtime("expression");
        let mut can_fail = true;
        let operand = self.value(operand, &mut can_fail);
        let name = code::local("value", self.locals.len());
        let pattern = self.pattern(&name, body);
        self.locals.push(Code::atom(quote!(#name.clone()), Form::Value));
        let body = self.value(body, &mut can_fail);
        self.locals.pop();
        let tokens = quote!(#expression::optional_map(&#operand, #is_flat, |#pattern| Ok(#body))?);
        Code::atom(tokens, Form::Value).failing()
    }

    /// Whether a value, or the value in an optional one, may be null although its type has no null: a field
    /// that is required and nullable.
    pub fn can_be_null(&mut self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Select { operand, field, .. } if is_way(operand) => {
                let owner = self.term(operand);
                let resolved = match owner.form {
                    Form::Maybe(usage) => Some(self.emitter.model.resolve(usage)),
                    _ => owner.resolved(self.emitter.model),
                };
                let Some(Resolved::Object(_, object)) = resolved else {
                    return false;
                };
                let field = scope::field(object, field);
                field.is_some_and(|field| field.required && field.presence(self.emitter.model).optional)
            }
            TermKind::Conditional(parts) => {
                let [_, then, otherwise] = &**parts;
                self.can_be_null(then) || self.can_be_null(otherwise)
            }
            TermKind::Local(position) => self.null_locals.contains(position),
            TermKind::Call { overloads, arguments }
                if overloads.iter().all(|overload| ["orValue", "value"].contains(&overload.function)) =>
            {
                arguments.iter().any(|argument| self.can_be_null(argument))
            }
            _ => false,
        }
    }

    /// All product words, as an object.
    fn words(&self) -> Code<'m> {
        let expression = self.emitter.runtime("expression");
        let words = WORDS.iter().map(|(name, word)| {
            let word = format_ident!("{word}");
            quote!((#name, Some(#expression::Value::from(words.#word))))
        });
        Code::atom(quote!(#expression::object([#(#words),*])), Form::Value)
    }

    /// A term as an owned `Value`.
    pub fn value(&mut self, term: &Term, can_fail: &mut bool) -> TokenStream {
        let code = self.term(term);
        *can_fail |= code.can_fail;
        conversion::value(self.emitter, &code)
    }

    /// A term that is true or false.
    pub fn bool(&mut self, term: &Term) -> Code<'m> {
        let code = self.term(term);
        self.plain(code, &Type::Bool)
    }

    /// A text as `&str`, where the term has the type.
    pub fn text(&mut self, term: &Term) -> Option<Code<'m>> {
        if term.of != Type::Text {
            return None;
        }
        let code = self.term(term);
        match code.form {
            Form::Text => Some(code),
            Form::Value => {
                let (expression, tokens) = (self.emitter.runtime("expression"), &code.tokens);
                Some(Code::atom(quote!(#expression::text(&#tokens)?), Form::Text).failing())
            }
            _ => None,
        }
    }

    /// A single value out of a `Value`, where its type is known and has a form of its own.
    pub fn plain(&self, code: Code<'m>, of: &Type) -> Code<'m> {
        let Form::Value = code.form else { return code };
        let (function, form) = match of {
            Type::Bool => ("boolean", Form::Bool),
            Type::Int => ("int", Form::Int),
            Type::Uint => ("uint", Form::Uint),
            Type::Double => ("double", Form::Double),
            _ => return code,
        };
        let (expression, function) = (self.emitter.runtime("expression"), format_ident!("{function}"));
        let tokens = &code.tokens;
        Code::atom(quote!(#expression::#function(&#tokens)?), form).failing()
    }

    fn constant(&self, value: &Value) -> Code<'m> {
        let expression = self.emitter.runtime("expression");
        match value {
            Value::Bool(value) => Code::atom(quote!(#value), Form::Bool),
            Value::Int(value) => {
                // The least number has no literal without its sign.
                let literal = format!("{}i64", value.unsigned_abs()).parse::<Literal>();
                let literal = literal.expect("digits with a suffix are a literal");
                if *value < 0 {
                    Code::new(quote!(-#literal), Form::Int, Level::Unary)
                } else {
                    Code::atom(quote!(#literal), Form::Int)
                }
            }
            Value::Uint(value) => {
                let literal = Literal::u64_suffixed(*value);
                Code::atom(quote!(#literal), Form::Uint)
            }
            Value::Double(value) => {
                let literal = Literal::f64_suffixed(value.abs());
                let tokens = if value.is_sign_negative() { quote!(-#literal) } else { quote!(#literal) };
                Code::new(tokens, Form::Double, Level::Unary)
            }
            Value::Text(text) => {
                let text: &str = text;
                Code::atom(quote!(#text), Form::Text)
            }
            Value::Bytes(bytes) => {
                let bytes = Literal::byte_string(bytes);
                Code::atom(quote!(#expression::Value::from(&#bytes[..])), Form::Value)
            }
            Value::Type(name) => {
                let name: &str = name;
                Code::atom(quote!(#expression::Value::Type(#name.into())), Form::Value)
            }
            _ => Code::atom(quote!(#expression::Value::Null), Form::Value),
        }
    }

    /// `&&` if `goes_on` is true, else `||`. Where one that failed may be made up for by a later one, the
    /// runtime does it.
    fn row(&mut self, operands: &[Term], goes_on: bool) -> Code<'m> {
        let expression = self.emitter.runtime("expression");
        let codes: Vec<Code<'m>> = operands.iter().map(|operand| self.bool(operand)).collect();
        let level = if goes_on { Level::And } else { Level::Or };
        let can_fail = codes.iter().any(|code| code.can_fail);
        let (last, before) = codes.split_last().expect("a row has operands");
        if before.iter().all(|code| !code.can_fail) {
            let inner = if goes_on { Level::Compare } else { Level::And };
            let parts: Vec<TokenStream> = codes.iter().map(|code| code.operand(inner)).collect();
            let tokens = if goes_on { quote!(#(#parts)&&*) } else { quote!(#(#parts)||*) };
            return Code::new(tokens, Form::Bool, level).failing_if(can_fail);
        }
        let function = format_ident!("{}", if goes_on { "and" } else { "or" });
        let mut rest = last.tokens.clone();
        let mut rest_fails = last.can_fail;
        for code in before.iter().rev() {
            let tokens = &code.tokens;
            rest = quote!(#expression::#function(|| Ok(#tokens), || Ok(#rest))?);
            rest_fails = true;
        }
        Code::atom(rest, Form::Bool).failing_if(rest_fails)
    }

    fn conditional(&mut self, parts: &[Term; 3]) -> Code<'m> {
        let [condition, then, otherwise] = parts;
        let condition = self.bool(condition);
        let (then, otherwise) = (self.term(then), self.term(otherwise));
        let can_fail = condition.can_fail || then.can_fail || otherwise.can_fail;
        let condition = &condition.tokens;
        let form = match (then.form, otherwise.form) {
            (Form::Bool, Form::Bool) => Some(Form::Bool),
            (Form::Int, Form::Int) => Some(Form::Int),
            (Form::Uint, Form::Uint) => Some(Form::Uint),
            (Form::Double, Form::Double) => Some(Form::Double),
            (Form::Text, Form::Text) if !can_fail => Some(Form::Text),
            _ => None,
        };
        let (then, otherwise) = match form {
            Some(_) => (then.tokens, otherwise.tokens),
            None => (conversion::value(self.emitter, &then), conversion::value(self.emitter, &otherwise)),
        };
        let tokens = quote!(if #condition { #then } else { #otherwise });
        Code::new(tokens, form.unwrap_or(Form::Value), Level::Or).failing_if(can_fail)
    }

    fn bind(&mut self, value: &Term, body: &Term) -> Code<'m> {
        let can_be_null = self.can_be_null(value);
        let value = self.term(value);
        let name = code::local("value", self.locals.len());
        let local = match value.form {
            Form::Value => Code::atom(quote!(#name.clone()), Form::Value),
            form => Code::atom(quote!(#name), form),
        };
        let pattern = self.pattern(&name, body);
        if can_be_null {
            self.null_locals.push(self.locals.len());
        }
        self.locals.push(local);
        let body = self.term(body);
        self.locals.pop();
        self.null_locals.retain(|position| *position < self.locals.len());
        let can_fail = value.can_fail || body.can_fail;
        // A text may be one of the named value, which ends with the block.
        let (tokens, form) = match body.form {
            Form::Text | Form::Place(_) | Form::Maybe(_) | Form::Object(_) | Form::Narrowed(_) => {
                (conversion::value(self.emitter, &body), Form::Value)
            }
            form => (body.tokens, form),
        };
        let value = value.tokens;
        let tokens = quote!({ let #pattern = #value; #tokens });
        Code::new(tokens, form, Level::Or).failing_if(can_fail)
    }

    /// The next variable, where the body uses it.
    fn pattern(&self, name: &Ident, body: &Term) -> TokenStream {
        let position = self.locals.len();
        let is_it = |term: &Term| matches!(&term.kind, TermKind::Local(found) if *found == position);
        if body.any(&mut { is_it }) { quote!(#name) } else { quote!(_) }
    }
}

/// Whether a term is a variable or a field of one.
fn is_way(term: &Term) -> bool {
    match &term.kind {
        TermKind::Variable(_) | TermKind::Local(_) => true,
        TermKind::Select { operand, .. } => is_way(operand),
        _ => false,
    }
}
