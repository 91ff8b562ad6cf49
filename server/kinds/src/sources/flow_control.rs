//! Priority levels and flow schemas, for priority and fairness.

use std::{collections::BTreeMap, sync::Arc};

use orch_api::flowcontrol::v1::{
    self as api, FlowSchema, FlowSchemaSpec, PriorityLevelConfiguration, PriorityLevelConfigurationSpec,
};
use orch_flow::config::{
    Configuration, Configured, Distinguisher, Level, LevelKind, PathRule, Queuing, ResourceRule,
    SchemaConfig, Source, Subject, SubjectRules,
};
use orch_registry::{catalog::ServedResource, objects::Objects, stored};
use orch_runtime::object::{Kind, typed_from_tree};
use orch_storage::{Following, Object, Snapshot};

/// The names of the objects without which no request has a place.
const MANDATORY: [&str; 2] = ["exempt", "catch-all"];

/// The priority levels and flow schemas of a server, as they are stored.
pub struct FlowControl {
    levels: Option<Arc<ServedResource>>,
    schemas: Option<Arc<ServedResource>>,
    objects: Objects,
    following: Following,
}

impl FlowControl {
    /// Those that are stored from now on.
    pub fn new(objects: &Objects) -> Self {
        let served = |def| objects.catalog().served(def).cloned();
        let levels = served(PriorityLevelConfiguration::RESOURCE);
        let schemas = served(FlowSchema::RESOURCE);
        let names = [&levels, &schemas].into_iter().flatten();
        let names = names.map(|resource| resource.storage_name.clone()).collect();
        let (following, _) = Following::begin(objects.storage(), names);
        FlowControl { levels, schemas, objects: objects.clone(), following }
    }

    /// The objects of a kind; those that cannot be read are left out.
    fn all<T: Kind>(&self, resource: Option<&Arc<ServedResource>>) -> Vec<T> {
        let Some(resource) = resource else { return Vec::new() };
        let snapshot: Snapshot = self.objects.snapshot(resource);
        snapshot.iter().filter_map(|object| typed(resource, object)).collect()
    }
}

impl Source for FlowControl {
    fn has_news(&self) -> bool {
        self.following.has_news()
    }

    fn read(&self) -> Configuration {
        // What comes from here on is news again.
        drop(self.following.news());
        let mut levels = BTreeMap::new();
        let mut schemas = Vec::new();
        for name in MANDATORY {
            if let Some(spec) = PriorityLevelConfiguration::mandatory_spec(name) {
                levels.insert(name.to_owned(), configured(level(name, &spec), ""));
            }
        }
        for found in self.all::<PriorityLevelConfiguration>(self.levels.as_ref()) {
            let name = &found.metadata.name;
            levels.insert(name.clone(), configured(level(name, &found.spec), &found.metadata.uid));
        }
        let stored = self.all::<FlowSchema>(self.schemas.as_ref());
        for name in MANDATORY {
            let is_stored = stored.iter().any(|found| found.metadata.name == name);
            if let Some(spec) = FlowSchema::mandatory_spec(name).filter(|_| !is_stored) {
                schemas.push(configured(schema(name, spec), ""));
            }
        }
        for found in stored {
            schemas.push(configured(schema(&found.metadata.name, found.spec), &found.metadata.uid));
        }
        schemas.retain(|schema| levels.contains_key(&schema.object.level));
        Configuration { levels: levels.into_values().collect(), schemas }
    }
}

fn typed<T: Kind>(resource: &ServedResource, object: &Object) -> Option<T> {
    let read = typed_from_tree(stored::tree_of(resource, object).ok()?);
    if let Err(error) = &read {
        tracing::warn!(key = %object.key(), %error, "it cannot be read and matches nothing");
    }
    read.ok()
}

fn configured<T>(object: T, uid: &str) -> Configured<T> {
    Configured { object, uid: uid.to_owned() }
}

/// The rules of the kind keep numbers from being negative.
fn number(number: i32) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

fn level(name: &str, spec: &PriorityLevelConfigurationSpec) -> Level {
    let name = name.to_owned();
    let count = |value: Option<i32>| value.map(number).unwrap_or_default();
    let Some(limited) = &spec.limited else {
        let exempt = spec.exempt.clone().unwrap_or_default();
        let (shares, lendable) = (exempt.nominal_concurrency_shares, exempt.lendable_percent);
        let kind = LevelKind::Exempt;
        return Level { name, shares: count(shares), lendable_percent: count(lendable), kind };
    };
    let queuing = limited.limit_response.queuing.as_ref().map(|queuing| Queuing {
        queues: number(queuing.queues),
        hand_size: number(queuing.hand_size),
        length_limit: number(queuing.queue_length_limit),
    });
    let borrowing_percent = limited.borrowing_limit_percent.map(number);
    Level {
        name,
        shares: count(limited.nominal_concurrency_shares),
        lendable_percent: count(limited.lendable_percent),
        kind: LevelKind::Limited { borrowing_percent, queuing },
    }
}

fn schema(name: &str, spec: FlowSchemaSpec) -> SchemaConfig {
    let distinguisher = match spec.distinguisher_method.as_ref().map(|method| method.type_.as_str()) {
        Some("ByUser") => Distinguisher::User,
        Some("ByNamespace") => Distinguisher::Namespace,
        _ => Distinguisher::None,
    };
    SchemaConfig {
        name: name.to_owned(),
        level: spec.priority_level_configuration.name,
        precedence: spec.matching_precedence,
        distinguisher,
        rules: spec.rules.into_iter().map(rules).collect(),
    }
}

fn rules(rules: api::PolicyRulesWithSubjects) -> SubjectRules {
    let resource = |rule: api::ResourcePolicyRule| ResourceRule {
        verbs: rule.verbs,
        groups: rule.api_groups,
        resources: rule.resources,
        cluster_scope: rule.cluster_scope,
        namespaces: rule.namespaces.unwrap_or_default(),
    };
    let path =
        |rule: api::NonResourcePolicyRule| PathRule { verbs: rule.verbs, paths: rule.non_resource_urls };
    SubjectRules {
        subjects: rules.subjects.into_iter().filter_map(subject).collect(),
        resources: rules.resource_rules.into_iter().map(resource).collect(),
        paths: rules.non_resource_rules.into_iter().map(path).collect(),
    }
}

/// `None` for a kind that does not exist, which the rules keep out.
fn subject(subject: api::Subject) -> Option<Subject> {
    match subject.kind.as_str() {
        "User" => subject.user.map(|user| Subject::User(user.name)),
        "Group" => subject.group.map(|group| Subject::Group(group.name)),
        "ServiceAccount" => subject
            .service_account
            .map(|account| Subject::ServiceAccount { namespace: account.namespace, name: account.name }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use orch_registry::options::DeletionOptions;
    use serde_json::json;

    use super::*;
    use crate::testing::TestServer;

    #[tokio::test]
    async fn what_is_stored_is_in_force_and_what_is_relied_on_always() {
        let server = TestServer::start().await;
        let source = FlowControl::new(server.core.objects());
        let names = |configuration: &Configuration| {
            let levels = configuration.levels.iter().map(|level| level.object.name.clone());
            let schemas = configuration.schemas.iter().map(|schema| schema.object.name.clone());
            (levels.collect::<Vec<_>>(), schemas.collect::<Vec<_>>())
        };
        let mandatory =
            || (vec!["catch-all".to_owned(), "exempt".to_owned()], MANDATORY.map(str::to_owned).to_vec());
        assert_eq!(names(&source.read()), mandatory());
        assert!(!source.has_news());

        let subjects = json!([
            {"kind": "User", "user": {"name": "u"}},
            {"kind": "ServiceAccount", "serviceAccount": {"namespace": "n", "name": "*"}},
        ]);
        let resource =
            json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["n"]});
        let path = json!({"verbs": ["get"], "nonResourceURLs": ["/x"]});
        let rules = json!([
            {"subjects": subjects, "resourceRules": [resource], "nonResourceRules": [path]},
        ]);
        let spec = json!({
            "priorityLevelConfiguration": {"name": "l"}, "matchingPrecedence": 7, "rules": rules,
            "distinguisherMethod": {"type": "ByNamespace"},
        });
        let stored = server.create::<FlowSchema>("", json!({"metadata": {"name": "s"}, "spec": spec})).await;
        assert!(source.has_news());
        assert_eq!(names(&source.read()), mandatory(), "it has no level");

        let queuing = json!({"queues": 9, "handSize": 3, "queueLengthLimit": 5});
        let limited = json!({
            "nominalConcurrencyShares": 0, "borrowingLimitPercent": 50,
            "limitResponse": {"type": "Queue", "queuing": queuing},
        });
        let spec = json!({"type": "Limited", "limited": limited});
        let level = json!({"metadata": {"name": "l"}, "spec": spec});
        server.create::<PriorityLevelConfiguration>("", level).await.unwrap();
        let configuration = source.read();
        let expected = Level {
            name: "l".to_owned(),
            shares: 0,
            lendable_percent: 0,
            kind: LevelKind::Limited {
                borrowing_percent: Some(50),
                queuing: Some(Queuing { queues: 9, hand_size: 3, length_limit: 5 }),
            },
        };
        assert_eq!(configuration.levels.last().unwrap().object, expected);
        let texts = |text: &str| vec![text.to_owned()];
        let rules = SubjectRules {
            subjects: vec![
                Subject::User("u".to_owned()),
                Subject::ServiceAccount { namespace: "n".to_owned(), name: "*".to_owned() },
            ],
            resources: vec![ResourceRule {
                verbs: texts("get"),
                groups: texts(""),
                resources: texts("pods"),
                cluster_scope: false,
                namespaces: texts("n"),
            }],
            paths: vec![PathRule { verbs: texts("get"), paths: texts("/x") }],
        };
        let expected = SchemaConfig {
            name: "s".to_owned(),
            level: "l".to_owned(),
            precedence: 7,
            distinguisher: Distinguisher::Namespace,
            rules: vec![rules],
        };
        let found = configuration.schemas.last().unwrap();
        assert_eq!(found.object, expected);
        assert_eq!(found.uid, stored.unwrap()["metadata"]["uid"]);

        let levels = server.resource::<PriorityLevelConfiguration>();
        server.client.delete(levels, "", "l", DeletionOptions::default()).await.unwrap();
        assert!(source.has_news());
        assert_eq!(names(&source.read()), mandatory());
    }
}
