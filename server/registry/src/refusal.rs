//! The refusal of a caller: what they read who may not do what they asked for.

use orch_auth::authorizer::{Attributes, Decision, ResourceTarget, Target};
use orch_runtime::field_error::Shown as _;

use crate::{
    error::{ApiError, Forbidden, ResourceName},
    request::Target as RequestTarget,
};

/// The plural of the kind whose objects are authorized as objects in themselves, as in the paths of requests.
const NAMESPACES: &str = "namespaces";

/// The 403 of a decision that does not allow, worded as by the reference, which escapes what the user cannot
/// do as for HTML.
pub fn forbidden(attributes: &Attributes<'_>, decision: &Decision) -> ApiError {
    let (user, verb) = (&attributes.user.name, attributes.verb);
    let (resource, name, subject, what) = match attributes.target {
        Target::Resource(target) => {
            let ResourceTarget { group, subresource, namespace, name, .. } = target;
            let resource = ResourceName { group: group.to_owned(), resource: target.resource.to_owned() };
            let subject = match (target.resource, name) {
                ("", _) => String::new(),
                (_, "") => format!("{} is ", resource.qualified()),
                (_, name) => format!("{} {} is ", resource.qualified(), name.shown()),
            };
            let on = match subresource {
                "" => target.resource.to_owned(),
                subresource => format!("{}/{subresource}", target.resource),
            };
            let scope = match namespace {
                "" => "at the cluster scope".to_owned(),
                namespace => format!("in the namespace {}", namespace.shown()),
            };
            let what = format!("resource {} in API group {} {scope}", on.shown(), group.shown());
            (resource, name, subject, what)
        }
        Target::Path(path) => {
            let nothing = ResourceName { group: String::new(), resource: String::new() };
            (nothing, "", String::new(), format!("path {}", path.shown()))
        }
    };
    let told = format!("User {} cannot {verb} {what}", user.shown());
    let told = told.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut message = format!("{subject}forbidden: {told}");
    if !decision.reason().is_empty() {
        message = format!("{message}: {}", decision.reason());
    }
    ApiError::Forbidden(Box::new(Forbidden { resource, name: name.to_owned(), message, cause: None }))
}

/// A request's target as authorizers know it.
pub(crate) fn resource_target<'a>(target: &'a RequestTarget<'_>) -> ResourceTarget<'a> {
    let resource = target.resource;
    let is_namespace = resource.group.is_empty() && resource.def.plural == NAMESPACES;
    ResourceTarget {
        group: &resource.group,
        version: resource.def.version,
        resource: resource.def.plural,
        subresource: target.subresource_name(),
        namespace: if is_namespace { &target.name } else { &target.namespace },
        name: &target.name,
        ..ResourceTarget::default()
    }
}
