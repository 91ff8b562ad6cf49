//! Whether a constant satisfies a schema.

use orch_runtime::{
    constraint,
    rule::Pattern,
    scalar::{ByteString, Duration, MicroTime, Quantity, Time},
};

use crate::{
    diagnostic::Span,
    model::{Constraints, ListSemantics, Model, ObjectType, Shape, StringFormat, TypeKind, Usage},
    source::{Node, Spanned, Value},
};

/// What is wrong with a part of a constant.
pub(super) struct Fault<'n> {
    /// The part.
    pub span: &'n Span,
    /// What is wrong with it.
    pub what: String,
}

/// Everything that is wrong with a constant in a place; nothing for a good one.
pub(super) fn faults<'n>(model: &Model, usage: &Usage, node: &'n Node) -> Vec<Fault<'n>> {
    let mut checker = Checker { model, faults: Vec::new() };
    checker.usage(usage, node);
    checker.faults
}

struct Checker<'m, 'n> {
    model: &'m Model,
    faults: Vec<Fault<'n>>,
}

impl<'n> Checker<'_, 'n> {
    fn fault(&mut self, span: &'n Span, what: impl Into<String>) {
        self.faults.push(Fault { span, what: what.into() });
    }

    fn usage(&mut self, usage: &Usage, node: &'n Node) {
        if matches!(node.value, Value::Null) {
            if !usage.nullable {
                self.fault(&node.span, "it is null");
            }
            return;
        }
        self.shape(&usage.shape, node);
        self.constraints(&usage.constraints, node);
    }

    fn shape(&mut self, shape: &Shape, node: &'n Node) {
        match (shape, &node.value) {
            (_, Value::Reported)
            | (Shape::Any, _)
            | (Shape::Boolean, Value::Boolean(_))
            | (Shape::Int64 | Shape::Double | Shape::Quantity, Value::Integer(_))
            | (Shape::Double | Shape::Quantity, Value::Number(_))
            | (Shape::IntOrString, Value::String(_)) => {}
            (Shape::Int32 | Shape::IntOrString, Value::Integer(value)) => {
                if i32::try_from(*value).is_err() {
                    self.fault(&node.span, "it does not fit 32 bits");
                }
            }
            (Shape::String(format), Value::String(text)) => self.format(*format, text, &node.span),
            (Shape::Bytes, Value::String(text)) => {
                self.parsed(text.parse::<ByteString>().is_ok(), "it is not base64", node);
            }
            (Shape::Time, Value::String(text)) => {
                self.parsed(text.parse::<Time>().is_ok(), "it is not a time of RFC 3339", node);
            }
            (Shape::MicroTime, Value::String(text)) => {
                self.parsed(text.parse::<MicroTime>().is_ok(), "it is not a time of RFC 3339", node);
            }
            (Shape::Duration, Value::String(text)) => {
                self.parsed(text.parse::<Duration>().is_ok(), "it is not a duration such as 1h30m", node);
            }
            (Shape::Quantity, Value::String(text)) => {
                self.parsed(
                    text.parse::<Quantity>().is_ok(),
                    "it is not a quantity such as 500m or 2Gi",
                    node,
                );
            }
            (Shape::Named(id), _) => match &self.model.ty(*id).kind {
                TypeKind::Alias(usage) => self.usage(usage, node),
                TypeKind::Object(object) => self.object(object, node),
                TypeKind::Enum(values) => {
                    let words: Vec<&str> = values.iter().map(|value| value.value.as_str()).collect();
                    self.one_of(&words, node);
                }
            },
            (Shape::List { item, semantics }, Value::List(items)) => {
                for node in items {
                    self.usage(item, node);
                }
                match semantics {
                    ListSemantics::Set => self.unique(items, Node::to_json),
                    ListSemantics::Map(keys) => self.unique(items, |node| key_of(node, keys)),
                    ListSemantics::Atomic => {}
                }
            }
            (Shape::Map { keys, value, .. }, Value::Map(entries)) => {
                for (key, node) in entries {
                    self.key(keys, key);
                    self.usage(value, node);
                }
            }
            _ => self.fault(&node.span, format!("it is {}", node.noun())),
        }
    }

    fn parsed(&mut self, good: bool, what: &str, node: &'n Node) {
        if !good {
            self.fault(&node.span, what);
        }
    }

    fn object(&mut self, object: &ObjectType, node: &'n Node) {
        let Value::Map(entries) = &node.value else {
            self.fault(&node.span, format!("it is {}", node.noun()));
            return;
        };
        for (key, node) in entries {
            match object.fields.iter().find(|field| field.name == key.value) {
                Some(field) => self.usage(&field.usage, node),
                None => self.fault(&key.span, format!("there is no field `{}`", key.value)),
            }
        }
        let given = |name: &str| entries.iter().any(|(key, _)| key.value == name);
        for field in object.fields.iter().filter(|field| field.required && !given(&field.name)) {
            self.fault(&node.span, format!("it lacks the required field `{}`", field.name));
        }
        if let Some(union) = &object.union {
            let set = union.members.iter().filter(|member| given(member)).count();
            if set > 1 || (set == 0 && union.exactly_one) {
                self.fault(&node.span, format!("it sets {set} members of a union"));
            }
        }
    }

    fn key(&mut self, keys: &Usage, key: &'n Spanned<String>) {
        if let Shape::String(format) = &keys.shape {
            self.format(*format, &key.value, &key.span);
        }
        self.text(&keys.constraints, &key.value, &key.span);
    }

    fn format(&mut self, format: Option<StringFormat>, text: &str, span: &'n Span) {
        let rule: constraint::Constraint = match format {
            None => return,
            Some(StringFormat::LabelKey) => constraint::qualified_name,
            Some(StringFormat::LabelValue) => constraint::label_value,
            Some(StringFormat::DnsLabel) => constraint::dns_label,
            Some(StringFormat::DnsSubdomain) => constraint::dns_subdomain,
            Some(StringFormat::PathSegment) => constraint::path_segment,
            Some(StringFormat::Cidr) => constraint::cidr,
            Some(StringFormat::Ip) => constraint::ip,
            Some(StringFormat::Uri) => constraint::uri,
        };
        for what in rule(text) {
            self.fault(span, what);
        }
    }

    fn constraints(&mut self, rules: &Constraints, node: &'n Node) {
        match &node.value {
            Value::String(text) => self.text(rules, text, &node.span),
            Value::Integer(value) => self.number(rules, *value as f64, &node.span),
            Value::Number(value) => self.number(rules, *value, &node.span),
            Value::List(items) => {
                self.count(
                    items.len(),
                    [(rules.min_items, "minItems"), (rules.max_items, "maxItems")],
                    &node.span,
                );
                if rules.unique_items {
                    self.unique(items, Node::to_json);
                }
            }
            Value::Map(entries) => {
                let rules =
                    [(rules.min_properties, "minProperties"), (rules.max_properties, "maxProperties")];
                self.count(entries.len(), rules, &node.span);
            }
            Value::Null | Value::Boolean(_) | Value::Reported => {}
        }
    }

    fn text(&mut self, rules: &Constraints, text: &str, span: &'n Span) {
        self.count(text.len(), [(rules.min_length, "minLength"), (rules.max_length, "maxLength")], span);
        if !rules.enum_values.is_empty() && !rules.enum_values.iter().any(|value| value == text) {
            self.fault(span, "it is none of the values of `enum`");
        }
        // A pattern that does not compile is reported where it is written.
        let pattern = rules.pattern.as_ref().and_then(|pattern| Pattern::compile(pattern.clone()).ok());
        if pattern.is_some_and(|pattern| !pattern.is_match(text)) {
            self.fault(span, "it does not match the `pattern`");
        }
    }

    fn number(&mut self, rules: &Constraints, value: f64, span: &'n Span) {
        let bounds = [
            (rules.minimum, "below the `minimum`", (|value, bound| value < bound) as fn(f64, f64) -> bool),
            (rules.maximum, "above the `maximum`", |value, bound| value > bound),
            (rules.exclusive_minimum, "not above the `exclusiveMinimum`", |value, bound| value <= bound),
            (rules.exclusive_maximum, "not below the `exclusiveMaximum`", |value, bound| value >= bound),
            (rules.multiple_of, "no multiple of `multipleOf`", |value, step| {
                step > 0.0 && value % step != 0.0
            }),
        ];
        for (bound, what, broken) in bounds {
            if bound.is_some_and(|bound| broken(value, bound)) {
                self.fault(span, format!("it is {what}"));
            }
        }
    }

    fn count(&mut self, count: usize, rules: [(Option<u64>, &str); 2], span: &'n Span) {
        let count = count as u64;
        let [(min, min_name), (max, max_name)] = rules;
        if min.is_some_and(|min| count < min) {
            self.fault(span, format!("it has less than its `{min_name}`"));
        }
        if max.is_some_and(|max| count > max) {
            self.fault(span, format!("it has more than its `{max_name}`"));
        }
    }

    fn one_of(&mut self, words: &[&str], node: &'n Node) {
        match &node.value {
            Value::String(text) if words.contains(&text.as_str()) => {}
            _ => self.fault(&node.span, "it is none of the values of `enum`"),
        }
    }

    fn unique(&mut self, items: &'n [Node], identity: impl Fn(&Node) -> serde_json::Value) {
        for (index, item) in items.iter().enumerate() {
            if items[..index].iter().any(|other| identity(other) == identity(item)) {
                self.fault(&item.span, "it repeats an item");
            }
        }
    }
}

/// What tells the items of a keyed list apart.
fn key_of(node: &Node, keys: &[String]) -> serde_json::Value {
    let Value::Map(entries) = &node.value else { return node.to_json() };
    let value =
        |name: &String| entries.iter().find(|(key, _)| key.value == *name).map(|(_, node)| node.to_json());
    keys.iter().map(|key| value(key).unwrap_or_default()).collect()
}
