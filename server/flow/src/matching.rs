//! Which flow schema a request belongs to: the first that matches, by precedence and then by name.
//!
//! Most users ask again and again, and whether the subjects of a schema match depends on the user alone. So
//! the schemas that may match are found once for a user ([`Schemas::of_user`]), and each request is held
//! against these few.

use crate::config::{Distinguisher, PathRule, ResourceRule, SchemaConfig, Subject, SubjectRules};

/// Stands for everything.
const ALL: &str = "*";
/// The schema of requests that no schema matches.
pub const CATCH_ALL: &str = "catch-all";

/// Flow schemas in the order in which they are asked.
#[derive(Debug, Default)]
pub struct Schemas {
    all: Vec<SchemaConfig>,
    /// The one of requests that none matches.
    catch_all: usize,
}

/// The flow schemas that may match requests of one user.
#[derive(Debug)]
pub struct Candidates(Box<[Candidate]>);

#[derive(Debug)]
struct Candidate {
    /// Its place in the order.
    schema: usize,
    /// Those of its rules whose subjects match.
    rules: Box<[usize]>,
}

/// The caller of a request.
#[derive(Clone, Copy, Debug)]
pub struct Who<'a> {
    /// The user's name.
    pub user: &'a str,
    /// The groups of the user.
    pub groups: &'a [String],
}

/// Verb and target of a request.
#[derive(Clone, Copy, Debug)]
pub struct What<'a> {
    /// `get`, `list`, ...; the method in lower case where it is no resource.
    pub verb: &'a str,
    /// The resource or the path.
    pub target: Target<'a>,
}

/// The resource or the path of a request.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A resource.
    Resource {
        /// `""` for the core group.
        group: &'a str,
        /// The plural name.
        resource: &'a str,
        /// `""` for none.
        subresource: &'a str,
        /// `""` for none.
        namespace: &'a str,
    },
    /// Another path.
    Path(&'a str),
}

/// The flow schema of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its place in the order.
    pub schema: usize,
    /// Its place among the candidates.
    pub candidate: usize,
}

impl Candidates {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none, as where there are no schemas.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Schemas {
    /// Puts schemas into their order. One of them is to be [`CATCH_ALL`]; the last takes its place.
    pub fn new(mut all: Vec<SchemaConfig>) -> Self {
        all.sort_by(|one, other| (one.precedence, &one.name).cmp(&(other.precedence, &other.name)));
        let catch_all = all.iter().position(|schema| schema.name == CATCH_ALL);
        let catch_all = catch_all.unwrap_or(all.len().saturating_sub(1));
        Schemas { all, catch_all }
    }

    /// All of them, in their order.
    pub fn all(&self) -> &[SchemaConfig] {
        &self.all
    }

    /// The schemas that may match requests of a user.
    pub fn of_user(&self, who: Who<'_>) -> Candidates {
        let candidate = |(place, schema): (usize, &SchemaConfig)| {
            let matches =
                |rules: &SubjectRules| rules.subjects.iter().any(|subject| matches_subject(subject, who));
            let rules = schema.rules.iter().enumerate().filter(|(_, rules)| matches(rules));
            let rules: Box<[usize]> = rules.map(|(index, _)| index).collect();
            let is_wanted = !rules.is_empty() || place == self.catch_all;
            is_wanted.then_some(Candidate { schema: place, rules })
        };
        Candidates(self.all.iter().enumerate().filter_map(candidate).collect())
    }

    /// The schema of a request of a user; `None` where there are no schemas.
    pub fn find(&self, candidates: &Candidates, what: What<'_>) -> Option<Found> {
        let matches = |(_, candidate): &(usize, &Candidate)| {
            let rules = &self.all[candidate.schema].rules;
            candidate.rules.iter().any(|index| matches_target(&rules[*index], what))
        };
        let all = || candidates.0.iter().enumerate();
        let (candidate, found) =
            all().find(matches).or_else(|| all().find(|(_, found)| found.schema == self.catch_all))?;
        Some(Found { schema: found.schema, candidate })
    }
}

/// What makes a request's flow different from others of its schema.
pub fn distinguisher<'a>(schema: &SchemaConfig, who: Who<'a>, what: What<'a>) -> &'a str {
    match (schema.distinguisher, what.target) {
        (Distinguisher::User, _) => who.user,
        (Distinguisher::Namespace, Target::Resource { namespace, .. }) => namespace,
        (Distinguisher::None | Distinguisher::Namespace, _) => "",
    }
}

fn matches_subject(subject: &Subject, who: Who<'_>) -> bool {
    match subject {
        Subject::User(name) => name == ALL || name == who.user,
        Subject::Group(name) => name == ALL || who.groups.contains(name),
        Subject::ServiceAccount { namespace, name } => {
            let account =
                who.user.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
            account.is_some_and(|(of, account)| of == namespace && (name == ALL || name == account))
        }
    }
}

fn matches_target(rules: &SubjectRules, What { verb, target }: What<'_>) -> bool {
    match target {
        Target::Resource { .. } => rules.resources.iter().any(|rule| matches_resource(rule, verb, target)),
        Target::Path(path) => rules.paths.iter().any(|rule| matches_path(rule, verb, path)),
    }
}

fn matches_resource(rule: &ResourceRule, verb: &str, target: Target<'_>) -> bool {
    let Target::Resource { group, resource, subresource, namespace } = target else { return false };
    let names = |name: &String| match subresource {
        "" => name == resource,
        _ => name.split_once('/').is_some_and(|named| named == (resource, subresource)),
    };
    let in_namespace =
        if namespace.is_empty() { rule.cluster_scope } else { has(&rule.namespaces, namespace) };
    in_namespace
        && has(&rule.verbs, verb)
        && has(&rule.groups, group)
        && rule.resources.iter().any(|name| name == ALL || names(name))
}

fn matches_path(rule: &PathRule, verb: &str, path: &str) -> bool {
    let is_below = |above: &String| {
        let stem = above.strip_suffix('*').unwrap_or(above);
        let stem = stem.strip_suffix('/').unwrap_or(stem);
        path.strip_prefix(stem).is_some_and(|rest| rest.starts_with('/'))
    };
    has(&rule.verbs, verb) && rule.paths.iter().any(|above| above == ALL || above == path || is_below(above))
}

fn has(list: &[String], text: &str) -> bool {
    list.iter().any(|entry| entry == ALL || entry == text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dealing::flow_hash;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn group(name: &str) -> Subject {
        Subject::Group(name.to_owned())
    }

    fn everything() -> ResourceRule {
        let all = || texts(&["*"]);
        ResourceRule { verbs: all(), groups: all(), resources: all(), cluster_scope: true, namespaces: all() }
    }

    fn schema(
        name: &str,
        precedence: i32,
        subjects: Vec<Subject>,
        resources: Vec<ResourceRule>,
    ) -> SchemaConfig {
        let rules = vec![SubjectRules { subjects, resources, paths: Vec::new() }];
        let distinguisher = Distinguisher::User;
        SchemaConfig { name: name.to_owned(), level: "l".to_owned(), precedence, distinguisher, rules }
    }

    fn found<'s>(schemas: &'s Schemas, user: &str, groups: &[&str], what: What<'_>) -> &'s str {
        let groups = texts(groups);
        let candidates = schemas.of_user(Who { user, groups: &groups });
        &schemas.all()[schemas.find(&candidates, what).unwrap().schema].name
    }

    fn get<'a>(resource: &'a str, subresource: &'a str, namespace: &'a str) -> What<'a> {
        What { verb: "get", target: Target::Resource { group: "", resource, subresource, namespace } }
    }

    #[test]
    fn the_first_schema_that_matches_is_taken() {
        let pods =
            ResourceRule { resources: texts(&["pods", "pods/log"]), cluster_scope: false, ..everything() };
        let schemas = Schemas::new(vec![
            schema(CATCH_ALL, 10_000, vec![group("nobody")], vec![everything()]),
            schema("b", 500, vec![group("devs")], vec![everything()]),
            schema("a", 500, vec![group("ops")], vec![everything()]),
            schema("pods", 7, vec![group("devs"), Subject::User("eve".to_owned())], vec![pods]),
        ]);
        for (user, groups, what, expected) in [
            ("bob", &["devs", "ops"][..], get("pods", "", "n"), "pods"),
            ("bob", &["devs"], get("pods", "log", "n"), "pods"),
            ("bob", &["devs"], get("pods", "status", "n"), "b"),
            ("bob", &["devs"], get("pods", "", ""), "b"),
            ("bob", &["devs", "ops"], get("secrets", "", "n"), "a"),
            ("eve", &[], get("pods", "", "n"), "pods"),
            ("eve", &[], get("secrets", "", "n"), CATCH_ALL),
            ("bob", &["devs"], What { verb: "get", target: Target::Path("/version") }, CATCH_ALL),
        ] {
            assert_eq!(found(&schemas, user, groups, what), expected, "{user} {groups:?} {what:?}");
        }
    }

    #[test]
    fn subjects_are_users_groups_and_service_accounts() {
        let account = |namespace: &str, name: &str| Subject::ServiceAccount {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        for (subject, user, matches) in [
            (Subject::User("*".to_owned()), "bob", true),
            (Subject::User("bo".to_owned()), "bob", false),
            (group("*"), "bob", true),
            (account("n", "a"), "system:serviceaccount:n:a", true),
            (account("n", "*"), "system:serviceaccount:n:b", true),
            (account("n", "a"), "system:serviceaccount:n:b", false),
            (account("n", "*"), "system:serviceaccount:nn:b", false),
            (account("n", "*"), "n:b", false),
        ] {
            assert_eq!(matches_subject(&subject, Who { user, groups: &[] }), matches, "{subject:?} {user}");
        }
    }

    #[test]
    fn paths_stand_for_what_is_below_them() {
        for (above, path, matches) in [
            ("/healthz", "/healthz", true),
            ("/healthz", "/healthz/etcd", true),
            ("/healthz", "/healthzz", false),
            ("/healthz/*", "/healthz/etcd", true),
            ("/healthz/*", "/healthz", false),
            ("*", "/anything", true),
            ("/", "/", true),
        ] {
            let rule = PathRule { verbs: texts(&["get"]), paths: texts(&[above]) };
            assert_eq!(matches_path(&rule, "get", path), matches, "{above} {path}");
            assert!(!matches_path(&rule, "post", path));
        }
    }

    #[test]
    fn flows_differ_by_what_distinguishes_them() {
        for (method, user_matters, namespace_matters) in [
            (Distinguisher::None, false, false),
            (Distinguisher::User, true, false),
            (Distinguisher::Namespace, false, true),
        ] {
            let schema = schema("s", 5, vec![group("*")], vec![everything()]);
            let schemas = Schemas::new(vec![SchemaConfig { distinguisher: method, ..schema }]);
            let hash = |user: &str, namespace: &str| {
                let (who, what) = (Who { user, groups: &[] }, get("pods", "", namespace));
                let found = schemas.find(&schemas.of_user(who), what).unwrap();
                let schema = &schemas.all()[found.schema];
                flow_hash(&schema.name, distinguisher(schema, who, what))
            };
            assert_eq!(hash("a", "n"), hash("a", "n"));
            assert_eq!(hash("a", "n") != hash("b", "n"), user_matters, "{method:?}");
            assert_eq!(hash("a", "n") != hash("a", "m"), namespace_matters, "{method:?}");
        }
        assert_eq!(Schemas::default().find(&Candidates(Box::default()), get("pods", "", "")), None);
    }
}
