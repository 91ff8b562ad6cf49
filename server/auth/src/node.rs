//! The mode `Node`: nodes may read what their pods need, and little else.
//!
//! - [`authorizer`]: the mode;
//! - [`graph`]: which objects the pods of each node use.

pub mod authorizer;
pub mod graph;

use crate::user::UserInfo;

/// The group of all nodes.
pub const GROUP_NODES: &str = "system:nodes";

const USER_PREFIX: &str = "system:node:";

/// The name of the node that a user is, which may be empty; `None` for all other users.
pub fn node_of(user: &UserInfo) -> Option<&str> {
    let name = user.name.strip_prefix(USER_PREFIX)?;
    user.in_group(GROUP_NODES).then_some(name)
}
