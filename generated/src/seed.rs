//! Objects that every server has, as they stand in `schema/seed`, as JSON, with the words of the vocabulary
//! `orch`.

/// Roles and bindings of users and of the parts of a cluster.
pub const ROLES: &str = include_str!(concat!(env!("OUT_DIR"), "/seed/roles.json"));

/// Roles of controllers.
pub const CONTROLLER_ROLES: &str = include_str!(concat!(env!("OUT_DIR"), "/seed/controller-roles.json"));

/// Priority levels and flow schemas.
pub const FLOW_CONTROL: &str = include_str!(concat!(env!("OUT_DIR"), "/seed/flowcontrol.json"));

/// Priority classes.
pub const PRIORITY_CLASSES: &str = include_str!(concat!(env!("OUT_DIR"), "/seed/priorityclasses.json"));
