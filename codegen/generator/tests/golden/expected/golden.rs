/// The group `autoscaling`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod autoscaling {
    /// Version `v1`.
    pub mod v1 {
        include!("autoscaling/v1.rs");
    }
}

/// The group `checks.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod checks {
    /// Version `v1`.
    pub mod v1 {
        include!("checks/v1.rs");
    }
}

/// The group `defaults.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod defaults_ {
    /// Version `v1`.
    pub mod v1 {
        include!("defaults_/v1.rs");
    }
}

/// The group `expressions.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod expressions {
    /// Version `v1`.
    pub mod v1 {
        include!("expressions/v1.rs");
    }
}

/// The group `kinds.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod kinds {
    /// Version `v1`.
    pub mod v1 {
        include!("kinds/v1.rs");
    }

    /// Version `v2beta1`.
    pub mod v2beta1 {
        include!("kinds/v2beta1.rs");
    }
}

/// The group `meta`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod meta {
    /// Version `v1`.
    pub mod v1 {
        include!("meta/v1.rs");
    }
}

/// The group `presence.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod presence {
    /// Version `v1`.
    pub mod v1 {
        include!("presence/v1.rs");
    }
}

/// The group `rules.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod rules {
    /// Version `v1`.
    pub mod v1 {
        include!("rules/v1.rs");
    }
}

/// The group `shapes.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod shapes {
    /// Version `v1`.
    pub mod v1 {
        include!("shapes/v1.rs");
    }
}

/// The group `updates.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod updates {
    /// Version `v1`.
    pub mod v1 {
        include!("updates/v1.rs");
    }
}

/// The group `versions.example.io`.
#[allow(clippy::pedantic, clippy::complexity, clippy::perf, clippy::style)]
pub mod versions {
    /// Version `v1`.
    pub mod v1 {
        include!("versions/v1.rs");
    }

    /// Version `v1alpha1`.
    pub mod v1alpha1 {
        include!("versions/v1alpha1.rs");
    }

    /// Version `v1beta1`.
    pub mod v1beta1 {
        include!("versions/v1beta1.rs");
    }
}

/// Every group and version of this crate, with its kinds and published schemas.
pub fn registry() -> &'static [&'static orch_runtime::resource_def::GroupVersionDef] {
    static GROUP_VERSIONS: &[&orch_runtime::resource_def::GroupVersionDef] = &[
        &autoscaling::v1::GROUP_VERSION,
        &checks::v1::GROUP_VERSION,
        &defaults_::v1::GROUP_VERSION,
        &expressions::v1::GROUP_VERSION,
        &kinds::v1::GROUP_VERSION,
        &kinds::v2beta1::GROUP_VERSION,
        &meta::v1::GROUP_VERSION,
        &presence::v1::GROUP_VERSION,
        &rules::v1::GROUP_VERSION,
        &shapes::v1::GROUP_VERSION,
        &updates::v1::GROUP_VERSION,
        &versions::v1::GROUP_VERSION,
        &versions::v1alpha1::GROUP_VERSION,
        &versions::v1beta1::GROUP_VERSION,
    ];
    GROUP_VERSIONS
}

/// The words of `orch`.
pub static ORCH: orch_runtime::vocabulary::Vocabulary = orch_runtime::vocabulary::Vocabulary {
    name: "orch",
    api_access_volume: "orch-api-access",
    bootstrap_token_secret_type: "bootstrap.orch.io/token",
    exec_info_variable: "ORCH_EXEC_INFO",
    flow_schema_header: "X-Orch-PF-FlowSchema-UID",
    group_suffix: "orch.io",
    initial_events_end_annotation: "orch.io/initial-events-end",
    label_domain: "orch.io",
    namespace_finalizer: "orch",
    namespace_node_lease: "orch-node-lease",
    namespace_public: "orch-public",
    namespace_system: "orch-system",
    priority_level_header: "X-Orch-PF-PriorityLevel-UID",
    protobuf_media_type: "application/vnd.orch.protobuf",
    root_ca_config_map: "orch-root-ca.crt",
};

/// The words of `kubernetes`.
pub static KUBERNETES: orch_runtime::vocabulary::Vocabulary = orch_runtime::vocabulary::Vocabulary {
    name: "kubernetes",
    api_access_volume: "kube-api-access",
    bootstrap_token_secret_type: "bootstrap.kubernetes.io/token",
    exec_info_variable: "KUBERNETES_EXEC_INFO",
    flow_schema_header: "X-Kubernetes-PF-FlowSchema-UID",
    group_suffix: "k8s.io",
    initial_events_end_annotation: "k8s.io/initial-events-end",
    label_domain: "kubernetes.io",
    namespace_finalizer: "kubernetes",
    namespace_node_lease: "kube-node-lease",
    namespace_public: "kube-public",
    namespace_system: "kube-system",
    priority_level_header: "X-Kubernetes-PF-PriorityLevel-UID",
    protobuf_media_type: "application/vnd.kubernetes.protobuf",
    root_ca_config_map: "kube-root-ca.crt",
};

/// Every set of product words that this crate knows; the first is the default.
pub static VOCABULARIES: &[&orch_runtime::vocabulary::Vocabulary] = &[
    &ORCH,
    &KUBERNETES,
];
