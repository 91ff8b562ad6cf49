//! Flow schemas: the two with a fixed spec.

use orch_runtime::{
    field_error::{FieldError, Order, Rendered, Validation, json},
    path::Path,
};

use crate::flowcontrol::v1::FlowSchema;

/// Flow schemas that the server relies on have their fixed spec: Rust, because it is an object of the
/// server.
pub fn flow_schema(value: &FlowSchema, path: &Path<'_>, cx: &mut Validation<'_>) {
    let (name, spec, at) = (&value.metadata.name, &value.spec, path.field("spec"));
    cx.arrange(&at, ORDER);
    if FlowSchema::mandatory_spec(name).is_some_and(|fixed| fixed != *spec) {
        let detail = format!("spec of '{name}' must equal the fixed value");
        cx.push(FieldError::invalid(&at, &Rendered(json(spec)), &detail));
    }
}

/// The order in which errors of a flow schema are reported.
const ORDER: &[Order] = &[
    Order::of("matchingPrecedence"),
    Order::of("distinguisherMethod"),
    Order::of("priorityLevelConfiguration"),
    Order::with("rules", &[Order::with("subjects", &[Order::of("*")]), Order::of("*")]),
];
