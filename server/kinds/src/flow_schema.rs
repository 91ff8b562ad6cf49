//! `FlowSchema`: status alone, and tables in the order in which schemas are tried.

use orch_api::flowcontrol::v1::FlowSchema;
use orch_registry::behaviour::Behaviour;
use orch_runtime::{Tree, resource_def::FieldPath};

use crate::status_alone::StatusAlone;

pub(crate) struct FlowSchemaBehaviour;

impl Behaviour<FlowSchema> for FlowSchemaBehaviour {
    fn kept_metadata(&self, subresource: &str) -> &'static [FieldPath] {
        Behaviour::<FlowSchema>::kept_metadata(&StatusAlone, subresource)
    }

    fn row_rank(&self) -> Option<fn(&Tree) -> i64> {
        Some(|schema| schema["spec"]["matchingPrecedence"].as_i64().unwrap_or_default())
    }
}
