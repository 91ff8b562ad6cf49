//! Where rules are looked at: the object itself, its fields, and all that is below them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::{
    code::{Code, Form},
    conversion, rule,
};
use crate::{
    emit::emitter::Emitter,
    expression::scope,
    model::{
        Field, ListSemantics, ObjectType, Omitted, Resolved, Type, TypeId, TypeKind, Usage, ValidationRule,
    },
};

/// The conditions under which a field of an object is not judged.
pub type Ignored<'i, 'm> = &'i dyn Fn(&'m ObjectType, &str) -> Option<TokenStream>;

/// The constant and the method of `Validate`; nothing for a type without such rules. Other rules of the type
/// that look at the object before come first. `ignored` says when a field is not judged.
pub fn implementation<'m>(
    emitter: &Emitter<'m>,
    id: TypeId,
    ty: &'m Type,
    others: &[TokenStream],
    ignored: Ignored<'_, 'm>,
) -> Option<TokenStream> {
    let TypeKind::Object(object) = &ty.kind else { return None };
    if !emitter.reach.expressions.contains(&id) {
        return None;
    }
    let path = emitter.import("orch_runtime::path", "Path");
    let validation = emitter.import("orch_runtime::field_error", "Validation");
    let own = own_rules(emitter, id, ty, object);
    let rules = |field: &'m Field| Some(field_rules(emitter, field)?.unless(ignored(object, &field.name)));
    let fields: Vec<Rules> = object.fields.iter().filter_map(rules).collect();
    let uses_old = !own.is_empty() || !others.is_empty() || fields.iter().any(|rules| rules.uses_old);
    let old = format_ident!("{}", if uses_old { "old" } else { "_old" });
    let fields = fields.iter().map(|rules| &rules.code);
    Some(quote! {
        const HAS_EXPRESSIONS: bool = true;

        #[allow(clippy::all, unused_comparisons, reason = "it says what the schema file says")]
        fn validate_expressions(&self, #old: Option<&Self>, path: &#path<'_>, cx: &mut #validation<'_>) {
            #(#others)*
            #(#own)*
            #(#fields)*
        }
    })
}

fn own_rules(emitter: &Emitter<'_>, id: TypeId, ty: &Type, object: &ObjectType) -> Vec<TokenStream> {
    let is_kind = scope::is_kind(emitter.model, id);
    let form = if is_kind { Form::Narrowed(id) } else { Form::Object(id) };
    let behind = |reference: &TokenStream| Code::atom(reference.clone(), form);
    let (value, at) = (format_ident!("self"), format_ident!("path"));
    rule::rules(emitter, &ty.validations, Resolved::Object(id, object), &value, &behind, &at)
}

/// Rules about a value.
struct Rules {
    code: TokenStream,
    /// Whether they look at its old state. There is none for items of lists that do not say what identifies
    /// them.
    uses_old: bool,
}

impl Rules {
    /// A line that says what the old state is, where it is looked at.
    fn old(&self, state: &TokenStream) -> Option<TokenStream> {
        self.uses_old.then(|| quote!(let old = #state;))
    }

    /// The same, judged where the conditions do not hold.
    fn unless(self, conditions: Option<TokenStream>) -> Self {
        let Some(conditions) = conditions else { return self };
        let code = self.code;
        Rules { code: quote!(if !(#conditions) { #code }), ..self }
    }
}

/// The rules of a field and of what is below it, where it is given.
fn field_rules(emitter: &Emitter<'_>, field: &Field) -> Option<Rules> {
    let below = usage_rules(emitter, &field.usage, &field.validations)?;
    let (rules, uses_old) = (&below.code, below.uses_old);
    let name = format_ident!("{}", field.rust_name);
    let text = &field.name;
    let presence = field.presence(emitter.model);
    if presence.optional {
        let old = below.old(&quote!(old.and_then(|old| old.#name.as_ref())));
        let code = quote! {
            if let Some(value) = &self.#name {
                let at = &path.field(#text);
                #old
                #rules
            }
        };
        return Some(Rules { code, uses_old });
    }
    if presence.omitted == Omitted::Empty {
        let is_empty = conversion::is_empty(emitter, field, &quote!(self.#name));
        let was_empty = conversion::is_empty(emitter, field, &quote!(old.#name));
        let old = below.old(&quote!(old.filter(|old| !#was_empty).map(|old| &old.#name)));
        let code = quote! {
            if !#is_empty {
                let at = &path.field(#text);
                let value = &self.#name;
                #old
                #rules
            }
        };
        return Some(Rules { code, uses_old });
    }
    let old = below.old(&quote!(old.map(|old| &old.#name)));
    let code = quote! {
        {
            let at = &path.field(#text);
            let value = &self.#name;
            #old
            #rules
        }
    };
    Some(Rules { code, uses_old })
}

/// The rules about the variable `value` at the place `at`, with its old state in `old`.
fn usage_rules(emitter: &Emitter<'_>, usage: &Usage, own: &[ValidationRule]) -> Option<Rules> {
    let resolved = emitter.model.resolve(usage);
    let (value, at) = (format_ident!("value"), format_ident!("at"));
    let behind = |reference: &TokenStream| Code::behind(emitter, usage, reference);
    let judge =
        |rules: &[ValidationRule], value: &Ident| rule::rules(emitter, rules, resolved, value, &behind, &at);
    let mut rules = judge(own, &value);
    for ty in emitter.model.names(usage).into_iter().filter(|ty| !matches!(ty.kind, TypeKind::Object(_))) {
        rules.extend(judge(&ty.validations, &value));
    }
    let below = match resolved {
        Resolved::Object(id, _) => emitter
            .reach
            .expressions
            .contains(&id)
            .then(|| Rules { code: quote!(value.validate_expressions(old, at, cx);), uses_old: true }),
        Resolved::List(item, semantics) => list_rules(emitter, item, semantics),
        Resolved::Map { keys, value, atomic } => map_rules(emitter, keys, value, atomic),
        _ => None,
    };
    let uses_old = !rules.is_empty() || below.as_ref().is_some_and(|below| below.uses_old);
    rules.extend(below.map(|below| below.code));
    (!rules.is_empty()).then(|| Rules { code: quote!(#(#rules)*), uses_old })
}

fn list_rules(emitter: &Emitter<'_>, item: &Usage, semantics: &ListSemantics) -> Option<Rules> {
    let below = usage_rules(emitter, item, &[])?;
    let (rules, expression) = (&below.code, emitter.runtime("expression"));
    let object = match emitter.model.resolve(item) {
        Resolved::Object(_, object) => Some(object),
        _ => None,
    };
    if let (ListSemantics::Map(keys), Some(object)) = (semantics, object) {
        let fields: Vec<TokenStream> = keys
            .iter()
            .filter_map(|key| object.fields.iter().find(|field| field.name == *key))
            .map(|field| {
                let name = format_ident!("{}", field.rust_name);
                quote!(#name)
            })
            .collect();
        let key = |item: &TokenStream| match fields.as_slice() {
            [only] => quote!(&#item.#only),
            several => quote!((#(&#item.#several),*)),
        };
        let (of_old, of_new) = (key(&quote!(item)), key(&quote!(value)));
        let code = quote! {
            let olds = #expression::by_key(old, |item| #of_old);
            for (index, value) in value.iter().enumerate() {
                let at = &at.index(index);
                let old = olds.get(&#of_new).copied();
                #rules
            }
        };
        return Some(Rules { code, uses_old: true });
    }
    let old = below.old(&quote!(#expression::no_old(value)));
    let code = quote! {
        for (index, value) in value.iter().enumerate() {
            let at = &at.index(index);
            #old
            #rules
        }
    };
    Some(Rules { code, uses_old: false })
}

fn map_rules(emitter: &Emitter<'_>, keys: &Usage, value: &Usage, atomic: bool) -> Option<Rules> {
    let expression = emitter.runtime("expression");
    let no_old = quote!(#expression::no_old(value));
    let key_rules = usage_rules(emitter, keys, &[]).map(|below| {
        let (old, rules) = (below.old(&no_old), &below.code);
        quote! {
            for value in value.keys() {
                let at = &at.key(value);
                #old
                #rules
            }
        }
    });
    let below = usage_rules(emitter, value, &[]);
    let uses_old = !atomic && below.as_ref().is_some_and(|below| below.uses_old);
    let value_rules = below.map(|below| {
        let state = if atomic { no_old.clone() } else { quote!(old.and_then(|old| old.get(key))) };
        let (old, rules) = (below.old(&state), &below.code);
        quote! {
            for (key, value) in value {
                let at = &at.key(key);
                #old
                #rules
            }
        }
    });
    let all: Vec<TokenStream> = key_rules.into_iter().chain(value_rules).collect();
    (!all.is_empty()).then(|| Rules { code: quote!(#(#all)*), uses_old })
}
