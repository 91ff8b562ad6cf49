//! A rule of a policy, and which requests it matches.

use orch_runtime::same_text::same_text;

use super::{Attributes, Level, ResourceTarget, Stages, Target};

/// A rule. Lists that are empty match everything. A rule with namespaces or resources never matches a path,
/// and one with URLs never matches a resource.
#[derive(Clone, Debug)]
pub struct Rule {
    /// How much is recorded.
    pub level: Level,
    /// Names of callers.
    pub users: Vec<String>,
    /// Groups, of which a caller must be in one.
    pub user_groups: Vec<String>,
    /// Verbs, exactly.
    pub verbs: Vec<String>,
    /// Kinds.
    pub resources: Vec<GroupResources>,
    /// Namespaces; the empty one stands for what is in none.
    pub namespaces: Vec<String>,
    /// Paths; a star at the end stands for any rest.
    pub non_resource_urls: Vec<String>,
    /// Stages at which nothing is recorded, besides those of the policy.
    pub omitted: Stages,
    /// Whether managed fields are left out; `None`: as the policy says.
    pub omits_managed_fields: Option<bool>,
}

/// Kinds of one group.
#[derive(Clone, Debug)]
pub struct GroupResources {
    /// Exactly; empty for the core group.
    pub group: String,
    /// `pods`, `pods/log`, `pods/*` (with all sub-resources), `*/scale`, `*`; all where it is empty.
    pub resources: Vec<String>,
    /// Names of objects; all where it is empty.
    pub resource_names: Vec<String>,
}

impl Rule {
    /// Whether the rule is about the request.
    pub(super) fn matches(&self, request: &Attributes<'_>) -> bool {
        self.matches_user(request)
            && (self.verbs.is_empty() || has(&self.verbs, request.verb))
            && match request.target {
                Target::Resource(target) => self.matches_resource(&target),
                Target::Path(path) => self.matches_path(path),
            }
    }

    fn matches_user(&self, request: &Attributes<'_>) -> bool {
        if self.users.is_empty() && self.user_groups.is_empty() {
            return true;
        }
        let Some((name, groups)) = request.user else { return false };
        (self.users.is_empty() || has(&self.users, name))
            && (self.user_groups.is_empty() || groups.iter().any(|group| has(&self.user_groups, group)))
    }

    fn matches_path(&self, path: &str) -> bool {
        let is_about_resources = !self.namespaces.is_empty() || !self.resources.is_empty();
        let matches = |url: &String| match url.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => path == url,
        };
        !is_about_resources
            && (self.non_resource_urls.is_empty() || self.non_resource_urls.iter().any(matches))
    }

    fn matches_resource(&self, target: &ResourceTarget<'_>) -> bool {
        self.non_resource_urls.is_empty()
            && (self.namespaces.is_empty() || has(&self.namespaces, target.namespace))
            && (self.resources.is_empty() || self.resources.iter().any(|of| of.contains(target)))
    }
}

impl GroupResources {
    fn contains(&self, target: &ResourceTarget<'_>) -> bool {
        same_text(&self.group, target.group)
            && (self.resources.is_empty() || self.resources.iter().any(|of| is_named(of, target)))
            && (self.resource_names.is_empty() || has(&self.resource_names, target.name))
    }
}

/// Whether a text such as `pods`, `pods/log`, `pods/*` or `*/log` names the resource.
fn is_named(text: &str, target: &ResourceTarget<'_>) -> bool {
    match text.split_once('/') {
        None => text == "*" || (text == target.resource && target.subresource.is_empty()),
        Some((resource, "*")) => resource == target.resource,
        Some(("*", subresource)) => !subresource.is_empty() && subresource == target.subresource,
        Some((resource, subresource)) => resource == target.resource && subresource == target.subresource,
    }
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|item| same_text(item, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> Rule {
        Rule {
            level: Level::Metadata,
            users: Vec::new(),
            user_groups: Vec::new(),
            verbs: Vec::new(),
            resources: Vec::new(),
            namespaces: Vec::new(),
            non_resource_urls: Vec::new(),
            omitted: Stages::default(),
            omits_managed_fields: None,
        }
    }

    fn list(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    /// `resource`, `resource/name`, `resource//subresource`.
    fn pods<'a>(namespace: &'a str, name: &'a str, subresource: &'a str) -> Target<'a> {
        Target::Resource(ResourceTarget {
            version: "v1",
            resource: "pods",
            namespace,
            name,
            subresource,
            ..ResourceTarget::default()
        })
    }

    fn matches(rule: &Rule, target: Target<'_>) -> bool {
        rule.matches(&Attributes { user: None, verb: "get", target })
    }

    #[test]
    fn callers_and_verbs() {
        let groups = list(&["devs", "all"]);
        let by = |rule: &Rule, user, verb| {
            rule.matches(&Attributes { user, verb, target: Target::Path("/version") })
        };
        let bob = Some(("bob", groups.as_slice()));
        let cases = [
            (rule(), bob, true),
            (rule(), None, true),
            (Rule { users: list(&["ann", "bob"]), ..rule() }, bob, true),
            (Rule { users: list(&["ann"]), ..rule() }, bob, false),
            (Rule { users: list(&["bob"]), ..rule() }, None, false),
            (Rule { user_groups: list(&["ops", "devs"]), ..rule() }, bob, true),
            (Rule { user_groups: list(&["ops"]), ..rule() }, bob, false),
            (Rule { user_groups: list(&["devs"]), ..rule() }, None, false),
            (Rule { users: list(&["ann"]), user_groups: list(&["devs"]), ..rule() }, bob, false),
            (Rule { verbs: list(&["get", "list"]), ..rule() }, bob, true),
            (Rule { verbs: list(&["*"]), ..rule() }, bob, false),
        ];
        for (rule, user, expected) in cases {
            assert_eq!(by(&rule, user, "get"), expected, "{rule:?} {user:?}");
        }
    }

    #[test]
    fn resources_by_all_their_forms() {
        let of = |resources: &[&str], names: &[&str]| Rule {
            resources: vec![GroupResources {
                group: String::new(),
                resources: list(resources),
                resource_names: list(names),
            }],
            ..rule()
        };
        // Without a sub-resource, and with the sub-resource `log`.
        for (resources, names, plain, log) in [
            (&[][..], &[][..], true, true),
            (&["pods"], &[], true, false),
            (&["pods/log"], &[], false, true),
            (&["pods/status"], &[], false, false),
            (&["pods/*"], &[], true, true),
            (&["*/log"], &[], false, true),
            (&["*"], &[], true, true),
            (&["*/"], &[], false, false),
            (&["secrets", "pods"], &[], true, false),
            (&["pods"], &["a"], true, false),
            (&["pods/*"], &["a"], true, true),
            (&["pods"], &["b"], false, false),
        ] {
            let rule = of(resources, names);
            assert_eq!(matches(&rule, pods("n", "a", "")), plain, "{resources:?} {names:?}");
            assert_eq!(matches(&rule, pods("n", "a", "log")), log, "{resources:?} {names:?} log");
            assert!(!matches(&rule, Target::Path("/pods")), "{resources:?}");
        }
        let mut other = of(&["pods"], &[]);
        other.resources[0].group = "apps".to_owned();
        assert!(!matches(&other, pods("n", "a", "")));
    }

    #[test]
    fn namespaces_and_paths() {
        let inside = Rule { namespaces: list(&["n", "m"]), ..rule() };
        let none = Rule { namespaces: list(&[""]), ..rule() };
        for (namespace, is_inside) in [("n", true), ("x", false), ("", false)] {
            assert_eq!(matches(&inside, pods(namespace, "a", "")), is_inside, "{namespace}");
            assert_eq!(matches(&none, pods(namespace, "a", "")), namespace.is_empty(), "{namespace}");
        }
        assert!(!matches(&inside, Target::Path("/n")) && !matches(&none, Target::Path("/")));
        for (url, path, expected) in [
            ("/healthz", "/healthz", true),
            ("/healthz", "/healthz/ping", false),
            ("/healthz*", "/healthz/ping", true),
            ("/api*", "/apis", true),
            ("*", "/anything", true),
        ] {
            let rule = Rule { non_resource_urls: list(&[url]), ..rule() };
            assert_eq!(matches(&rule, Target::Path(path)), expected, "{url} {path}");
            assert!(!matches(&rule, pods("n", "a", "")), "{url}");
        }
    }
}
