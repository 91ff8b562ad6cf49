//! Priority classes: values, reserved names, and the constant value.

use orch_runtime::{
    field_error::{FieldError, Order, Validation},
    path::Path,
};

use crate::scheduling::v1::PriorityClass;

/// The highest value of classes that are not the system's.
const MAX_VALUE: i32 = 1_000_000_000;
/// The prefix of names that are reserved for the system.
const SYSTEM_PREFIX: &str = "system-";
/// The classes of the system, and their values.
const SYSTEM_CLASSES: &[(&str, i32)] =
    &[("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// High values and reserved names are for the classes of the system, whose values are fixed.
pub fn priority_class(value: &PriorityClass, path: &Path<'_>, cx: &mut Validation<'_>) {
    let name = value.metadata.name.as_str();
    if !name.starts_with(SYSTEM_PREFIX) {
        if value.value > MAX_VALUE {
            let detail = format!("maximum allowed value of a user defined priority is {MAX_VALUE}");
            cx.push(FieldError::forbidden(&path.field("value"), &detail));
        }
    } else if let Some(fault) = system_fault(value) {
        let detail = format!(
            "priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only. error: \
             {fault}"
        );
        cx.push(FieldError::forbidden(&path.field("metadata").field("name"), &detail));
    }
    cx.arrange(path, &[Order::of("metadata"), Order::of("value"), Order::of("*")]);
}

fn system_fault(class: &PriorityClass) -> Option<String> {
    let name = class.metadata.name.as_str();
    match SYSTEM_CLASSES.iter().find(|(known, _)| *known == name) {
        None => Some(format!("{name} is not a known system priority class")),
        Some((_, value)) if *value != class.value => {
            Some(format!("value of {name} PriorityClass must be {value}"))
        }
        Some(_) if class.global_default => {
            Some(format!("globalDefault of {name} PriorityClass must be false"))
        }
        Some(_) => None,
    }
}
