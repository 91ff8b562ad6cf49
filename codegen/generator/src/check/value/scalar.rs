//! Single values, read as the runtime reads them from a request.

use orch_runtime::{
    field_error::Shown,
    scalar::{ByteString, Duration, IntOrString, MicroTime, Quantity, Time},
};
use serde::de::DeserializeOwned;

use crate::{model::Shape, source::Node};

/// A value of that shape as messages show it, which is one text for equal values; else what is wrong with it.
pub(super) fn shown(shape: &Shape, node: &Node) -> Result<String, String> {
    match shape {
        Shape::Boolean => read::<bool>(node, "it is not a boolean"),
        Shape::Int32 => read::<i32>(node, "it is not an integer of 32 bits"),
        Shape::Int64 => read::<i64>(node, "it is not an integer of 64 bits"),
        Shape::Double => read::<f64>(node, "it is not a number"),
        Shape::String(_) => read::<String>(node, "it is not a string"),
        Shape::Bytes => read::<ByteString>(node, "it is not base64"),
        Shape::Time => read::<Time>(node, "it is not a time of RFC 3339"),
        Shape::MicroTime => read::<MicroTime>(node, "it is not a time of RFC 3339"),
        Shape::Duration => read::<Duration>(node, "it is not a duration such as 1h30m"),
        Shape::Quantity => read::<Quantity>(node, "it is not a quantity such as 500m or 2Gi"),
        Shape::IntOrString => read::<IntOrString>(node, "it is neither an integer of 32 bits nor a string"),
        Shape::Any | Shape::Named(_) | Shape::List { .. } | Shape::Map { .. } => {
            Ok(node.to_json().to_string())
        }
    }
}

fn read<T: DeserializeOwned + Shown>(node: &Node, fault: &str) -> Result<String, String> {
    serde_json::from_value::<T>(node.to_json()).map(|value| value.shown()).map_err(|_| fault.to_owned())
}
