//! The rules that the schema files state, and which of them a cause shows to be broken.
//!
//! A rule stands at a place: a type, or a field of a type with what is inside of it (`core.v1.Pod.spec`,
//! `[*]` for each item of a list, `[key]` for each key or value of a map). A type that several kinds have is
//! one place. What a hand-written function checks is not known here: it counts as broken when a cause at its
//! place, or below, is none of the stated rules.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::Path,
};

use orch_codegen::{
    Inputs, load,
    model::{
        Check, Constraints, Demand, Field, ListSemantics, Model, ObjectType, Rule as Keyword, Shape, Step,
        Type, TypeId, TypeKind, Usage, Words,
    },
};

/// A cause of a refusal, as a client reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// The type of the object that was refused: `core.v1.Pod`.
    pub of: String,
    /// `spec.containers[0].image`.
    pub field: String,
    /// `Required value`.
    pub message: String,
}

/// A rule at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    place: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    Required,
    OneOf,
    Format,
    Minimum(f64),
    Maximum(f64),
    MultipleOf,
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    Unique,
    Immutable,
    /// Of a union: nothing is given, or too much.
    Member,
    OtherMember,
    /// A hand-written function.
    Function(String),
    /// A rule in words of its own: the longest part of its message. Or one in the standard words that is told
    /// elsewhere: how these begin, and the last field of the place.
    Worded(String),
    Elsewhere(String, String),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.place)?;
        match &self.what {
            What::Required => f.write_str("required"),
            What::OneOf => f.write_str("enum"),
            What::Format => f.write_str("format"),
            What::Minimum(limit) => write!(f, "minimum {limit}"),
            What::Maximum(limit) => write!(f, "maximum {limit}"),
            What::MultipleOf => f.write_str("multipleOf"),
            What::MinLength => f.write_str("minLength"),
            What::MaxLength => f.write_str("maxLength"),
            What::MinItems => f.write_str("minItems"),
            What::MaxItems => f.write_str("maxItems"),
            What::Unique => f.write_str("unique"),
            What::Immutable => f.write_str("immutable"),
            What::Member => f.write_str("union, none"),
            What::OtherMember => f.write_str("union, several"),
            What::Function(name) => write!(f, "fn {name}"),
            What::Worded(words) | What::Elsewhere(words, _) => write!(f, "told as `{words}`"),
        }
    }
}

/// What the schema files say.
pub struct Stated {
    model: Model,
    types: BTreeMap<String, TypeId>,
    rules: Vec<Rule>,
}

impl Stated {
    /// Reads the schema folder.
    pub fn read() -> Self {
        let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema");
        let loaded = load(&Inputs { schema: schema.into(), imports: Vec::new() });
        assert!(!loaded.diagnostics.has_errors());
        let model = loaded.model;
        let types =
            model.types.iter().enumerate().map(|(id, ty)| (ty.qualified_name.clone(), TypeId(id))).collect();
        let mut rules = Vec::new();
        for id in reachable(&model) {
            of_type(&model, model.ty(id), &mut rules);
        }
        Stated { model, types, rules }
    }

    /// The rules that none of the causes shows to be broken.
    pub fn unbroken(&self, causes: &BTreeSet<Cause>) -> Vec<String> {
        let mut broken = vec![false; self.rules.len()];
        for cause in causes {
            let fields = cause.fields_of_rules();
            let ways: Vec<_> = fields.iter().filter_map(|field| self.places(&cause.of, field)).collect();
            let is_told_elsewhere = |rule: &Rule| match &rule.what {
                What::Worded(words) => cause.message.contains(words.as_str()),
                What::Elsewhere(words, name) => {
                    cause.message.starts_with(words.as_str())
                        && (name.is_empty() || last_name(&cause.field) == name)
                }
                _ => false,
            };
            let is_broken = |rule: &Rule| {
                ways.iter().any(|way| rule.is_broken(way, &cause.message)) || is_told_elsewhere(rule)
            };
            let hits: Vec<usize> = (0..self.rules.len()).filter(|at| is_broken(&self.rules[*at])).collect();
            // What a stated rule says is not said by a function.
            let is_function = |at: &usize| matches!(self.rules[*at].what, What::Function(_));
            // Nor does a rule that may be told anywhere say what a function says.
            let is_vague =
                |at: &usize| matches!(&self.rules[*at].what, What::Elsewhere(_, name) if name.is_empty());
            let is_stated = !hits.iter().all(|at| is_function(at) || is_vague(at));
            for at in hits.into_iter().filter(|at| !is_stated || !is_function(at)) {
                broken[at] = true;
            }
        }
        let unbroken = self.rules.iter().zip(broken).filter(|(_, broken)| !broken);
        unbroken.map(|(rule, _)| rule.to_string()).collect()
    }

    /// The places on the way to a field of a type, a list for each step; none where the schema has no such
    /// field.
    fn places(&self, of: &str, field: &str) -> Option<Vec<Vec<String>>> {
        let mut way = Vec::new();
        let mut shape = &Shape::Named(*self.types.get(of)?);
        let mut place = String::new();
        let mut step = Vec::new();
        shape = self.enter(shape, &mut step);
        way.push(step);
        for token in tokens(field) {
            match (shape, token) {
                (Shape::Named(id), Token::Name(name)) => {
                    let ty = self.model.ty(*id);
                    let TypeKind::Object(object) = &ty.kind else { return None };
                    place = format!("{}.{name}", ty.qualified_name);
                    shape = &object.fields.iter().find(|field| field.name == name)?.usage.shape;
                }
                (Shape::List { item, .. }, Token::Subscript) => {
                    place.push_str("[*]");
                    shape = &item.shape;
                }
                (Shape::Map { value, .. }, Token::Subscript | Token::Name(_)) => {
                    place.push_str("[key]");
                    shape = &value.shape;
                }
                _ => return None,
            }
            let mut step = vec![place.clone()];
            shape = self.enter(shape, &mut step);
            way.push(step);
        }
        Some(way)
    }

    /// Goes through names to what they stand for.
    fn enter<'m>(&'m self, mut shape: &'m Shape, step: &mut Vec<String>) -> &'m Shape {
        while let Shape::Named(id) = shape {
            let ty = self.model.ty(*id);
            step.push(ty.qualified_name.clone());
            let TypeKind::Alias(usage) = &ty.kind else { break };
            shape = &usage.shape;
        }
        shape
    }
}

/// Causes that are reported at another field than that of their rule; `$` is the end of the path.
const KNOWN_ELSEWHERE: &[(&str, &str)] = &[
    (".persistentDisk.", ".gcePersistentDisk."),
    (".volumeMounts.", ".volumeMounts[0]."),
    (".initiatorname$", ".initiatorName$"),
    (".downwardAPI.fieldRef.", ".downwardAPI.items[0].fieldRef."),
    (".os$", ".os.name$"),
    (".claims[0]$", ".claims[0].name$"),
    (".schedulingGates[0]$", ".schedulingGates[0].name$"),
    (".template.labels$", ".template.metadata.labels$"),
    (".template.annotations$", ".template.metadata.annotations$"),
];

impl What {
    /// The keywords that may have its words.
    fn keywords(&self) -> &'static [&'static str] {
        match self {
            What::OneOf => &["enum", "all"],
            What::Format => &["format", "x-orch-format", "pattern", "all"],
            What::Minimum(_) => &["minimum", "all"],
            What::Maximum(_) => &["maximum", "all"],
            What::MinLength => &["minLength", "all"],
            What::MaxLength => &["maxLength", "all"],
            What::MinItems => &["minItems", "all"],
            What::MaxItems => &["maxItems", "all"],
            _ => &[],
        }
    }

    /// How its standard message begins.
    fn head(&self) -> &'static str {
        match self {
            What::Required => "Required value",
            What::OneOf => "Unsupported value",
            What::MaxLength => "Too long",
            What::MaxItems => "Too many",
            _ => "Invalid value",
        }
    }
}

impl Cause {
    /// The fields whose rules the cause may be about.
    fn fields_of_rules(&self) -> Vec<String> {
        let mut field = format!("{}$", self.field);
        for (told, stated) in KNOWN_ELSEWHERE {
            field = field.replace(told, stated);
        }
        // Faults of both values of a policy are reported at the list.
        let words = if self.field.ends_with(".resizePolicy") {
            &["[0].resourceName", "[0].restartPolicy"][..]
        } else {
            &[""]
        };
        words.iter().map(|word| format!("{}{word}", field.trim_end_matches('$'))).collect()
    }
}

impl Rule {
    fn is_broken(&self, way: &[Vec<String>], message: &str) -> bool {
        let here = way.last().is_some_and(|step| step.contains(&self.place));
        let begins = |text: &str| here && message.starts_with(text);
        let value = || {
            let shown = message.strip_prefix("Invalid value: ")?.split(':').next()?;
            // An amount is shown as a text, with its unit.
            shown.trim_matches('"').trim_end_matches(char::is_alphabetic).parse::<f64>().ok()
        };
        match &self.what {
            What::Required => begins("Required value"),
            What::OneOf => begins("Unsupported value"),
            What::Format => begins("Invalid value"),
            What::Minimum(limit) => here && value().is_some_and(|value| value < *limit),
            What::Maximum(limit) => here && value().is_some_and(|value| value > *limit),
            What::MultipleOf => here && message.contains("must be a multiple of "),
            What::MinLength => here && message.contains("must be at least "),
            What::MinItems => here && message.contains("must have at least "),
            What::MaxLength => begins("Too long"),
            What::MaxItems => begins("Too many"),
            What::Unique => {
                let item = format!("{}[*]", self.place);
                let at_item = way.iter().rev().take(2).any(|step| step.contains(&item));
                at_item && message.starts_with("Duplicate value")
            }
            What::Immutable => here && message.contains("field is immutable"),
            What::Member => here && message.contains("must specify one of: "),
            What::OtherMember => {
                here && (message.contains("must specify exactly one of")
                    || message.contains("must specify at most one of"))
            }
            // The place of its error may be another one.
            What::Worded(_) | What::Elsewhere(..) => false,
            What::Function(_) => way.iter().any(|step| step.contains(&self.place)),
        }
    }
}

enum Token<'t> {
    Name(&'t str),
    Subscript,
}

/// `a.b[c.d]` is a name, a name and a subscript.
fn tokens(field: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = field;
    while !rest.is_empty() {
        if let Some((_, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            tokens.push(Token::Subscript);
            rest = after;
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let (name, after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            tokens.push(Token::Name(name));
            rest = after;
        }
    }
    tokens
}

/// The types that requests may hold.
fn reachable(model: &Model) -> BTreeSet<TypeId> {
    let resources = model.group_versions.iter().flat_map(|group_version| &group_version.resources);
    let bodies = |resource: &orch_codegen::model::Resource| {
        let below = resource.subresources.iter().filter_map(|subresource| subresource.body);
        std::iter::once(resource.ty).chain(below).collect::<Vec<_>>()
    };
    // Objects of other versions are judged in the one that they are stored in.
    let is_judged = |resource: &&orch_codegen::model::Resource| {
        let group = |id: TypeId| &model.ty(id).group;
        resource.conversion.as_ref().is_none_or(|other| group(other.to) != group(resource.ty))
    };
    let mut waiting: Vec<TypeId> = resources.filter(is_judged).flat_map(bodies).collect();
    let mut reached = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if !reached.insert(id) {
            continue;
        }
        match &model.ty(id).kind {
            TypeKind::Object(object) => {
                judged(object).for_each(|field| named(&field.usage.shape, &mut waiting));
            }
            TypeKind::Alias(usage) => named(&usage.shape, &mut waiting),
            TypeKind::Enum(_) => {}
        }
    }
    reached
}

/// The fields of an object, but for those whose rules are ignored there.
fn judged(object: &ObjectType) -> impl Iterator<Item = &Field> {
    object.fields.iter().filter(|field| {
        let is_about = |check: &&Check| matches!(&*check.field, [Step::Field(name)] if *name == field.name);
        !object.checks.iter().filter(is_about).any(|check| matches!(check.demand, Demand::Ignored))
    })
}

/// The types that a shape names.
fn named(shape: &Shape, names: &mut Vec<TypeId>) {
    match shape {
        Shape::Named(id) => names.push(*id),
        Shape::List { item, .. } => named(&item.shape, names),
        Shape::Map { keys, value, .. } => {
            named(&keys.shape, names);
            named(&value.shape, names);
        }
        _ => {}
    }
}

fn of_type(model: &Model, ty: &Type, rules: &mut Vec<Rule>) {
    let place = ty.qualified_name.clone();
    for function in [&ty.validator, &ty.first_validator, &ty.update_validator].into_iter().flatten() {
        rules.push(Rule { place: place.clone(), what: What::Function(function.clone()) });
    }
    match &ty.kind {
        TypeKind::Object(object) => {
            if let Some(union) = &object.union {
                rules.push(Rule { place: place.clone(), what: What::OtherMember });
                if union.exactly_one {
                    rules.push(Rule { place: place.clone(), what: What::Member });
                }
            }
            for check in &object.checks {
                of_check(model, ty, check, rules);
            }
            for field in judged(object) {
                of_field(model, field, &format!("{place}.{}", field.name), rules);
            }
        }
        TypeKind::Enum(_) => rules.push(Rule { place, what: What::OneOf }),
        TypeKind::Alias(usage) => of_usage(usage, &place, rules),
    }
}

/// A rule of `x-orch-rules`.
fn of_check(model: &Model, ty: &Type, check: &Check, rules: &mut Vec<Rule>) {
    if check.words.is_warning {
        return;
    }
    let mut push = |what: What| {
        let place = place_of(model, ty, &check.field);
        let what = in_words(Some(&check.words), &place, what);
        rules.push(Rule { place, what });
    };
    match &check.demand {
        Demand::Required => push(What::Required),
        Demand::Forbidden => push(What::Elsewhere("Forbidden".to_owned(), String::new())),
        Demand::Equals(_) | Demand::Immutable(_) => {
            push(What::Elsewhere("Invalid value".to_owned(), String::new()));
        }
        Demand::Unique { .. } => push(What::Elsewhere("Duplicate value".to_owned(), String::new())),
        Demand::RefersTo { .. } => push(What::Elsewhere("Not found".to_owned(), String::new())),
        Demand::DiffersFrom(_) => push(What::Elsewhere("Invalid value".to_owned(), String::new())),
        Demand::Expression => push(What::Elsewhere(String::new(), String::new())),
        Demand::Function(name) => {
            let place = place_of(model, ty, &check.field);
            rules.push(Rule { place, what: What::Function(name.clone()) });
        }
        Demand::Ignored => {}
        Demand::AtLeastOne(_) | Demand::AtMostOne { .. } => push(What::Member),
        Demand::Value(..) => {
            for rule in check.demand.rules() {
                match rule {
                    Keyword::OneOf(_) => push(What::OneOf),
                    Keyword::Minimum(limit) => push(What::Minimum(limit)),
                    Keyword::Maximum(limit) => push(What::Maximum(limit)),
                    Keyword::Between(least, _) => push(What::Minimum(least)),
                    Keyword::MinLength(_) => push(What::MinLength),
                    Keyword::MaxLength(_) => push(What::MaxLength),
                    Keyword::MinItems(_) => push(What::MinItems),
                    Keyword::MaxItems(_) => push(What::MaxItems),
                    _ => push(What::Format),
                }
            }
        }
    }
}

/// Where a path of a type leads, as the causes have it.
fn place_of(model: &Model, ty: &Type, path: &[Step]) -> String {
    let mut place = ty.qualified_name.clone();
    let mut here = Some(ty);
    let mut is_map = false;
    for step in path {
        let Step::Field(name) = step else {
            place.push_str(if is_map { "[key]" } else { "[*]" });
            continue;
        };
        let Some(TypeKind::Object(object)) = here.map(|ty| &ty.kind) else { break };
        let Some(field) = object.fields.iter().find(|field| field.name == *name) else { break };
        place = format!("{}.{name}", here.map(|ty| ty.qualified_name.as_str()).unwrap_or_default());
        let mut shape = &field.usage.shape;
        is_map = matches!(shape, Shape::Map { .. });
        while let Shape::List { item, .. } | Shape::Map { value: item, .. } = shape {
            shape = &item.shape;
        }
        here = if let Shape::Named(id) = shape { Some(model.ty(*id)) } else { None };
    }
    place
}

/// A rule with words of its own is known by them: by the longest part of its message that is no value.
fn in_words(words: Option<&Words>, place: &str, what: What) -> What {
    let Some(words) = words else { return what };
    let told_at = words.place.as_ref();
    let head = match (&words.message, &what) {
        (Some(message), _) => {
            let parts = message.split(['{', '}']);
            let is_hole = |part: &&str| {
                part.starts_with('.')
                    || ["fault", "words.", "key", "index", "path"].iter().any(|hole| part.starts_with(hole))
            };
            let parts = parts.filter(|part| !is_hole(part));
            match parts.max_by_key(|part| part.len()) {
                // A detail follows a colon.
                Some(part) if !part.is_empty() && message.starts_with(part) => {
                    return What::Worded(format!(": {part}"));
                }
                Some(part) if !part.is_empty() => return What::Worded(part.to_owned()),
                _ => String::new(),
            }
        }
        (None, What::Elsewhere(head, _)) => head.clone(),
        (None, _) if told_at.is_none() => return what,
        (None, _) => what.head().to_owned(),
    };
    What::Elsewhere(head, last_field(told_at, place))
}

/// The last field of a path.
fn last_name(path: &str) -> &str {
    path.split(['.', '[']).rfind(|part| !part.ends_with(']')).unwrap_or_default()
}

/// The last field of where a rule is told.
fn last_field(told_at: Option<&Vec<Step>>, place: &str) -> String {
    // Told at the object itself, or under a key: of any name.
    let is_any = |place: &Vec<Step>| match place.last() {
        None | Some(Step::Up) => true,
        Some(Step::Field(name)) => name.starts_with('{'),
        _ => false,
    };
    if told_at.is_some_and(is_any) {
        return String::new();
    }
    let mut named = told_at.into_iter().flatten().filter_map(|step| match step {
        Step::Field(name) => Some(name.clone()),
        _ => None,
    });
    named.next_back().unwrap_or_else(|| last_name(place).to_owned())
}

fn of_field(model: &Model, field: &Field, place: &str, rules: &mut Vec<Rule>) {
    let may_be_empty = field.accepts_empty
        && matches!(field.usage.shape, Shape::String(_))
        && field.usage.constraints.min_length.is_none();
    if field.required && !may_be_empty && refuses_absence(model, &field.usage) {
        rules.push(Rule { place: place.to_owned(), what: What::Required });
    }
    if field.immutable.is_some() {
        rules.push(Rule { place: place.to_owned(), what: What::Immutable });
    }
    if let Some(function) = &field.validator {
        rules.push(Rule { place: place.to_owned(), what: What::Function(function.clone()) });
    }
    let from = rules.len();
    of_usage(&field.usage, place, rules);
    // What is empty is absent, and judged as such.
    let is_plain = if field.required { !field.usage.nullable } else { field.omit_empty };
    let Constraints { min_length, min_items, .. } = field.usage.constraints;
    if is_plain && (min_length == Some(1) || min_items == Some(1)) {
        let below = rules.split_off(from);
        let own = |rule: &Rule| rule.place == place && matches!(rule.what, What::MinLength | What::MinItems);
        rules.extend(below.into_iter().filter(|rule| !own(rule)));
    }
}

/// Whether the empty value of a required field stands for none: see the table of presence in the schema's
/// description.
fn refuses_absence(model: &Model, usage: &Usage) -> bool {
    if usage.nullable {
        return false;
    }
    match &usage.shape {
        Shape::String(_) => usage.constraints.min_length != Some(0),
        Shape::Time | Shape::MicroTime | Shape::Any => true,
        Shape::List { .. } => usage.constraints.min_items.is_some_and(|min| min > 0),
        Shape::Map { .. } => usage.constraints.min_properties.is_some_and(|min| min > 0),
        Shape::Named(id) => match &model.ty(*id).kind {
            TypeKind::Object(_) => false,
            TypeKind::Enum(_) => true,
            TypeKind::Alias(usage) => refuses_absence(model, usage),
        },
        _ => false,
    }
}

fn of_usage(usage: &Usage, place: &str, rules: &mut Vec<Rule>) {
    // Every field is named, so that the rule of a further keyword is not forgotten.
    let Constraints {
        enum_values,
        format_fn,
        pattern,
        minimum,
        maximum,
        exclusive_minimum,
        exclusive_maximum,
        multiple_of,
        min_length,
        max_length,
        min_items,
        max_items,
        unique_items,
        repeated_items,
        min_properties,
        max_properties,
    } = &usage.constraints;
    let mut push = |is_stated: bool, what: What| {
        if is_stated {
            let words = what.keywords().iter().find_map(|keyword| usage.words.get(*keyword));
            rules.push(Rule { place: place.to_owned(), what: in_words(words, place, what) });
        }
    };
    push(!enum_values.is_empty(), What::OneOf);
    push(
        pattern.is_some() || format_fn.is_some() || matches!(usage.shape, Shape::String(Some(_))),
        What::Format,
    );
    push(min_length.is_some_and(|min| min > 0), What::MinLength);
    push(max_length.is_some(), What::MaxLength);
    push(min_items.is_some_and(|min| min > 0) || min_properties.is_some(), What::MinItems);
    push(max_items.is_some() || max_properties.is_some(), What::MaxItems);
    push(multiple_of.is_some(), What::MultipleOf);
    for minimum in minimum.iter().copied().chain(exclusive_minimum.map(|limit| limit + 0.5)) {
        push(true, What::Minimum(minimum));
    }
    for maximum in maximum.iter().copied().chain(exclusive_maximum.map(|limit| limit - 0.5)) {
        push(true, What::Maximum(maximum));
    }
    match &usage.shape {
        Shape::List { item, semantics } => {
            let is_unique = *unique_items || *semantics != ListSemantics::Atomic;
            push(is_unique && !repeated_items, What::Unique);
            of_usage(item, &format!("{place}[*]"), rules);
        }
        Shape::Map { keys, value, .. } => {
            of_usage(keys, &format!("{place}[key]"), rules);
            of_usage(value, &format!("{place}[key]"), rules);
        }
        _ => {}
    }
}
