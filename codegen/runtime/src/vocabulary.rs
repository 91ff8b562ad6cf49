//! The product words, as data.
//!
//! The same binary speaks as `orch` or as `kubernetes`: every identifier that holds the product's word is a
//! field here, filled from `schema/vocabulary.yaml`. Schema files are written in the `orch` spelling; nothing
//! else in the code spells such a word.

use std::borrow::Cow;

/// The group suffix in which schema files are written.
pub const SCHEMA_SUFFIX: &str = "orch.io";

/// One set of product words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// What `--vocabulary` and the database call it.
    pub name: &'static str,
    /// Suffix of API groups: `coordination.<group_suffix>`.
    pub group_suffix: &'static str,
    /// Prefix of bare label, annotation and finalizer keys: `<label_domain>/metadata.name`.
    pub label_domain: &'static str,
    /// Media type of the protobuf form.
    pub protobuf_media_type: &'static str,
    /// Namespace of the system's own objects.
    pub namespace_system: &'static str,
    /// Namespace that everyone may read.
    pub namespace_public: &'static str,
    /// Namespace of node heartbeats.
    pub namespace_node_lease: &'static str,
    /// The entry of `spec.finalizers` that keeps a namespace until its content is gone.
    pub namespace_finalizer: &'static str,
    /// Name of the config map in each namespace that holds the authorities of the server's certificate.
    pub root_ca_config_map: &'static str,
    /// What the names of volumes begin with that give pods a token of their service account.
    pub api_access_volume: &'static str,
    /// `type` of a secret that holds a bootstrap token.
    pub bootstrap_token_secret_type: &'static str,
    /// Annotation of the bookmark that ends the initial events of a watch.
    pub initial_events_end_annotation: &'static str,
    /// Response header: the flow schema that a request matched.
    pub flow_schema_header: &'static str,
    /// Response header: the priority level that a request ran at.
    pub priority_level_header: &'static str,
    /// Environment variable through which client plugins learn about the server.
    pub exec_info_variable: &'static str,
}

/// Made-up words, for tests and examples. No product uses them.
pub const EXAMPLE: Vocabulary = Vocabulary {
    name: "example",
    group_suffix: "example.io",
    label_domain: "example.com",
    protobuf_media_type: "application/vnd.example",
    namespace_system: "example-system",
    namespace_public: "example-public",
    namespace_node_lease: "example-node-lease",
    namespace_finalizer: "example",
    root_ca_config_map: "example-root-ca.crt",
    api_access_volume: "example-api-access",
    bootstrap_token_secret_type: "example.com/token",
    initial_events_end_annotation: "example.com/initial-events-end",
    flow_schema_header: "x-example-flow-schema",
    priority_level_header: "x-example-priority-level",
    exec_info_variable: "EXAMPLE_EXEC_INFO",
};

impl Vocabulary {
    /// No words, for rules that compare values with none.
    pub const EMPTY: Vocabulary = Vocabulary {
        name: "",
        group_suffix: "",
        label_domain: "",
        protobuf_media_type: "",
        namespace_system: "",
        namespace_public: "",
        namespace_node_lease: "",
        namespace_finalizer: "",
        root_ca_config_map: "",
        api_access_volume: "",
        bootstrap_token_secret_type: "",
        initial_events_end_annotation: "",
        flow_schema_header: "",
        priority_level_header: "",
        exec_info_variable: "",
    };

    /// The group's name in this vocabulary, from its schema spelling. Groups outside the product's domain
    /// keep their names.
    pub fn group<'g>(&self, schema_group: &'g str) -> Cow<'g, str> {
        if self.group_suffix == SCHEMA_SUFFIX {
            return Cow::Borrowed(schema_group);
        }
        match schema_group.strip_suffix(SCHEMA_SUFFIX) {
            Some(stem) if stem.ends_with('.') => Cow::Owned(format!("{stem}{}", self.group_suffix)),
            _ => Cow::Borrowed(schema_group),
        }
    }

    /// `apiVersion` of a group and version in schema spelling: `v1`, `coordination.k8s.io/v1`.
    pub fn api_version(&self, schema_group: &str, version: &str) -> String {
        if schema_group.is_empty() {
            version.to_owned()
        } else {
            format!("{}/{version}", self.group(schema_group))
        }
    }

    /// Label or annotation key of the product: `orch.io/metadata.name`.
    pub fn label(&self, name: &str) -> String {
        format!("{}/{name}", self.label_domain)
    }

    /// A text with the words of the schema, such as a file of objects, in this vocabulary: its groups, its
    /// label keys and its namespaces.
    pub fn translate(&self, schema_text: &str) -> String {
        let [system, public, node_lease] = ["system", "public", "node-lease"].map(|name| {
            let (product, _) = SCHEMA_SUFFIX.split_once('.').unwrap_or_default();
            format!("{product}-{name}")
        });
        schema_text
            .replace(&format!(".{SCHEMA_SUFFIX}"), &format!(".{}", self.group_suffix))
            .replace(&format!("{SCHEMA_SUFFIX}/"), &format!("{}/", self.label_domain))
            .replace(&system, self.namespace_system)
            .replace(&public, self.namespace_public)
            .replace(&node_lease, self.namespace_node_lease)
    }

    /// The group that metadata-only forms, tables and option errors belong to: `meta.k8s.io`.
    pub fn meta_group(&self) -> String {
        format!("meta.{}", self.group_suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::EXAMPLE;

    #[test]
    fn only_groups_of_the_domain_change() {
        assert_eq!(EXAMPLE.group("coordination.orch.io"), "coordination.example.io");
        assert_eq!(EXAMPLE.group("apps"), "apps");
        assert_eq!(EXAMPLE.group("myorch.io"), "myorch.io");
        assert_eq!(EXAMPLE.api_version("", "v1"), "v1");
        assert_eq!(EXAMPLE.api_version("coordination.orch.io", "v1"), "coordination.example.io/v1");
        assert_eq!(EXAMPLE.label("metadata.name"), "example.com/metadata.name");
    }

    #[test]
    fn texts_are_told_in_other_words() {
        for (schema, example) in [
            ("apiGroups: [storage.orch.io, apps]", "apiGroups: [storage.example.io, apps]"),
            ("system:certificates.orch.io:approver", "system:certificates.example.io:approver"),
            ("orch.io/kubelet-serving", "example.com/kubelet-serving"),
            ("orch-system orch-public orch-node-lease", "example-system example-public example-node-lease"),
        ] {
            assert_eq!(EXAMPLE.translate(schema), example);
        }
    }
}
