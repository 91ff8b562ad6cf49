//! `SubjectAccessReview`: what is sent to a webhook, and what it answers.

use orch_runtime::vocabulary::Vocabulary;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::authorizer::{Attributes, Decision, Target, selector::Requirement};

/// The versions of the review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `v1`
    V1,
    /// `v1beta1`, which calls the groups of the user `group`
    V1Beta1,
}

impl Version {
    /// All versions.
    pub const ALL: [Self; 2] = [Self::V1, Self::V1Beta1];

    /// As in `apiVersion`.
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1Beta1 => "v1beta1",
        }
    }

    /// The `apiVersion` of reviews.
    pub fn api_version(self, vocabulary: &Vocabulary) -> String {
        format!("authorization.{}/{}", vocabulary.group_suffix, self.name())
    }
}

/// What a webhook decided.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Status {
    #[serde(default)]
    pub(super) allowed: bool,
    #[serde(default)]
    pub(super) denied: bool,
    #[serde(default)]
    pub(super) reason: String,
}

impl Status {
    /// Who both allows and denies is taken to deny.
    pub(super) fn decision(self) -> Decision {
        let reason = self.reason.into();
        match (self.denied, self.allowed) {
            (true, _) => Decision::Deny { reason },
            (false, true) => Decision::Allow { reason },
            (false, false) => Decision::NoOpinion { reason },
        }
    }
}

/// The body of a request.
pub(super) fn request(api_version: &str, spec: &Value) -> Vec<u8> {
    let review = json!({
        "apiVersion": api_version,
        "kind": "SubjectAccessReview",
        "metadata": {"creationTimestamp": null},
        "spec": spec,
        "status": {"allowed": false},
    });
    review.to_string().into_bytes()
}

/// The status of an answer. Where it says of which kind and version it is, it must be the one that was asked.
pub(super) fn status(api_version: &str, answer: &[u8]) -> Result<Status, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Review {
        api_version: Option<String>,
        kind: Option<String>,
        status: Status,
    }
    match serde_json::from_slice::<Review>(answer) {
        Ok(review)
            if review.kind.as_deref().is_none_or(|kind| kind == "SubjectAccessReview")
                && review.api_version.as_deref().is_none_or(|version| version == api_version) =>
        {
            Ok(review.status)
        }
        Ok(_) => Err("the answer is of another kind or version".to_owned()),
        // The message of the parser could quote the answer.
        Err(error) => {
            Err(format!("the answer is no review: line {}, column {}", error.line(), error.column()))
        }
    }
}

/// The part that says what is asked. Empty parts are left out.
pub(super) fn spec(attributes: &Attributes<'_>, version: Version) -> Value {
    let user = attributes.user;
    let mut spec = Map::new();
    match attributes.target {
        Target::Resource(target) => {
            let mut resource = texts(&[
                ("namespace", target.namespace),
                ("verb", attributes.verb),
                ("group", target.group),
                ("version", target.version),
                ("resource", target.resource),
                ("subresource", target.subresource),
                ("name", target.name),
            ]);
            for (name, requirements) in [("fieldSelector", target.fields), ("labelSelector", target.labels)] {
                if !requirements.is_empty() {
                    resource.insert(name.to_owned(), json!({"requirements": listed(requirements)}));
                }
            }
            spec.insert("resourceAttributes".to_owned(), Value::Object(resource));
        }
        Target::Path(path) => {
            let path = texts(&[("path", path), ("verb", attributes.verb)]);
            spec.insert("nonResourceAttributes".to_owned(), Value::Object(path));
        }
    }
    spec.extend(texts(&[("user", &user.name), ("uid", &user.uid)]));
    if !user.groups.is_empty() {
        let name = if version == Version::V1 { "groups" } else { "group" };
        spec.insert(name.to_owned(), json!(user.groups));
    }
    if !user.extra.is_empty() {
        spec.insert("extra".to_owned(), json!(user.extra));
    }
    Value::Object(spec)
}

/// The fields with a text that is not empty.
fn texts(fields: &[(&str, &str)]) -> Map<String, Value> {
    let fields = fields.iter().filter(|(_, text)| !text.is_empty());
    fields.map(|(name, text)| ((*name).to_owned(), Value::from(*text))).collect()
}

/// Requirements as they stand in a review.
pub(super) fn listed(requirements: &[Requirement]) -> Value {
    let listed = requirements.iter().map(|requirement| {
        let mut fields = Map::new();
        fields.insert("key".to_owned(), Value::from(requirement.key.as_str()));
        fields.insert("operator".to_owned(), Value::from(requirement.operator.name()));
        if !requirement.values.is_empty() {
            fields.insert("values".to_owned(), json!(requirement.values));
        }
        Value::Object(fields)
    });
    Value::Array(listed.collect())
}

/// How long the texts are together that the caller chose.
pub(super) fn text_length(attributes: &Attributes<'_>) -> usize {
    let target = match attributes.target {
        Target::Resource(target) => {
            let texts = [
                target.namespace,
                target.group,
                target.version,
                target.resource,
                target.subresource,
                target.name,
            ];
            let requirements = target.fields.iter().chain(target.labels).map(|requirement| {
                requirement.key.len() + requirement.values.iter().map(String::len).sum::<usize>()
            });
            texts.iter().map(|text| text.len()).sum::<usize>() + requirements.sum::<usize>()
        }
        Target::Path(path) => path.len(),
    };
    attributes.verb.len() + target
}
