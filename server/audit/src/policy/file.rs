//! Policy files.
//!
//! ```yaml
//! apiVersion: audit.orch.io/v1
//! kind: Policy
//! omitStages: [RequestReceived]
//! rules:
//!   - level: Metadata
//!     resources:
//!       - group: ""
//!         resources: [secrets]
//! ```
//!
//! The `apiVersion` may be that of any vocabulary. In a file of another vocabulary than the server's, groups
//! are read as that one spells them. A file is right as a whole or refused: an error names a line and a
//! column, and what is wrong there.

use std::path::Path;

use orch_runtime::{constraint, vocabulary::Vocabulary};
use orch_settings::{Fault, Spanned, fault};
use serde::Deserialize;

use super::{GroupResources, Level, Policy, Rule, Stage, Stages};
use crate::error::AuditError;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: Spanned<String>,
    kind: Spanned<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "files have it, and it says nothing about requests")]
    metadata: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    omit_stages: Vec<Spanned<String>>,
    #[serde(default)]
    omit_managed_fields: Option<bool>,
    #[serde(default)]
    rules: Vec<Spanned<RuleEntry>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RuleEntry {
    level: Spanned<String>,
    #[serde(default)]
    users: Vec<String>,
    #[serde(default)]
    user_groups: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    resources: Vec<Spanned<ResourcesEntry>>,
    #[serde(default)]
    namespaces: Vec<String>,
    #[serde(default, rename = "nonResourceURLs")]
    non_resource_urls: Vec<Spanned<String>>,
    #[serde(default)]
    omit_stages: Vec<Spanned<String>>,
    omit_managed_fields: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResourcesEntry {
    #[serde(default)]
    group: Option<Spanned<String>>,
    #[serde(default)]
    resources: Vec<Spanned<String>>,
    #[serde(default)]
    resource_names: Vec<String>,
}

/// Reads a file for a server that speaks `own`. It may be written in any of the vocabularies.
///
/// # Errors
/// Where it cannot be read, or is not right.
pub fn read(
    path: &Path,
    own: &Vocabulary,
    vocabularies: &[&'static Vocabulary],
) -> Result<Policy, AuditError> {
    let text = orch_settings::read_text_once(path);
    let text = text.map_err(|source| AuditError::Read { path: path.to_owned(), source })?;
    parse(&text, own, vocabularies).map_err(|((line, column), problem)| AuditError::Policy {
        path: path.to_owned(),
        line,
        column,
        problem,
    })
}

fn parse(text: &str, own: &Vocabulary, vocabularies: &[&'static Vocabulary]) -> Result<Policy, Fault> {
    let file: File = orch_settings::parse(text)?;
    let is_of = |words: &&Vocabulary| file.api_version.value == api_version(words);
    let written = vocabularies
        .iter()
        .copied()
        .find(is_of)
        .ok_or_else(|| fault(&file.api_version, format!("apiVersion must be {:?}", api_version(own))))?;
    if file.kind.value != "Policy" {
        return Err(fault(&file.kind, "kind must be \"Policy\""));
    }
    if file.rules.is_empty() {
        return Err(((1, 1), "rules must not be empty: nothing would be recorded".to_owned()));
    }
    let group = |name: &str| match name.strip_suffix(written.group_suffix) {
        Some(stem) if stem.ends_with('.') => format!("{stem}{}", own.group_suffix),
        _ => name.to_owned(),
    };
    Ok(Policy {
        rules: file.rules.iter().map(|entry| rule(&entry.value, &group)).collect::<Result<_, Fault>>()?,
        omitted: stages(&file.omit_stages)?,
        omits_managed_fields: file.omit_managed_fields.unwrap_or_default(),
    })
}

fn api_version(vocabulary: &Vocabulary) -> String {
    format!("audit.{}/v1", vocabulary.group_suffix)
}

fn rule(entry: &RuleEntry, group: &impl Fn(&str) -> String) -> Result<Rule, Fault> {
    let level = Level::ALL.into_iter().find(|level| level.name() == entry.level.value);
    let level = level.ok_or_else(|| {
        fault(&entry.level, format!("level must be one of {}", all(Level::ALL, Level::name)))
    })?;
    if let Some(url) = entry.non_resource_urls.first()
        && !(entry.resources.is_empty() && entry.namespaces.is_empty())
    {
        return Err(fault(url, "a rule is about nonResourceURLs, or about resources and namespaces"));
    }
    for url in &entry.non_resource_urls {
        if url.value != "*" && !url.value.starts_with('/') {
            return Err(fault(url, "a non-resource URL begins with / or is *"));
        }
        if url.value.find('*').is_some_and(|star| star + 1 < url.value.len()) {
            return Err(fault(url, "the * of a non-resource URL is its last character"));
        }
    }
    let resources = entry.resources.iter().map(|entry| group_resources(entry, group));
    Ok(Rule {
        level,
        users: entry.users.clone(),
        user_groups: entry.user_groups.clone(),
        verbs: entry.verbs.clone(),
        resources: resources.collect::<Result<_, Fault>>()?,
        namespaces: entry.namespaces.clone(),
        non_resource_urls: entry.non_resource_urls.iter().map(|url| url.value.clone()).collect(),
        omitted: stages(&entry.omit_stages)?,
        omits_managed_fields: entry.omit_managed_fields,
    })
}

fn group_resources(
    entry: &Spanned<ResourcesEntry>,
    group: &impl Fn(&str) -> String,
) -> Result<GroupResources, Fault> {
    let ResourcesEntry { group: named, resources, resource_names } = &entry.value;
    if let Some(named) = named.as_ref().filter(|named| !named.value.is_empty())
        && let Some(problem) = constraint::dns_subdomain(&named.value).into_iter().next()
    {
        return Err(fault(named, format!("group {problem}")));
    }
    if resources.is_empty() && !resource_names.is_empty() {
        return Err(fault(entry, "resourceNames need resources"));
    }
    if let Some(empty) = resources.iter().find(|resource| resource.value.is_empty()) {
        return Err(fault(empty, "a resource must have a name"));
    }
    Ok(GroupResources {
        group: named.as_ref().map(|named| group(&named.value)).unwrap_or_default(),
        resources: resources.iter().map(|resource| resource.value.clone()).collect(),
        resource_names: resource_names.clone(),
    })
}

fn stages(names: &[Spanned<String>]) -> Result<Stages, Fault> {
    let stage = |name: &Spanned<String>| {
        let stage = Stage::ALL.into_iter().find(|stage| stage.name() == name.value);
        stage.ok_or_else(|| fault(name, format!("a stage must be one of {}", all(Stage::ALL, Stage::name))))
    };
    names.iter().map(stage).collect()
}

fn all<T>(items: impl IntoIterator<Item = T>, name: fn(T) -> &'static str) -> String {
    items.into_iter().map(|item| format!("{:?}", name(item))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use orch_meta::{KUBERNETES, ORCH, VOCABULARIES};

    use super::*;
    use crate::policy::{Attributes, ResourceTarget, Target, Verdict};

    const HEAD: &str = "apiVersion: audit.orch.io/v1\nkind: Policy\n";

    fn fault_of(text: &str) -> String {
        let ((line, column), problem) = parse(text, &ORCH, VOCABULARIES).unwrap_err();
        format!("{line}:{column}: {problem}")
    }

    fn judged(policy: &Policy, group: &str, resource: &str) -> Verdict {
        let target = ResourceTarget { group, version: "v1", resource, ..ResourceTarget::default() };
        policy.judge(&Attributes { user: None, verb: "get", target: Target::Resource(target) })
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let text = format!(
            "{HEAD}omitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n\
             - {{level: None, resources: [{{group: '', resources: [events]}}]}}\n\
             - {{level: Metadata, resources: [{{resources: [secrets]}}], omitStages: [Panic], \
             omitManagedFields: false}}\n\
             - {{level: RequestResponse, resources: [{{group: ''}}]}}\n"
        );
        let policy = parse(&text, &ORCH, VOCABULARIES).unwrap();
        let all: Stages = [Stage::RequestReceived].into_iter().collect();
        let both: Stages = [Stage::RequestReceived, Stage::Panic].into_iter().collect();
        let verdict = |level, omitted, omits_managed_fields| Verdict { level, omitted, omits_managed_fields };
        assert_eq!(judged(&policy, "", "events"), verdict(Level::None, all, true));
        assert_eq!(judged(&policy, "", "secrets"), verdict(Level::Metadata, both, false));
        assert_eq!(judged(&policy, "", "pods"), verdict(Level::RequestResponse, all, true));
        assert_eq!(judged(&policy, "apps", "daemonsets"), verdict(Level::None, all, true));
    }

    #[test]
    fn null_says_nothing_of_managed_fields() {
        let text = format!(
            "{HEAD}omitManagedFields: null\nrules:\n- {{level: Metadata, omitManagedFields: null}}\n"
        );
        let policy = parse(&text, &ORCH, VOCABULARIES).unwrap();
        assert!(!judged(&policy, "", "pods").omits_managed_fields);
    }

    #[test]
    fn a_file_of_another_vocabulary_names_groups_in_its_own_way() {
        let text = "apiVersion: audit.k8s.io/v1\nkind: Policy\nmetadata: {name: p}\nrules:\n\
                    - {level: Request, resources: [{group: rbac.authorization.k8s.io}]}\n";
        for (own, group) in
            [(&ORCH, "rbac.authorization.orch.io"), (&KUBERNETES, "rbac.authorization.k8s.io")]
        {
            let policy = parse(text, own, VOCABULARIES).unwrap();
            assert_eq!(judged(&policy, group, "roles").level, Level::Request, "{group}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, expected) in [
            ("apiVersion: v1\nkind: Policy\n", "1:13: apiVersion must be \"audit.orch.io/v1\""),
            ("apiVersion: audit.orch.io/v1\nkind: Pod\n", "2:7: kind must be \"Policy\""),
            (HEAD, "1:1: rules must not be empty: nothing would be recorded"),
        ] {
            assert_eq!(fault_of(text), expected);
        }
        for (rule, expected) in [
            (
                "level: All",
                "4:10: level must be one of \"None\", \"Metadata\", \"Request\", \"RequestResponse\"",
            ),
            (
                "level: None\n  omitStages: [Started]",
                "5:16: a stage must be one of \"RequestReceived\", \"ResponseStarted\", \
                 \"ResponseComplete\", \"Panic\"",
            ),
            (
                "level: None\n  nonResourceURLs: [/a]\n  namespaces: [b]",
                "5:21: a rule is about nonResourceURLs, or about resources and namespaces",
            ),
            ("level: None\n  nonResourceURLs: [a]", "5:21: a non-resource URL begins with / or is *"),
            (
                "level: None\n  nonResourceURLs: ['/a*b']",
                "5:21: the * of a non-resource URL is its last character",
            ),
            ("level: None\n  resources: [{resourceNames: [a]}]", "5:15: resourceNames need resources"),
        ] {
            assert_eq!(fault_of(&format!("{HEAD}rules:\n- {rule}\n")), expected, "{rule}");
        }
        let unknown = fault_of(&format!("{HEAD}rules:\n- level: None\n  user: [bob]\n"));
        assert!(unknown.starts_with("5:3: ") && unknown.contains("user"), "{unknown}");
        let missing = fault_of(&format!("{HEAD}rules:\n- users: [bob]\n"));
        assert!(missing.starts_with("4:") && missing.contains("level"), "{missing}");
    }
}
