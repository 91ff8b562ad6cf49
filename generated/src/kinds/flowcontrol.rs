//! Priority and fairness: the specs of the objects that the server relies on.

use crate::flowcontrol::v1::{
    ExemptPriorityLevelConfiguration, FlowDistinguisherMethod, FlowSchema, FlowSchemaSpec, GroupSubject,
    LimitResponse, LimitedPriorityLevelConfiguration, NonResourcePolicyRule, PolicyRulesWithSubjects,
    PriorityLevelConfiguration, PriorityLevelConfigurationReference, PriorityLevelConfigurationSpec,
    ResourcePolicyRule, Subject,
};

impl PriorityLevelConfiguration {
    /// The spec that a priority level of this name must have, if the server relies on that level. The
    /// `exempt` member may differ.
    pub fn mandatory_spec(name: &str) -> Option<PriorityLevelConfigurationSpec> {
        match name {
            "exempt" => Some(PriorityLevelConfigurationSpec {
                type_: "Exempt".to_owned(),
                exempt: Some(ExemptPriorityLevelConfiguration {
                    nominal_concurrency_shares: Some(0),
                    lendable_percent: Some(0),
                }),
                ..Default::default()
            }),
            "catch-all" => Some(PriorityLevelConfigurationSpec {
                type_: "Limited".to_owned(),
                limited: Some(LimitedPriorityLevelConfiguration {
                    nominal_concurrency_shares: Some(5),
                    limit_response: LimitResponse { type_: "Reject".to_owned(), queuing: None },
                    lendable_percent: Some(0),
                    borrowing_limit_percent: None,
                }),
                ..Default::default()
            }),
            _ => None,
        }
    }
}

impl FlowSchema {
    /// The spec that a flow schema of this name must have, if the server relies on that flow schema.
    pub fn mandatory_spec(name: &str) -> Option<FlowSchemaSpec> {
        match name {
            "exempt" => Some(match_all(name, 1, &["system:masters"], None)),
            "catch-all" => {
                let everyone = ["system:unauthenticated", "system:authenticated"];
                Some(match_all(name, 10_000, &everyone, Some("ByUser")))
            }
            _ => None,
        }
    }
}

/// A flow schema that matches all requests of some groups, with the priority level of the same name.
fn match_all(name: &str, precedence: i32, groups: &[&str], method: Option<&str>) -> FlowSchemaSpec {
    let all = || vec!["*".to_owned()];
    let subject = |group: &&str| Subject {
        kind: "Group".to_owned(),
        group: Some(GroupSubject { name: (*group).to_owned() }),
        ..Default::default()
    };
    FlowSchemaSpec {
        priority_level_configuration: PriorityLevelConfigurationReference { name: name.to_owned() },
        matching_precedence: precedence,
        distinguisher_method: method.map(|method| FlowDistinguisherMethod { type_: method.to_owned() }),
        rules: vec![PolicyRulesWithSubjects {
            subjects: groups.iter().map(subject).collect(),
            resource_rules: vec![ResourcePolicyRule {
                verbs: all(),
                api_groups: all(),
                resources: all(),
                cluster_scope: true,
                namespaces: Some(all()),
            }],
            non_resource_rules: vec![NonResourcePolicyRule { verbs: all(), non_resource_urls: all() }],
        }],
    }
}
