//! How a rule reaches the values that its paths name: from the object, or from an item of a loop around it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::operand::Operand;
use crate::{
    emit::{
        emitter::Emitter,
        expression::{Known, Variables},
        literal::number,
    },
    model::{
        Condition, Constant, Empty, Field, ObjectType, Resolved, Shape, Step, Test, TypeId, Usage, WORDS,
    },
};

/// What names mean at one place of generated code.
#[derive(Clone)]
pub(super) struct Scope<'m> {
    /// The object that the rule belongs to, and what it is called.
    object: &'m ObjectType,
    root: TokenStream,
    /// The objects on the way that have names of their own, the longest way last.
    bound: Vec<(Vec<Step>, &'m ObjectType, TokenStream)>,
    /// The loops around, the outermost first.
    loops: Vec<Loop<'m>>,
}

/// A loop through the items of a list, or the entries of a map.
#[derive(Clone)]
struct Loop<'m> {
    usage: &'m Usage,
    item: Ident,
    /// The position or the key.
    subscript: Ident,
    is_list: bool,
}

/// A value that a path leads to.
pub(super) struct Reached<'m> {
    pub usage: &'m Usage,
    pub operand: Operand,
    /// The operand is an `Option`.
    pub optional: bool,
    pub field: Option<&'m Field>,
}

/// What is done with a value, as an expression.
pub(super) type Leaf<'l, 'm> = &'l dyn Fn(&Reached<'m>) -> TokenStream;

/// What is said where something on the way is absent, and how to look into what may be.
struct Absent {
    /// `is_some_and`, `map_or_else` ...
    method: TokenStream,
    /// Its first arguments.
    arguments: TokenStream,
}

impl<'m> Scope<'m> {
    pub fn new(object: &'m ObjectType, root: &str) -> Self {
        let root = format_ident!("{root}");
        Scope { object, root: quote!(#root), bound: Vec::new(), loops: Vec::new() }
    }

    /// The place of an error below the object, as an expression of type `&Path`.
    pub fn place(&self, steps: &[Step]) -> TokenStream {
        self.below(&quote!(path), &quote!(path), steps)
    }

    /// The place of an error, from a value's own place.
    pub fn place_from_value(&self, steps: &[Step]) -> TokenStream {
        self.below(&quote!(at), &quote!(&at), steps)
    }

    fn below(&self, start: &TokenStream, borrowed: &TokenStream, steps: &[Step]) -> TokenStream {
        let (mut place, mut is_borrowed) = (start.clone(), true);
        if steps.is_empty() {
            return borrowed.clone();
        }
        let mut loops = self.loops.iter();
        for step in steps {
            is_borrowed = false;
            place = match step {
                Step::Field(name) => {
                    let name = self.part(name);
                    quote!(#place.field(#name))
                }
                Step::Key(key) => {
                    let key = self.part(key);
                    quote!(#place.key(#key))
                }
                Step::Each => match loops.next() {
                    Some(Loop { subscript, is_list: true, .. }) => quote!(#place.index(#subscript)),
                    Some(Loop { subscript, .. }) => quote!(#place.key(#subscript)),
                    None => place,
                },
                Step::Up => {
                    is_borrowed = true;
                    quote!(#place.parent())
                }
            };
        }
        if is_borrowed { place } else { quote!(&#place) }
    }

    /// A name in the place of an error; `{key}` in it is the key of the loop, `{words.labelDomain}` a product
    /// word.
    fn part(&self, name: &str) -> TokenStream {
        let (form, values) = filled(name, &mut |hole| self.hole(hole));
        if values.is_empty() { quote!(#name) } else { quote!(&format!(#form, #(#values),*)) }
    }

    /// What stands for a hole in a text that is no value: the key or position of the loop, or a product word.
    pub fn hole(&self, hole: &str) -> Option<TokenStream> {
        if let Some(word) = hole.strip_prefix("words.") {
            let (_, word) = WORDS.iter().find(|(known, _)| *known == word)?;
            let word = format_ident!("{word}");
            return Some(quote!(cx.vocabulary.#word));
        }
        let subscript = self.subscript().filter(|_| matches!(hole, "key" | "index"))?;
        Some(quote!(#subscript))
    }

    /// Code around each value that a path leads to; what is absent on the way is left out.
    pub fn each(
        &self,
        emitter: &Emitter<'m>,
        steps: &[Step],
        inner: &dyn Fn(&Scope<'m>, &Reached<'m>) -> TokenStream,
    ) -> TokenStream {
        self.walk(emitter, self.object, &self.root, steps, 0, inner)
    }

    /// The same, after the first steps have been gone: to the item of the innermost loop.
    pub fn each_from(
        &self,
        emitter: &Emitter<'m>,
        steps: &[Step],
        done: usize,
        inner: &dyn Fn(&Scope<'m>, &Reached<'m>) -> TokenStream,
    ) -> TokenStream {
        if let Some(around) = self.loops.last().filter(|_| done == steps.len()) {
            let operand = Operand::variable(&around.item);
            return inner(self, &Reached { usage: around.usage, operand, optional: false, field: None });
        }
        let way = self.bound.iter().rev().find(|(way, ..)| *way == steps[..done]);
        match way {
            Some((_, object, owner)) => self.walk(emitter, object, owner, steps, done, inner),
            None => self.each(emitter, steps, inner),
        }
    }

    fn walk(
        &self,
        emitter: &Emitter<'m>,
        object: &'m ObjectType,
        owner: &TokenStream,
        steps: &[Step],
        from: usize,
        inner: &dyn Fn(&Scope<'m>, &Reached<'m>) -> TokenStream,
    ) -> TokenStream {
        let Some((field, reached)) = reach(emitter, object, owner, &steps[from]) else {
            return TokenStream::new();
        };
        if from + 1 == steps.len() {
            return inner(self, &reached);
        }
        let receiver = &reached.operand.receiver;
        if let Some(Step::Each) = steps.get(from + 1) {
            return self.walk_items(emitter, &reached, steps, from + 1, inner);
        }
        let Resolved::Object(_, below) = emitter.model.resolve(&field.usage) else {
            return TokenStream::new();
        };
        if !reached.optional {
            return self.walk(emitter, below, receiver, steps, from + 1, inner);
        }
        let name = format_ident!("below_{from}");
        let mut scope = self.clone();
        scope.bound.push((steps[..=from].to_vec(), below, quote!(#name)));
        let code = scope.walk(emitter, below, &quote!(#name), steps, from + 1, inner);
        let reference = &reached.operand.reference;
        if mentions(&code, &name) {
            quote!(if let Some(#name) = #reference { #code })
        } else {
            quote!(if #receiver.is_some() { #code })
        }
    }

    /// The same for the items of a list, or the values of a map; `steps[at]` is the loop.
    fn walk_items(
        &self,
        emitter: &Emitter<'m>,
        list: &Reached<'m>,
        steps: &[Step],
        at: usize,
        inner: &dyn Fn(&Scope<'m>, &Reached<'m>) -> TokenStream,
    ) -> TokenStream {
        let (item, subscript) = (format_ident!("item_{at}"), format_ident!("subscript_{at}"));
        let mut scope = self.clone();
        let receiver = &list.operand.receiver;
        let flattened = list.optional.then(|| quote!(.flatten()));
        let items = quote!(#receiver.iter()#flattened);
        let (usage, is_list) = match emitter.model.resolve(list.usage) {
            Resolved::List(usage, _) => (usage, true),
            Resolved::Map { value, .. } => (value, false),
            _ => return TokenStream::new(),
        };
        scope.loops.push(Loop { usage, item: item.clone(), subscript: subscript.clone(), is_list });
        if let Resolved::Object(_, below) = emitter.model.resolve(usage) {
            scope.bound.push((steps[..=at].to_vec(), below, quote!(#item)));
        }
        let code = if at + 1 == steps.len() {
            let reached = Reached { usage, operand: Operand::variable(&item), optional: false, field: None };
            inner(&scope, &reached)
        } else {
            let Resolved::Object(_, below) = emitter.model.resolve(usage) else { return TokenStream::new() };
            scope.walk(emitter, below, &quote!(#item), steps, at + 1, inner)
        };
        let item = if mentions(&code, &item) { quote!(#item) } else { quote!(_) };
        let head = match (is_list, mentions(&code, &subscript)) {
            (true, true) => quote!((#subscript, #item) in #items.enumerate()),
            (true, false) => quote!(#item in #items),
            (false, true) => quote!((#subscript, #item) in #items),
            (false, false) => quote!((_, #item) in #items),
        };
        quote!(for #head { #code })
    }

    /// What expressions call the items of the loops around.
    pub fn variables(&self, owner: TypeId) -> Variables<'m> {
        let mut others = Vec::new();
        for (around, name) in self.loops.iter().rev().zip(["item", "outer"]) {
            others.push((name, Known::Value(around.usage, around.item.clone())));
            let subscript = around.subscript.clone();
            if name == "item" {
                others.push(if around.is_list {
                    ("index", Known::Index(subscript))
                } else {
                    ("key", Known::Key(subscript))
                });
            }
        }
        Variables { owner, others }
    }

    /// The position in the innermost loop.
    pub fn subscript(&self) -> Option<&Ident> {
        self.loops.last().map(|around| &around.subscript)
    }

    /// All conditions, as an expression; none where there are none.
    pub fn conditions<'c>(
        &self,
        emitter: &Emitter<'m>,
        when: impl Iterator<Item = &'c Condition>,
    ) -> Option<TokenStream> {
        let all = when.map(|condition| self.condition(emitter, condition));
        all.reduce(|all, next| quote!(#all && #next))
    }

    fn condition(&self, emitter: &Emitter<'m>, condition: &Condition) -> TokenStream {
        let path = &condition.path;
        match &condition.test {
            Test::OneOf(constants) => self.any(emitter, path, &|reached| one_of(emitter, reached, constants)),
            Test::NoneOf(constants) => {
                let any = self.any(emitter, path, &|reached| one_of(emitter, reached, constants));
                quote!(!(#any))
            }
            Test::Matches(pattern) => self.any(emitter, path, &|reached| matches(emitter, reached, pattern)),
            Test::Given(true) => self.given(emitter, path),
            Test::Given(false) => {
                let given = self.given(emitter, path);
                quote!(!(#given))
            }
            Test::Between(least, most) => {
                self.any(emitter, path, &|reached| between(emitter, reached, *least, *most))
            }
            Test::Changed => {
                let old = Scope::new(self.object, "old");
                let (new, old) = (self.value(emitter, path), old.value(emitter, path));
                quote!(#new != #old)
            }
        }
    }

    /// Whether there is a value at a path, as an expression.
    pub fn given(&self, emitter: &Emitter<'m>, path: &[Step]) -> TokenStream {
        self.any(emitter, path, &|reached| given(emitter, reached))
    }

    /// Whether something holds of the value, or of any of the values, at a path.
    fn any(&self, emitter: &Emitter<'m>, path: &[Step], leaf: Leaf<'_, 'm>) -> TokenStream {
        let absent = Absent { method: quote!(is_some_and), arguments: TokenStream::new() };
        let (object, owner, steps) = self.nearest(path);
        look(emitter, object, &owner, steps, 0, &absent, leaf)
    }

    /// The text of a value, as an expression of type `String`.
    pub fn value_text(
        &self,
        emitter: &Emitter<'m>,
        path: &[Step],
        text: fn(&Emitter<'_>, &Usage, &Operand) -> TokenStream,
        null: &str,
    ) -> TokenStream {
        let absent = Absent { method: quote!(map_or_else), arguments: quote!(|| #null.to_owned(),) };
        if path.is_empty() {
            let (root, json) = (&self.root, emitter.import("orch_runtime::field_error", "json"));
            return quote!(#json(#root));
        }
        let (object, owner, steps) = self.nearest(path);
        look(emitter, object, &owner, steps, 0, &absent, &|reached| {
            if !reached.optional {
                return text(emitter, reached.usage, &reached.operand);
            }
            let (receiver, name) = (&reached.operand.receiver, format_ident!("given"));
            let inner = text(emitter, reached.usage, &Operand::variable(&name));
            quote!(#receiver.as_ref().map_or_else(|| #null.to_owned(), |#name| #inner))
        })
    }

    /// A value, as an expression of type `Option<&T>`, where `T` may be an `Option` itself.
    pub fn value(&self, emitter: &Emitter<'m>, path: &[Step]) -> TokenStream {
        let absent = Absent { method: quote!(and_then), arguments: TokenStream::new() };
        let (object, owner, steps) = self.nearest(path);
        look(emitter, object, &owner, steps, 0, &absent, &|reached| {
            let reference = &reached.operand.reference;
            quote!(Some(#reference))
        })
    }

    /// The nearest object with a name on the way, and the rest of the way.
    fn nearest<'p>(&self, path: &'p [Step]) -> (&'m ObjectType, TokenStream, &'p [Step]) {
        let found = self.bound.iter().rev().find(|(way, ..)| path.len() > way.len() && path.starts_with(way));
        match found {
            Some((way, object, name)) => (object, name.clone(), &path[way.len()..]),
            None => (self.object, self.root.clone(), path),
        }
    }
}

/// A text with holes as the form of a `format!`, and what fills them. A hole that means nothing is text.
pub(super) fn filled(
    text: &str,
    fill: &mut dyn FnMut(&str) -> Option<TokenStream>,
) -> (String, Vec<TokenStream>) {
    let escaped = |text: &str| text.replace('{', "{{").replace('}', "}}");
    let (mut form, mut values) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        form.push_str(&escaped(before));
        let hole = after.split_once('}').and_then(|(name, after)| Some((fill(name)?, after)));
        if let Some((value, after)) = hole {
            form.push_str("{}");
            values.push(value);
            rest = after;
        } else {
            form.push_str("{{");
            rest = after;
        }
    }
    form.push_str(&escaped(rest));
    (form, values)
}

/// Whether code uses a variable.
fn mentions(code: &TokenStream, variable: &Ident) -> bool {
    code.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *variable,
        TokenTree::Group(group) => mentions(&group.stream(), variable),
        _ => false,
    })
}

/// A field of an object, by name.
fn reach<'m>(
    emitter: &Emitter<'m>,
    object: &'m ObjectType,
    owner: &TokenStream,
    step: &Step,
) -> Option<(&'m Field, Reached<'m>)> {
    let Step::Field(name) = step else { return None };
    let field = object.fields.iter().find(|field| field.name == *name)?;
    let rust_name = format_ident!("{}", field.rust_name);
    let receiver = quote!(#owner.#rust_name);
    let operand = Operand { reference: quote!(&#receiver), copy: receiver.clone(), receiver };
    let optional = field.presence(emitter.model).optional;
    Some((field, Reached { usage: &field.usage, operand, optional, field: Some(field) }))
}

/// Goes down a path inside of one expression.
fn look<'m>(
    emitter: &Emitter<'m>,
    object: &'m ObjectType,
    owner: &TokenStream,
    steps: &[Step],
    depth: usize,
    absent: &Absent,
    leaf: Leaf<'_, 'm>,
) -> TokenStream {
    let Some((_, reached)) = steps.first().and_then(|step| reach(emitter, object, owner, step)) else {
        return TokenStream::new();
    };
    let rest = &steps[1..];
    let Some(next) = rest.first() else { return leaf(&reached) };
    let receiver = &reached.operand.receiver;
    let name = format_ident!("value_{depth}");
    if *next == Step::Each {
        let flattened = reached.optional.then(|| quote!(.flatten()));
        let (usage, items) = match emitter.model.resolve(reached.usage) {
            Resolved::List(usage, _) => (usage, quote!(#receiver.iter()#flattened)),
            Resolved::Map { value, .. } => {
                (value, quote!(#receiver.iter()#flattened.map(|(_, value)| value)))
            }
            _ => return TokenStream::new(),
        };
        let inner = if rest.len() == 1 {
            leaf(&Reached { usage, operand: Operand::variable(&name), optional: false, field: None })
        } else {
            let Resolved::Object(_, below) = emitter.model.resolve(usage) else { return TokenStream::new() };
            look(emitter, below, &quote!(#name), &rest[1..], depth + 1, absent, leaf)
        };
        return quote!(#items.any(|#name| #inner));
    }
    let Resolved::Object(_, below) = emitter.model.resolve(reached.usage) else { return TokenStream::new() };
    if reached.optional {
        let inner = look(emitter, below, &quote!(#name), rest, depth + 1, absent, leaf);
        let Absent { method, arguments } = absent;
        return quote!(#receiver.as_ref().#method(#arguments |#name| #inner));
    }
    look(emitter, below, receiver, rest, depth, absent, leaf)
}

/// Whether a field has a value.
pub(super) fn given(emitter: &Emitter<'_>, reached: &Reached<'_>) -> TokenStream {
    let receiver = &reached.operand.receiver;
    if reached.optional {
        return quote!(#receiver.is_some());
    }
    let resolved = emitter.model.resolve(reached.usage);
    if matches!(resolved, Resolved::Scalar(Shape::Boolean)) {
        return reached.operand.copy.clone();
    }
    let is_empty = reached.operand.is_empty(emitter, resolved);
    quote!(!#is_empty)
}

/// A text, as an expression of type `&str`; an absent one is empty.
fn text(emitter: &Emitter<'_>, reached: &Reached<'_>) -> TokenStream {
    let Operand { reference, receiver, .. } = &reached.operand;
    let is_enum = matches!(emitter.model.resolve(reached.usage), Resolved::Enum(..));
    if !is_enum {
        let as_text =
            if reached.optional { quote!(as_deref().unwrap_or_default()) } else { quote!(as_str()) };
        return quote!(#receiver.#as_text);
    }
    let text_enum = emitter.import("orch_runtime::text_enum", "TextEnum");
    if reached.optional {
        quote!(#receiver.as_ref().map_or("", #text_enum::as_str))
    } else {
        quote!(#text_enum::as_str(#reference))
    }
}

/// Whether a text matches a pattern.
fn matches(emitter: &Emitter<'_>, reached: &Reached<'_>, pattern: &str) -> TokenStream {
    let (text, module) = (text(emitter, reached), emitter.runtime("rule"));
    let lazy = emitter.import("std::sync", "LazyLock");
    quote! {
        {
            static PATTERN: #lazy<#module::Pattern> = #lazy::new(|| #module::Pattern::new(#pattern));
            PATTERN.is_match(#text)
        }
    }
}

/// Whether a value is one of some constants. An absent text is the empty one.
fn one_of(emitter: &Emitter<'_>, reached: &Reached<'_>, constants: &[Constant]) -> TokenStream {
    let copy = &reached.operand.copy;
    let texts: Vec<&str> = constants
        .iter()
        .filter_map(|constant| if let Constant::Text(text) = constant { Some(text.as_str()) } else { None })
        .collect();
    if !texts.is_empty() {
        let text = text(emitter, reached);
        return if let [only] = texts.as_slice() {
            quote!(#text == #only)
        } else {
            quote!(matches!(#text, #(#texts)|*))
        };
    }
    let values: Vec<TokenStream> = constants
        .iter()
        .filter_map(|constant| match constant {
            Constant::Boolean(value) => Some(quote!(#value)),
            Constant::Integer(value) => Some(number(*value)),
            Constant::Text(_) => None,
        })
        .collect();
    match (reached.optional, constants) {
        (false, [Constant::Boolean(true)]) => copy.clone(),
        (false, [Constant::Boolean(false)]) => quote!(!#copy),
        (true, _) => quote!(matches!(#copy, Some(#(#values)|*))),
        (false, _) => quote!(matches!(#copy, #(#values)|*)),
    }
}

fn between(
    emitter: &Emitter<'_>,
    reached: &Reached<'_>,
    least: Option<i64>,
    most: Option<i64>,
) -> TokenStream {
    let Operand { copy, receiver, .. } = &reached.operand;
    let is_sized = matches!(
        emitter.model.resolve(reached.usage),
        Resolved::List(..) | Resolved::Map { .. } | Resolved::Scalar(Shape::String(_))
    );
    let value = match (is_sized, reached.optional) {
        (true, true) => quote!(#receiver.as_ref().map_or(0, |list| list.len())),
        (true, false) => quote!(#receiver.len()),
        (false, true) => quote!(value),
        (false, false) => copy.clone(),
    };
    let bounds = [least.map(|least| (quote!(>=), least)), most.map(|most| (quote!(<=), most))];
    let bounds = bounds.into_iter().flatten().map(|(relation, limit)| {
        let limit = number(limit);
        quote!(#value #relation #limit)
    });
    let holds = bounds.reduce(|all, next| quote!(#all && #next)).unwrap_or(quote!(true));
    if !is_sized && reached.optional { quote!(#copy.is_some_and(|value| #holds)) } else { holds }
}

/// Code about a value that is given.
pub(super) fn if_given<'m>(
    emitter: &Emitter<'m>,
    reached: &Reached<'m>,
    inner: &dyn Fn(&Operand) -> TokenStream,
) -> TokenStream {
    if reached.optional {
        let name = format_ident!("value");
        let (reference, code) = (&reached.operand.reference, inner(&Operand::variable(&name)));
        return quote!(if let Some(#name) = #reference { #code });
    }
    let code = inner(&reached.operand);
    let may_be_absent = reached.field.is_some_and(|field| field.empty(emitter.model) != Empty::Value);
    if may_be_absent {
        let is_empty = reached.operand.is_empty(emitter, emitter.model.resolve(reached.usage));
        quote!(if !#is_empty { #code })
    } else {
        code
    }
}
