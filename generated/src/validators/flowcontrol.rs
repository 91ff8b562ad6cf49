//! Priority and fairness: flow schemas and priority levels.

mod flow_schema;
mod priority_level;

pub use self::{flow_schema::flow_schema, priority_level::priority_level_configuration};

/// The name of the exempt flow schema and of the exempt priority level.
const EXEMPT: &str = "exempt";
