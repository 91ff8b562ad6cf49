//! Parts of objects, lists and maps: fields, whether they are there, and items.

use quote::{format_ident, quote};

use orch_expression::typed::{Term, TermKind};

use super::{
    super::{
        code::{Code, Form, Level},
        conversion,
    },
    Translation, optional,
};
use crate::{
    expression::scope,
    model::{Field, Omitted, Resolved, WORDS},
};

impl<'m> Translation<'_, 'm> {
    pub(super) fn select(&mut self, term: &Term, operand: &Term, name: &str, is_optional: bool) -> Code<'m> {
        let expression = self.emitter.runtime("expression");
        if let TermKind::Variable(variable) = &operand.kind
            && !is_optional
            && &**variable == "words"
            && let Some((_, word)) = WORDS.iter().find(|(known, _)| *known == name)
        {
            let word = format_ident!("{word}");
            return Code::atom(quote!(words.#word), Form::Text);
        }
        let owner = self.term(operand);
        if let Some(found) = optional::field(self.emitter, &owner, name, is_optional) {
            return found;
        }
        match owner.resolved(self.emitter.model) {
            Some(Resolved::Object(_, object)) => {
                if let Some(field) = scope::field(object, name) {
                    return self.field(&owner, field, name, is_optional);
                }
            }
            Some(Resolved::Map { value, .. }) => {
                if is_optional {
                    let (map, found) = (owner.receiver(), quote!(value));
                    let made = conversion::of_usage(self.emitter, value, &found, &found);
                    let tokens = quote!(#expression::Value::optional(#map.get(#name).map(|value| #made)));
                    return Code::atom(tokens, Form::Value).failing_if(owner.can_fail);
                }
                let map = &owner.tokens;
                let entry = quote!(#expression::entry(#map, #name)?);
                return Code::behind(self.emitter, value, &entry).failing();
            }
            _ => {}
        }
        let owner = conversion::value(self.emitter, &owner);
        let tokens = quote!(#expression::select(&#owner, #name, #is_optional)?);
        self.plain(Code::atom(tokens, Form::Value).failing(), &term.of)
    }

    /// A field of a generated struct.
    fn field(&self, owner: &Code<'m>, field: &'m Field, name: &str, is_optional: bool) -> Code<'m> {
        let emitter = self.emitter;
        let expression = emitter.runtime("expression");
        let receiver = owner.receiver();
        if is_optional {
            let value = match owner.form {
                Form::Narrowed(id) => conversion::narrowed_field(emitter, id, field, &receiver),
                _ => conversion::optional(emitter, field, &receiver),
            };
            let tokens = quote!(#expression::Value::optional(#value));
            return Code::atom(tokens, Form::Value).failing_if(owner.can_fail);
        }
        let rust_name = format_ident!("{}", field.rust_name);
        let place = quote!(#receiver.#rust_name);
        let presence = field.presence(emitter.model);
        if let Form::Narrowed(id) = owner.form
            && let Some(metadata) = conversion::narrowed(emitter, id, field)
        {
            return Code::new(quote!(&#place), Form::Narrowed(metadata), Level::Unary)
                .on(place)
                .failing_if(owner.can_fail);
        }
        if presence.optional && field.required {
            let value = conversion::optional(emitter, field, &receiver);
            let tokens = quote!(#value.unwrap_or(#expression::Value::Null));
            return Code::atom(tokens, Form::Value).failing_if(owner.can_fail);
        }
        if presence.optional {
            let given = quote!(#expression::given(&#place, #name)?);
            return Code::behind(emitter, &field.usage, &given).failing();
        }
        let code = Code::at(emitter, &field.usage, &place).failing_if(owner.can_fail);
        if presence.omitted != Omitted::Empty {
            return code;
        }
        let (is_empty, tokens) = (conversion::is_empty(emitter, field, &place), &code.tokens);
        Code::atom(quote!(#expression::given_if(!#is_empty, #tokens, #name)?), code.form).failing()
    }

    pub(super) fn has(&mut self, operand: &Term, name: &str) -> Code<'m> {
        let emitter = self.emitter;
        let expression = emitter.runtime("expression");
        let owner = self.term(operand);
        let receiver = owner.receiver();
        match owner.resolved(emitter.model) {
            Some(Resolved::Object(_, object)) => {
                if let Some(field) = scope::field(object, name) {
                    let rust_name = format_ident!("{}", field.rust_name);
                    let place = quote!(#receiver.#rust_name);
                    let presence = field.presence(emitter.model);
                    let code = if presence.optional && !field.required {
                        let opposite = Some(quote!(#place.is_none()));
                        Code::atom(quote!(#place.is_some()), Form::Bool).with_opposite(opposite)
                    } else if presence.omitted == Omitted::Empty {
                        let is_empty = conversion::is_empty(emitter, field, &place);
                        Code::not(&is_empty)
                    } else {
                        Code::atom(quote!(#expression::is_there(&#place)), Form::Bool)
                    };
                    return code.failing_if(owner.can_fail);
                }
            }
            Some(Resolved::Map { .. }) => {
                let code = Code::atom(quote!(#receiver.contains_key(#name)), Form::Bool);
                return code.failing_if(owner.can_fail);
            }
            _ => {}
        }
        let owner = conversion::value(emitter, &owner);
        Code::atom(quote!(#expression::has(&#owner, #name)?), Form::Bool).failing()
    }

    pub(super) fn index(&mut self, term: &Term, operand: &Term, index: &Term, is_optional: bool) -> Code<'m> {
        let emitter = self.emitter;
        let expression = emitter.runtime("expression");
        let owner = self.term(operand);
        if let Some(key) = self.text(index)
            && let Some(found) = optional::entry(emitter, &owner, &key, is_optional)
        {
            return found;
        }
        if !is_optional {
            match owner.resolved(emitter.model) {
                Some(Resolved::List(item, _)) => {
                    let position = self.term(index);
                    if let Form::Int = position.form {
                        let (list, position) = (&owner.tokens, &position.tokens);
                        let found = quote!(#expression::item(#list, #position)?);
                        return Code::behind(emitter, item, &found).failing();
                    }
                }
                Some(Resolved::Map { value, .. }) => {
                    if let Some(key) = self.text(index) {
                        let (map, key) = (&owner.tokens, &key.tokens);
                        let found = quote!(#expression::entry(#map, #key)?);
                        return Code::behind(emitter, value, &found).failing();
                    }
                }
                _ => {}
            }
        }
        let (owner, mut can_fail) = (conversion::value(emitter, &owner), true);
        let index = self.value(index, &mut can_fail);
        let tokens = quote!(#expression::index(&#owner, &#index, #is_optional)?);
        self.plain(Code::atom(tokens, Form::Value).failing(), &term.of)
    }
}
