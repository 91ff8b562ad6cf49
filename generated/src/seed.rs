//! Objects that every server has, as they stand in `schema/seed`, with the words of the vocabulary `orch`.

/// Roles and bindings of users and of the parts of a cluster.
pub const ROLES: &str = include_str!("../../schema/seed/roles.yaml");

/// Roles of controllers.
pub const CONTROLLER_ROLES: &str = include_str!("../../schema/seed/controller-roles.yaml");

/// Priority levels and flow schemas.
pub const FLOW_CONTROL: &str = include_str!("../../schema/seed/flowcontrol.yaml");

/// Priority classes.
pub const PRIORITY_CLASSES: &str = include_str!("../../schema/seed/priorityclasses.yaml");
