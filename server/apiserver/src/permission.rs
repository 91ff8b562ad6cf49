//! Whether a caller may do what the request says, and what clients are told where they may not.

use orch_auth::{
    authenticator::Authenticated,
    authorizer::{self, Attributes, Authorizer as _, Decision},
};

use crate::{
    app::App,
    error::{ApiError, Forbidden, ResourceName, Result},
    request_info::Names,
};

/// Who makes a request, and of what: for what the verb of the request alone does not settle.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    /// The caller.
    pub caller: &'a Authenticated,
    /// What the request is about.
    pub names: &'a Names<'a>,
}

impl Asker<'_> {
    /// Whether the caller may do something else to what the request is about.
    pub async fn may(self, app: &App, verb: &str) -> Decision {
        let names = Names { verb: verb.into(), ..self.names.clone() };
        decide(app, self.caller, &names, "").await
    }
}

/// Checks one access.
///
/// # Errors
/// 403 where the caller may not.
pub async fn check(app: &App, caller: &Authenticated, names: &Names<'_>, path: &str) -> Result<()> {
    let decision = decide(app, caller, names, path).await;
    if decision.is_allowed() { Ok(()) } else { Err(forbidden(caller, names, path, &decision)) }
}

async fn decide(app: &App, caller: &Authenticated, names: &Names<'_>, path: &str) -> Decision {
    let target = if names.is_resource {
        authorizer::Target::Resource(authorizer::ResourceTarget {
            group: &names.group,
            version: &names.version,
            resource: &names.resource,
            subresource: &names.subresource,
            namespace: &names.namespace,
            name: &names.name,
        })
    } else {
        authorizer::Target::Path(path)
    };
    let attributes = Attributes { user: caller.user(), verb: &names.verb, target };
    app.authorization.authorize(&attributes).resolve().await
}

/// Who may not do what, in the words that clients know. What the client sent is escaped as in HTML.
fn forbidden(caller: &Authenticated, names: &Names<'_>, path: &str, decision: &Decision) -> ApiError {
    let user = &caller.user().name;
    let resource = ResourceName { group: names.group.to_string(), resource: names.resource.to_string() };
    let mut message = if names.is_resource {
        let subject = match names.name.as_ref() {
            "" => resource.qualified(),
            name => format!("{} \"{name}\"", resource.qualified()),
        };
        let what = match names.subresource.as_ref() {
            "" => names.resource.to_string(),
            subresource => format!("{}/{subresource}", names.resource),
        };
        let place = match names.namespace.as_ref() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace \"{namespace}\""),
        };
        let (verb, group) = (&names.verb, &names.group);
        format!(
            "{subject} is forbidden: User \"{user}\" cannot {verb} resource \"{what}\" in API group \"{group}\" {place}"
        )
    } else {
        format!("forbidden: User \"{user}\" cannot {} path \"{path}\"", names.verb)
    };
    if !decision.reason().is_empty() {
        message = format!("{message}: {}", decision.reason());
    }
    let message = message.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    ApiError::Forbidden(Box::new(Forbidden { resource, name: names.name.to_string(), message, cause: None }))
}
