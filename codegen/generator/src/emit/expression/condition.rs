//! Expressions of `x-orch-rules`, as parts of the code of a rule.
//!
//! An expression that looks at what is not there has no result: a rule is not broken by it, and a condition
//! does not hold.

use orch_expression::typed::{Term, TermKind};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    code::{Code, Form},
    term::Translation,
};
use crate::{
    emit::emitter::Emitter,
    model::{Expression, TypeId, Usage},
};

/// What stands for a variable.
#[derive(Clone, Debug)]
pub enum Known<'m> {
    /// A reference to a value.
    Value(&'m Usage, Ident),
    /// A position in a list.
    Index(Ident),
    /// A key of a map.
    Key(Ident),
}

/// The variables of an expression.
#[derive(Clone, Debug)]
pub struct Variables<'m> {
    /// The type of `self`.
    pub owner: TypeId,
    /// Those of the loops around.
    pub others: Vec<(&'static str, Known<'m>)>,
}

/// Whether the result is this one, as an expression of type `bool`.
pub fn holds(
    emitter: &Emitter<'_>,
    variables: &Variables<'_>,
    expression: &Expression,
    wanted: bool,
) -> TokenStream {
    let code = translation(emitter, variables).bool(&expression.term);
    let module = emitter.runtime("expression");
    let tokens = &code.tokens;
    let function = format_ident!("{}", if wanted { "holds" } else { "is_broken" });
    let judged = quote!(#module::#function(|| Ok(#tokens)));
    with_words(expression, judged)
}

/// The text that an expression makes, as an expression of type `Option<String>`.
pub fn text(emitter: &Emitter<'_>, variables: &Variables<'_>, expression: &Expression) -> TokenStream {
    let module = emitter.runtime("expression");
    let mut can_fail = true;
    let made = translation(emitter, variables).value(&expression.term, &mut can_fail);
    with_words(expression, quote!(#module::made_text(|| Ok(#made))))
}

/// The text that an expression makes or leads to, as an expression of type `Option<&str>`.
pub fn borrowed(emitter: &Emitter<'_>, variables: &Variables<'_>, expression: &Expression) -> TokenStream {
    let module = emitter.runtime("expression");
    let mut translation = translation(emitter, variables);
    let code = translation.term(&expression.term);
    if let Form::Text = code.form {
        let tokens = &code.tokens;
        return with_words(expression, quote!(#module::found_text(|| Ok(#tokens))));
    }
    let made = text(emitter, variables, expression);
    quote!(#made.as_deref())
}

/// The value of an expression as errors show it, as an expression of type `Option<String>`.
pub fn shown(emitter: &Emitter<'_>, variables: &Variables<'_>, expression: &Expression) -> TokenStream {
    let module = emitter.runtime("expression");
    let mut can_fail = true;
    let made = translation(emitter, variables).value(&expression.term, &mut can_fail);
    with_words(expression, quote!(#module::made_shown(|| Ok(#made))))
}

fn with_words(expression: &Expression, code: TokenStream) -> TokenStream {
    let is_words = |term: &Term| matches!(&term.kind, TermKind::Variable(name) if &**name == "words");
    if expression.term.any(&mut { is_words }) { quote!({ let words = cx.vocabulary; #code }) } else { code }
}

fn translation<'e, 'm>(emitter: &'e Emitter<'m>, variables: &Variables<'m>) -> Translation<'e, 'm> {
    let module = emitter.runtime("expression");
    let root = |name: &str| {
        let name = format_ident!("{name}");
        Code::atom(quote!(#name), Form::Object(variables.owner))
    };
    let others = variables.others.iter().map(|(name, known)| {
        let code = match known {
            Known::Value(usage, name) => Code::behind(emitter, usage, &quote!(#name)),
            Known::Index(name) => Code::atom(quote!(#module::count(#name)), Form::Int),
            Known::Key(name) => Code::atom(quote!(#name.as_str()), Form::Text),
        };
        (*name, code)
    });
    let others = others.collect();
    Translation {
        emitter,
        itself: root("self"),
        old: root("old"),
        others,
        locals: Vec::new(),
        null_locals: Vec::new(),
    }
}
