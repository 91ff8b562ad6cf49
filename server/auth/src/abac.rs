//! The mode `ABAC`: a file of policies, one JSON object in each line.
//!
//! A policy names a user or a group (or both, and then the caller must be both), and what they may do:
//! everything in a group, resource and namespace, or everything below a path. `readonly` leaves `get`, `list`
//! and `watch`. `*` is everything; for users and groups it is everybody with a valid credential. Lines
//! without `apiVersion` are of the oldest form, in which what is left out means everything. Empty lines and
//! lines that begin with `#` are skipped. A new file needs a new start, as in the reference.

mod policy_file;

pub use self::policy_file::PolicyFileError;

use std::path::Path;

use orch_runtime::vocabulary::Vocabulary;

use crate::{
    answer::Answer,
    authorizer::{Attributes, Authorizer, Decision, Target},
    user::UserInfo,
};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abac {
    policies: Vec<Policy>,
}

/// One line of the file. An empty field matches what is empty alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Policy {
    user: String,
    group: String,
    readonly: bool,
    api_group: String,
    resource: String,
    namespace: String,
    path: String,
}

impl Abac {
    /// Reads the file.
    ///
    /// # Errors
    /// Where the file cannot be read, or a line of it is no policy.
    pub fn read(path: &Path, vocabulary: &Vocabulary) -> Result<Self, PolicyFileError> {
        Ok(Abac { policies: policy_file::read(path, vocabulary)? })
    }
}

impl Authorizer for Abac {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Answer<'a, Decision> {
        Answer::Ready(if self.policies.iter().any(|policy| policy.allows(attributes)) {
            Decision::Allow { reason: "".into() }
        } else {
            Decision::NoOpinion { reason: "No policy matched.".into() }
        })
    }
}

impl Policy {
    fn allows(&self, attributes: &Attributes<'_>) -> bool {
        let is_read = matches!(attributes.verb, "get" | "list" | "watch");
        (is_read || !self.readonly)
            && self.is_for(attributes.user)
            && match attributes.target {
                Target::Path(path) => is_path(&self.path, path),
                Target::Resource(target) => {
                    is(&self.namespace, target.namespace)
                        && is(&self.resource, target.resource)
                        && is(&self.api_group, target.group)
                }
            }
    }

    /// Whether the caller is the user, if one is named, and in the group, if one is named. One of them is.
    fn is_for(&self, user: &UserInfo) -> bool {
        let is_named = !self.user.is_empty() || !self.group.is_empty();
        is_named
            && (self.user.is_empty() || is(&self.user, &user.name))
            && (self.group.is_empty() || user.in_group(&self.group))
    }
}

fn is(pattern: &str, value: &str) -> bool {
    pattern == "*" || pattern == value
}

/// A path of a policy that ends with `*` is the beginning of others.
fn is_path(pattern: &str, path: &str) -> bool {
    pattern == path || pattern.strip_suffix('*').is_some_and(|stem| path.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use orch_runtime::vocabulary::EXAMPLE;

    use super::*;
    use crate::{authorizer::ResourceTarget, user::GROUP_AUTHENTICATED};

    fn read(lines: &str) -> Result<Abac, String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        let shown = file.path().display().to_string();
        Abac::read(file.path(), &EXAMPLE).map_err(|error| error.to_string().replace(&shown, "FILE"))
    }

    async fn allows(abac: &Abac, user: &UserInfo, verb: &str, target: Target<'_>) -> bool {
        let attributes = Attributes { user, verb, target };
        abac.authorize(&attributes).resolve().await.is_allowed()
    }

    fn resource<'a>(group: &'a str, resource: &'a str, namespace: &'a str) -> Target<'a> {
        Target::Resource(ResourceTarget { group, resource, namespace, ..ResourceTarget::default() })
    }

    #[tokio::test]
    async fn policies_allow_what_they_name() {
        let policy = |spec: &str| {
            let version = "abac.authorization.example.io/v1beta1";
            format!(r#"{{"apiVersion":"{version}","kind":"Policy","spec":{{{spec}}}}}"#)
        };
        let lines = [
            "# who may do what".to_owned(),
            String::new(),
            policy(r#""user":"bob","namespace":"n","resource":"pods","apiGroup":"""#),
            policy(r#""group":"ops","namespace":"*","resource":"*","apiGroup":"*","readonly":true"#),
            policy(r#""user":"eve","group":"ops","nonResourcePath":"/logs/*""#),
            policy(r#""user":"*","nonResourcePath":"/version""#),
        ];
        let abac = read(&lines.join("\n")).unwrap();
        let bob = UserInfo::new("bob", [GROUP_AUTHENTICATED]);
        let ops = UserInfo::new("carol", ["ops", GROUP_AUTHENTICATED]);
        let (eve, eve_in_ops) = (UserInfo::new("eve", [""; 0]), UserInfo::new("eve", ["ops"]));
        for (user, verb, target, allowed) in [
            (&bob, "create", resource("", "pods", "n"), true),
            (&bob, "create", resource("", "pods", "m"), false),
            (&bob, "get", resource("apps", "pods", "n"), false),
            (&bob, "get", resource("", "nodes", "n"), false),
            (&ops, "watch", resource("apps", "daemonsets", ""), true),
            (&ops, "delete", resource("apps", "daemonsets", ""), false),
            (&ops, "get", Target::Path("/logs/a"), false),
            (&eve, "get", Target::Path("/logs/a"), false),
            (&eve_in_ops, "post", Target::Path("/logs/a"), true),
            (&bob, "get", Target::Path("/version"), true),
            (&UserInfo::anonymous(), "get", Target::Path("/version"), false),
        ] {
            assert_eq!(allows(&abac, user, verb, target).await, allowed, "{} {verb} {target:?}", user.name);
        }
        let attributes = Attributes { user: &bob, verb: "get", target: Target::Path("/") };
        assert_eq!(abac.authorize(&attributes).resolve().await.reason(), "No policy matched.");
    }

    #[tokio::test]
    async fn the_oldest_form_leaves_out_what_is_everything() {
        let abac = read("{\"user\":\"bob\"}\n{\"resource\":\"pods\",\"readonly\":true}\n").unwrap();
        let bob = UserInfo::new("bob", [GROUP_AUTHENTICATED]);
        let eve = UserInfo::new("eve", [GROUP_AUTHENTICATED]);
        for (user, verb, target, allowed) in [
            (&bob, "delete", resource("apps", "daemonsets", "n"), true),
            (&bob, "get", Target::Path("/metrics"), true),
            (&eve, "list", resource("", "pods", "n"), true),
            (&eve, "delete", resource("", "pods", "n"), false),
            (&eve, "get", Target::Path("/metrics"), false),
            (&UserInfo::anonymous(), "list", resource("", "pods", "n"), false),
        ] {
            assert_eq!(allows(&abac, user, verb, target).await, allowed, "{} {verb} {target:?}", user.name);
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (lines, expected) in [
            ("{}\n\n{\"user\":", "FILE:3:8: EOF while parsing a value"),
            (
                "{\"apiVersion\":\"v1\",\"kind\":\"Policy\",\"spec\":{}}",
                "FILE:1: apiVersion is \"v1\", not abac.authorization.example.io/v1beta1",
            ),
            (
                "{\"apiVersion\":\"abac.authorization.example.io/v1beta1\",\"kind\":\"Role\",\"spec\":{}}",
                "FILE:1: kind is \"Role\", not Policy",
            ),
            ("# a\n{\"users\":\"bob\"}", "FILE:2:8: unknown field `users`"),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let missing = Abac::read(Path::new("/nowhere/policy"), &EXAMPLE).unwrap_err();
        assert_eq!(missing.to_string(), "cannot read /nowhere/policy");
    }
}
