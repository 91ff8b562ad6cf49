//! Rules that OpenAPI has no keywords for, as the extensions by which tools know them: expressions
//! (`x-kubernetes-validations`, KEP-2876) and unions (`x-kubernetes-unions`, KEP-1027).

use openapiv3::SchemaData;
use serde_json::{Map, Value, json};

use super::validations;
use crate::model::{
    Empty, Field, Immutability, Model, ObjectType, Resolved, Shape, StringFormat, Union, Usage,
};

/// Words of the language that cannot be names of fields in it; with underlines around them they can.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// That an object is a union.
pub fn of_object(object: &ObjectType, data: &mut SchemaData) {
    let Some(union) = &object.union else { return };
    let given: Vec<String> =
        union.members.iter().map(|member| format!("has(self.{})", identifier(member))).collect();
    let (comparison, how_many) = if union.exactly_one { ("==", "exactly") } else { ("<=", "at most") };
    let rule = format!("[{}].filter(given, given).size() {comparison} 1", given.join(", "));
    let message = format!("{how_many} one of these must be set: {}", union.members.join(", "));
    data.extensions.insert("x-kubernetes-unions".to_owned(), json!([members(union)]));
    validations::add(vec![stated(&rule, &message)], data);
}

/// A union as the extension describes it. Without a discriminator the members stand for themselves.
fn members(union: &Union) -> Value {
    let values = union.discriminator.as_ref().map(|(_, values)| values);
    let described = union.members.iter().map(|member| {
        let value = values.and_then(|values| values.get(member)).unwrap_or(member);
        (member.clone(), json!(value))
    });
    let members: Map<String, Value> = described.collect();
    let mut described = json!({"fields-to-discriminateBy": members});
    if let Some((field, _)) = &union.discriminator {
        described["discriminator"] = json!(field);
    }
    described
}

/// That a field does not change.
pub fn of_field(field: &Field, data: &mut SchemaData) {
    let message = match field.immutable {
        None => return,
        Some(Immutability::Always) => "field is immutable",
        Some(Immutability::OnceSet) => "field is immutable once set",
    };
    validations::add(vec![stated("self == oldSelf", message)], data);
}

/// What the keys of a map are.
pub fn of_keys(keys: &Usage, data: &mut SchemaData) {
    let mut rules = Vec::new();
    if let Shape::String(Some(format)) = keys.shape {
        rules.extend(is_of_format(format));
    }
    let constraints = &keys.constraints;
    rules.extend(constraints.pattern.as_ref().map(|pattern| format!("key.matches({})", json!(pattern))));
    let least = constraints.min_length.filter(|least| *least > 0);
    rules.extend(least.map(|least| format!("size(bytes(key)) >= {least}")));
    rules.extend(constraints.max_length.map(|most| format!("size(bytes(key)) <= {most}")));
    if !rules.is_empty() {
        let rule = format!("self.all(key, {})", rules.join(" && "));
        validations::add(vec![stated(&rule, "a key has the wrong form")], data);
    }
}

/// Whether a field is a text that must not be empty, although no length says so.
pub fn is_never_empty(model: &Model, field: &Field) -> bool {
    let is_text = matches!(model.resolve(&field.usage), Resolved::Scalar(Shape::String(_)));
    is_text && !field.presence(model).optional && field.empty(model) == Empty::Missing
}

/// That a key has a format, where the language can say it.
fn is_of_format(format: StringFormat) -> Option<String> {
    let named = |name: &str| format!("!format.{name}().validate(key).hasValue()");
    Some(match format {
        StringFormat::LabelKey => named("qualifiedName"),
        StringFormat::LabelValue => named("labelValue"),
        StringFormat::DnsLabel => named("dns1123Label"),
        StringFormat::DnsSubdomain => named("dns1123Subdomain"),
        StringFormat::Dns1035Label => named("dns1035Label"),
        StringFormat::Uri => named("uri"),
        StringFormat::Cidr => "isCIDR(key)".to_owned(),
        StringFormat::Ip => "isIP(key)".to_owned(),
        StringFormat::PathSegment => r#"!(key in [".", ".."]) && !key.matches("[/%]")"#.to_owned(),
        StringFormat::ConfigKey => {
            r#"key.matches("^[-._a-zA-Z0-9]{1,253}$") && key != "." && !key.startsWith("..")"#.to_owned()
        }
        _ => return None,
    })
}

fn stated(rule: &str, message: &str) -> Value {
    json!({"rule": rule, "message": message})
}

/// The name of a field in an expression.
fn identifier(name: &str) -> String {
    if RESERVED.contains(&name) { format!("__{name}__") } else { name.to_owned() }
}
