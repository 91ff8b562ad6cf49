//! The product words, which expressions and `vocabulary.yaml` name.

/// Declares the words as the fields of the runtime's `Vocabulary`, which a test holds against the struct.
macro_rules! words {
    ($($name:literal => $word:ident,)*) => {
        /// Each word as it is written, and the field of the runtime's `Vocabulary`.
        pub const WORDS: &[(&str, &str)] = &[$(($name, stringify!($word))),*];

        #[cfg(test)]
        const _: fn(orch_runtime::vocabulary::Vocabulary) = |vocabulary| {
            let orch_runtime::vocabulary::Vocabulary { name: _, $($word: _),* } = vocabulary;
        };
    };
}
words! {
    "groupSuffix" => group_suffix,
    "labelDomain" => label_domain,
    "protobufMediaType" => protobuf_media_type,
    "namespaceSystem" => namespace_system,
    "namespacePublic" => namespace_public,
    "namespaceNodeLease" => namespace_node_lease,
    "namespaceFinalizer" => namespace_finalizer,
    "rootCaConfigMap" => root_ca_config_map,
    "apiAccessVolume" => api_access_volume,
    "bootstrapTokenSecretType" => bootstrap_token_secret_type,
    "initialEventsEndAnnotation" => initial_events_end_annotation,
    "flowSchemaHeader" => flow_schema_header,
    "priorityLevelHeader" => priority_level_header,
    "execInfoVariable" => exec_info_variable,
}
