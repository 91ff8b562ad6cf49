//! A piece of generated code that has a value.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::{
    emit::emitter::Emitter,
    model::{Model, Resolved, Shape, TypeId, TypeKind, Usage},
};

/// What the value of a piece of code is in Rust.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'m> {
    /// `bool`
    Bool,
    /// `i64`
    Int,
    /// `u64`
    Uint,
    /// `f64`
    Double,
    /// `&str`, of the object or of the program
    Text,
    /// A reference to what stands at a place of the schema: what is none of the above
    Place(&'m Usage),
    /// An `Option` of a reference to what may stand at a place of the schema, of any type but null
    Maybe(&'m Usage),
    /// A reference to an object
    Object(TypeId),
    /// A reference to a kind of which its own rules see less of `metadata`, or to that `metadata`
    Narrowed(TypeId),
    /// A `Value`
    Value,
}

/// How tightly the outermost operator binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `||`, `if`, blocks
    Or,
    /// `&&`
    And,
    /// `==`, `<`
    Compare,
    /// `+`
    Sum,
    /// `!`, `*`, `&`
    Unary,
    /// Names, literals, calls
    Atom,
}

/// A piece of code. What can fail has a `?` in it, and stands in a closure that returns a `Result`.
#[derive(Clone, Debug)]
pub(super) struct Code<'m> {
    pub tokens: TokenStream,
    pub form: Form<'m>,
    pub level: Level,
    pub can_fail: bool,
    /// What methods are called on, where that is shorter than the value.
    receiver: Option<TokenStream>,
    /// The opposite of a truth value, where it can be said without `!`.
    pub opposite: Option<TokenStream>,
}

impl<'m> Code<'m> {
    pub fn new(tokens: TokenStream, form: Form<'m>, level: Level) -> Self {
        Code { tokens, form, level, can_fail: false, receiver: None, opposite: None }
    }

    /// A call, name or literal.
    pub fn atom(tokens: TokenStream, form: Form<'m>) -> Self {
        Code::new(tokens, form, Level::Atom)
    }

    /// `!condition`, where the condition is a call.
    pub fn not(condition: &TokenStream) -> Self {
        Code::new(quote!(!#condition), Form::Bool, Level::Unary).with_opposite(Some(condition.clone()))
    }

    pub fn with_opposite(self, opposite: Option<TokenStream>) -> Self {
        Code { opposite, ..self }
    }

    /// With another receiver of methods.
    pub fn on(self, receiver: TokenStream) -> Self {
        Code { receiver: Some(receiver), ..self }
    }

    pub fn failing(self) -> Self {
        Code { can_fail: true, ..self }
    }

    pub fn failing_if(self, can_fail: bool) -> Self {
        Code { can_fail: self.can_fail || can_fail, ..self }
    }

    /// As an operand of an operator of that level.
    pub fn operand(&self, level: Level) -> TokenStream {
        let tokens = &self.tokens;
        if self.level >= level { tokens.clone() } else { quote!((#tokens)) }
    }

    /// What a method is called on.
    pub fn receiver(&self) -> TokenStream {
        self.receiver.clone().unwrap_or_else(|| self.operand(Level::Atom))
    }

    /// What stands behind a reference, in its own form: `reference` is an expression of the type `&T`.
    pub fn behind(emitter: &Emitter<'m>, usage: &'m Usage, reference: &TokenStream) -> Self {
        match single(emitter.model, usage) {
            Some(Form::Bool) => Code::new(quote!(*#reference), Form::Bool, Level::Unary),
            Some(Form::Double) => Code::new(quote!(*#reference), Form::Double, Level::Unary),
            Some(Form::Int) if is_small(emitter.model, usage) => {
                Code::atom(quote!(i64::from(*#reference)), Form::Int)
            }
            Some(Form::Int) => Code::new(quote!(*#reference), Form::Int, Level::Unary),
            Some(_) => text(emitter, usage, reference),
            None => Code::atom(reference.clone(), Form::Place(usage)),
        }
    }

    /// What stands at a place that can be named: `place` is an expression of the type `T`.
    pub fn at(emitter: &Emitter<'m>, usage: &'m Usage, place: &TokenStream) -> Self {
        match single(emitter.model, usage) {
            Some(Form::Int) if is_small(emitter.model, usage) => {
                Code::atom(quote!(i64::from(#place)), Form::Int)
            }
            Some(Form::Text) => text(emitter, usage, place),
            Some(form) => Code::atom(place.clone(), form),
            None => Code::new(quote!(&#place), Form::Place(usage), Level::Unary).on(place.clone()),
        }
    }

    /// The shape of what it refers to, where it is a part of the object.
    pub fn resolved(&self, model: &'m Model) -> Option<Resolved<'m>> {
        match self.form {
            Form::Place(usage) => Some(model.resolve(usage)),
            Form::Object(id) | Form::Narrowed(id) => match &model.ty(id).kind {
                TypeKind::Object(object) => Some(Resolved::Object(id, object)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The form of single values that have one of their own.
fn single<'m>(model: &'m Model, usage: &'m Usage) -> Option<Form<'m>> {
    match model.resolve(usage) {
        Resolved::Enum(..) | Resolved::Scalar(Shape::String(_)) => Some(Form::Text),
        Resolved::Scalar(Shape::Boolean) => Some(Form::Bool),
        Resolved::Scalar(Shape::Int32 | Shape::Int64) => Some(Form::Int),
        Resolved::Scalar(Shape::Double) => Some(Form::Double),
        _ => None,
    }
}

fn is_small(model: &Model, usage: &Usage) -> bool {
    matches!(model.resolve(usage), Resolved::Scalar(Shape::Int32))
}

fn text<'m>(emitter: &Emitter<'m>, usage: &Usage, owner: &TokenStream) -> Code<'m> {
    if matches!(emitter.model.resolve(usage), Resolved::Enum(..)) {
        emitter.import("orch_runtime::text_enum", "TextEnum");
    }
    Code::atom(quote!(#owner.as_str()), Form::Text)
}

/// The variable of a macro: `item_0`.
pub(super) fn local(stem: &str, position: usize) -> Ident {
    format_ident!("{stem}_{position}")
}
