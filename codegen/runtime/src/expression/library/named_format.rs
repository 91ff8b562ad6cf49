//! Formats of texts by name: `format.dns1123Label().validate(text)` is empty, or a list of what is wrong.

use base64::Engine as _;

use super::{Table, text};
use crate::{
    constraint::{self, Constraint},
    expression::{fault::Fault, value::Value},
};

/// Each format by its name.
const FORMATS: &[(&str, Constraint)] = &[
    ("byte", byte),
    ("date", date),
    ("datetime", datetime),
    ("dns1035Label", constraint::dns_1035_label),
    ("dns1035LabelPrefix", constraint::dns_1035_label_prefix),
    ("dns1123Label", constraint::dns_label),
    ("dns1123LabelPrefix", constraint::dns_label_prefix),
    ("dns1123Subdomain", constraint::dns_subdomain),
    ("dns1123SubdomainPrefix", constraint::dns_subdomain_prefix),
    ("labelValue", constraint::label_value),
    ("qualifiedName", constraint::qualified_name),
    ("uri", constraint::uri),
    ("uuid", uuid),
];

/// The line of each format.
macro_rules! formats {
    ($($name:literal),* $(,)?) => {
        &[
            $((
                concat!("format.", $name, "() -> NamedFormat"),
                |_, _| Ok(Value::Format($name)),
            ),)*
            ("format.named(string) -> optional_type(NamedFormat)", |args, _| {
                let wanted = text(&args[0])?;
                let found = FORMATS.iter().find(|(name, _)| *name == wanted);
                Ok(Value::optional(found.map(|(name, _)| Value::Format(name))))
            }),
            (
                "(NamedFormat).validate(string) -> optional_type(list(string))",
                |args, _| {
                    let Value::Format(wanted) = &args[0] else { return Err(Fault::wrong_type()) };
                    let text = text(&args[1])?;
                    let found = FORMATS.iter().find(|(name, _)| name == wanted);
                    let faults = found.map_or_else(Vec::new, |(_, constraint)| constraint(text));
                    let faults: Vec<Value> = faults.into_iter().map(Value::from).collect();
                    Ok(Value::optional((!faults.is_empty()).then(|| Value::list(faults))))
                },
            ),
        ]
    };
}

pub(super) const TABLE: Table = formats![
    "byte",
    "date",
    "datetime",
    "dns1035Label",
    "dns1035LabelPrefix",
    "dns1123Label",
    "dns1123LabelPrefix",
    "dns1123Subdomain",
    "dns1123SubdomainPrefix",
    "labelValue",
    "qualifiedName",
    "uri",
    "uuid",
];

fn fault_unless(is_right: bool, what: &str) -> Vec<String> {
    if is_right { Vec::new() } else { vec![what.to_owned()] }
}

fn byte(text: &str) -> Vec<String> {
    let is_right = base64::engine::general_purpose::STANDARD.decode(text).is_ok();
    fault_unless(is_right, "invalid base64")
}

fn date(text: &str) -> Vec<String> {
    let has_shape = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    fault_unless(has_shape && text.parse::<jiff::civil::Date>().is_ok(), "invalid date")
}

fn datetime(text: &str) -> Vec<String> {
    fault_unless(super::time::read_timestamp(text).is_ok(), "invalid datetime")
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12; the hyphens may be missing.
fn uuid(text: &str) -> Vec<String> {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    let has_shape = groups == [8, 4, 4, 4, 12] || groups == [32];
    let is_right = has_shape && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    fault_unless(is_right, "does not match the UUID format")
}
