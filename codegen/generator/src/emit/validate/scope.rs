//! How a rule reaches the values that its paths name: from the object, or from an item of a loop around it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::{
    operand::Operand,
    reached::{Reached, between, given, matches, one_of},
    shown::plain,
};
use crate::{
    emit::{
        emitter::Emitter,
        expression::{Known, Variables},
    },
    model::{Condition, ObjectType, Resolved, Step, Test, TypeId, Usage, WORDS},
};

/// What names mean at one place of generated code.
#[derive(Clone)]
pub(in crate::emit) struct Scope<'m> {
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

    /// The object that the rule belongs to.
    pub fn object(&self) -> &'m ObjectType {
        self.object
    }

    /// The place of an error below the object, as an expression of type `&Path`.
    pub fn place(&self, emitter: &Emitter<'m>, steps: &[Step]) -> TokenStream {
        self.below(emitter, &quote!(path), &quote!(path), steps)
    }

    /// The place of an error, from a value's own place.
    pub fn place_from_value(&self, emitter: &Emitter<'m>, steps: &[Step]) -> TokenStream {
        self.below(emitter, &quote!(at), &quote!(&at), steps)
    }

    fn below(
        &self,
        emitter: &Emitter<'m>,
        start: &TokenStream,
        borrowed: &TokenStream,
        steps: &[Step],
    ) -> TokenStream {
        let (mut place, mut is_borrowed) = (start.clone(), true);
        if steps.is_empty() {
            return borrowed.clone();
        }
        let mut loops = self.loops.iter();
        for step in steps {
            is_borrowed = false;
            place = match step {
                Step::Field(name) => {
                    let name = self.part(emitter, name);
                    quote!(#place.field(#name))
                }
                Step::Key(key) => {
                    let key = self.part(emitter, key);
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
    /// word, `{.name}` a value.
    fn part(&self, emitter: &Emitter<'m>, name: &str) -> TokenStream {
        let (form, values) = filled(name, &mut |hole| match Step::path(hole) {
            Some(steps) if !steps.is_empty() => Some(self.value_text(emitter, &steps, plain, "")),
            _ => self.hole(hole),
        });
        if values.is_empty() { quote!(#name) } else { quote!(&format!(#form, #(#values),*)) }
    }

    /// What stands for a hole in a text that is no value: the key or position of the loop, or a product word.
    pub fn hole(&self, hole: &str) -> Option<TokenStream> {
        let subscript = || self.subscript().filter(|_| matches!(hole, "key" | "index"));
        word(hole).or_else(|| subscript().map(|subscript| quote!(#subscript)))
    }

    /// Code around each value that a path leads to; what is absent on the way is left out.
    pub(super) fn each(
        &self,
        emitter: &Emitter<'m>,
        steps: &[Step],
        inner: &dyn Fn(&Scope<'m>, &Reached<'m>) -> TokenStream,
    ) -> TokenStream {
        self.walk(emitter, self.object, &self.root, steps, 0, inner)
    }

    /// The same, after the first steps have been gone: to the item of the innermost loop.
    pub(super) fn each_from(
        &self,
        emitter: &Emitter<'m>,
        steps: &[Step],
        done: usize,
        inner: &dyn Fn(&Scope<'m>, &Reached<'m>) -> TokenStream,
    ) -> TokenStream {
        if let Some(around) = self.loops.last().filter(|_| done == steps.len()) {
            return inner(self, &Reached::item(around.usage, &around.item));
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
        let Some((reached, rest)) = reach(emitter, object, owner, &steps[from..]) else {
            return TokenStream::new();
        };
        if rest.is_empty() {
            return inner(self, &reached);
        }
        let (at, receiver) = (steps.len() - rest.len(), &reached.operand.receiver);
        if rest[0] == Step::Each {
            return self.walk_items(emitter, &reached, steps, at, inner);
        }
        let Resolved::Object(_, below) = emitter.model.resolve(reached.usage) else {
            return TokenStream::new();
        };
        if !reached.optional {
            return self.walk(emitter, below, receiver, steps, at, inner);
        }
        let name = format_ident!("below_{from}");
        let mut scope = self.clone();
        scope.bound.push((steps[..at].to_vec(), below, quote!(#name)));
        let code = scope.walk(emitter, below, &quote!(#name), steps, at, inner);
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
            inner(&scope, &Reached::item(usage, &item))
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

    /// All conditions as an expression, if there are conditions.
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
            Test::Changed(is_wanted) => {
                let old = Scope::new(self.object, "old");
                let (new, old) = (self.value(emitter, path), old.value(emitter, path));
                if *is_wanted { quote!(#new != #old) } else { quote!(#new == #old) }
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
    pub(super) fn value_text(
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

/// A part of a text with holes.
enum Piece {
    Text(String),
    /// What fills a hole.
    Value(TokenStream),
}

/// The parts of a text with holes. A hole that means nothing is text.
fn pieces(text: &str, fill: &mut dyn FnMut(&str) -> Option<TokenStream>) -> Vec<Piece> {
    let (mut pieces, mut literal, mut rest) = (Vec::new(), String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        literal.push_str(before);
        let hole = after.split_once('}').and_then(|(name, after)| Some((fill(name)?, after)));
        if let Some((value, after)) = hole {
            pieces.extend([Piece::Text(std::mem::take(&mut literal)), Piece::Value(value)]);
            rest = after;
        } else {
            literal.push('{');
            rest = after;
        }
    }
    literal.push_str(rest);
    pieces.push(Piece::Text(literal));
    pieces
}

/// A text with holes as the form of a `format!`, and what fills them.
pub(super) fn filled(
    text: &str,
    fill: &mut dyn FnMut(&str) -> Option<TokenStream>,
) -> (String, Vec<TokenStream>) {
    let (mut form, mut values) = (String::new(), Vec::new());
    for piece in pieces(text, fill) {
        match piece {
            Piece::Text(text) => form.push_str(&text.replace('{', "{{").replace('}', "}}")),
            Piece::Value(value) => {
                form.push_str("{}");
                values.push(value);
            }
        }
    }
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

/// A field of an object, or what a field that is a map has under a key; and the rest of the way.
fn reach<'m, 'p>(
    emitter: &Emitter<'m>,
    object: &'m ObjectType,
    owner: &TokenStream,
    steps: &'p [Step],
) -> Option<(Reached<'m>, &'p [Step])> {
    let (Step::Field(name), rest) = steps.split_first()? else { return None };
    let field = object.fields.iter().find(|field| field.name == *name)?;
    let rust_name = format_ident!("{}", field.rust_name);
    let receiver = quote!(#owner.#rust_name);
    let optional = field.presence(emitter.model).optional;
    if let Some((Step::Key(key), rest)) = rest.split_first() {
        let Resolved::Map { value, .. } = emitter.model.resolve(&field.usage) else { return None };
        return Some((entry(emitter, value, &receiver, optional, key), rest));
    }
    let operand = Operand { reference: quote!(&#receiver), copy: receiver.clone(), receiver };
    Some((Reached { usage: &field.usage, operand, optional, field: Some(field), is_entry: false }, rest))
}

/// What a map has under a key. A key with words in it is compared with those of the map without being made.
fn entry<'m>(
    emitter: &Emitter<'_>,
    value: &'m Usage,
    owner: &TokenStream,
    optional: bool,
    key: &str,
) -> Reached<'m> {
    let parts = key_parts(key);
    let has_words = !filled(key, &mut word).1.is_empty();
    let get = |map: &TokenStream, reference: &TokenStream| {
        if !has_words {
            return quote!(#map.get(#key));
        }
        let expression = emitter.runtime("expression");
        quote!(#expression::entry_of_parts(#reference, &[#(#parts),*]))
    };
    let found = if optional {
        let get = get(&quote!(map), &quote!(map));
        quote!(#owner.as_ref().and_then(|map| #get))
    } else {
        get(owner, &quote!(&#owner))
    };
    let operand = Operand { reference: found.clone(), copy: quote!(#found.copied()), receiver: found };
    Reached { usage: value, operand, optional: true, field: None, is_entry: true }
}

/// A key as the texts that it is put together from: literals, and words in holes.
fn key_parts(key: &str) -> Vec<TokenStream> {
    let parts = pieces(key, &mut word).into_iter().filter_map(|piece| match piece {
        Piece::Text(text) => (!text.is_empty()).then(|| quote!(#text)),
        Piece::Value(word) => Some(word),
    });
    parts.collect()
}

/// A product word in a text: `words.labelDomain`.
fn word(hole: &str) -> Option<TokenStream> {
    let word = hole.strip_prefix("words.")?;
    let (_, word) = WORDS.iter().find(|(known, _)| *known == word)?;
    let word = format_ident!("{word}");
    Some(quote!(cx.vocabulary.#word))
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
    let Some((reached, rest)) = reach(emitter, object, owner, steps) else {
        return TokenStream::new();
    };
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
            leaf(&Reached::item(usage, &name))
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
