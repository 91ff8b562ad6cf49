//! The refusal of a caller: what they read who may not do what they asked for.

use orch_auth::authorizer::{Attributes, Decision, ResourceTarget, Target};
use orch_runtime::field_error::Shown as _;

use crate::error::{ApiError, Forbidden, ResourceName};

/// The 403 of a decision that does not allow, worded as by the reference, which escapes the message as for
/// HTML.
pub fn forbidden(attributes: &Attributes<'_>, decision: &Decision) -> ApiError {
    let (user, verb) = (attributes.user.name.shown(), attributes.verb);
    let (resource, name, mut message) = match attributes.target {
        Target::Resource(target) => {
            let ResourceTarget { group, subresource, namespace, name, .. } = target;
            let resource = ResourceName { group: group.to_owned(), resource: target.resource.to_owned() };
            let subject = match name {
                _ if target.resource.is_empty() => String::new(),
                "" => format!("{} is ", resource.qualified()),
                name => format!("{} {} is ", resource.qualified(), name.shown()),
            };
            let what = match subresource {
                "" => target.resource.to_owned(),
                subresource => format!("{}/{subresource}", target.resource),
            };
            let scope = match namespace {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {}", namespace.shown()),
            };
            let message = format!(
                "{subject}forbidden: User {user} cannot {verb} resource {} in API group {} {scope}",
                what.shown(),
                group.shown()
            );
            (resource, name, message)
        }
        Target::Path(path) => {
            let nothing = ResourceName { group: String::new(), resource: String::new() };
            (nothing, "", format!("forbidden: User {user} cannot {verb} path {}", path.shown()))
        }
    };
    if !decision.reason().is_empty() {
        message = format!("{message}: {}", decision.reason());
    }
    let message = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    ApiError::Forbidden(Box::new(Forbidden { resource, name: name.to_owned(), message, cause: None }))
}
