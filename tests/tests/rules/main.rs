//! The rules of every kind, tested over TLS on real sockets: each rule broken once, what may change,
//! defaults, and warnings.
//!
//! Each table is a test. The tests of all tables together need their results too; every table runs only once.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]
#![allow(clippy::too_many_lines, reason = "a table of rules is read from top to bottom")]

mod ask;
mod offline;
mod stated;

use std::collections::BTreeSet;

/// Names the tables, and makes a test of each.
macro_rules! tables {
    ($($kind:ident { $($table:ident)+ })+) => {
        $(mod $kind;)+

        mod tables {
            $(pub mod $kind {
                $(#[test]
                pub fn $table() {
                    static ASKED: std::sync::Once = std::sync::Once::new();
                    ASKED.call_once(crate::$kind::$table);
                })+
            })+
        }

        const TABLES: &[fn()] = &[$($(tables::$kind::$table),+),+];
    };
}

tables! {
    access_review {
        a_review_has_one_subject_and_one_question
        requirements_of_selectors_are_complete
        rules_are_asked_of_one_namespace
    }
    binding { the_target_is_a_node }
    conditions {
        of_profiles
        of_containers_and_names
        of_nodes_and_neighbours
        of_volumes
        of_services_and_leases
        of_flows
    }
    config_map { keys_and_sizes what_is_immutable_stays nothing_is_added }
    csidriver { defaults names rules updates }
    csinode { lists_that_are_not_given_are_null rules updates }
    daemon_set {
        rules
        what_may_change
        counts_are_not_negative
        conditions_have_a_type_and_a_status
        priorities_of_templates
        defaults_are_filled_in
        revisions_do_not_change
    }
    disruption_budget {
        numbers_are_always_written_and_nothing_is_lost
        amounts_are_numbers_or_parts_and_only_one_is_given
        what_is_observed
    }
    expressions {
        about_files_of_volumes
        about_parts_of_pods
        about_addresses_of_services
        about_storage_and_flows
    }
    event {
        times_are_always_written
        an_event_stands_in_the_namespace_of_its_object
        an_event_with_a_time_is_told_in_full
        events_of_the_newer_group_are_new
        only_the_series_of_a_newer_event_changes
    }
    flowcontrol {
        levels_have_defaults_and_an_explicit_zero_stays
        limits_fit_together
        conditions_are_named_once
        what_the_server_relies_on_stays_as_it_is
        flow_schemas_have_a_precedence
        rules_can_match
    }
    identity_review { questions_are_as_short_as_they_can_be }
    lease { numbers_and_strategies nothing_is_added_and_anything_may_change }
    metadata {
        names
        labels_and_annotations
        kinds_with_the_common_rules_alone
        finalizers_and_owners
        updates
        beginnings_of_names_in_updates
        a_path_for_the_status_takes_metadata_as_it_is
    }
    names { of_every_kind }
    namespace {
        finalizers_are_standard_or_qualified
        spec_and_status_are_always_written
        phases_are_known_and_anything_may_change
        the_phase_of_a_deleted_one_stays
    }
    node { what_is_always_written rules updates }
    persistentvolume { defaults rules sources updates }
    persistentvolumeclaim { defaults rules updates }
    causes {
        of_pods_name_their_fields
        of_annotations_are_told_of_pods_and_templates
        of_what_is_told_about_pods
        of_volumes_and_claims
        of_services
        of_daemon_sets_and_others
    }
    pod { containers resources probes volumes scheduling_and_security what_may_change defaults_are_filled_in }
    pod_containers { fields ephemeral_containers }
    pod_volumes { sources }
    pod_spec { fields }
    pod_parts {
        what_the_downward_api_exposes
        windows_options
        containers_on_the_host
        operating_systems
        resources_of_the_pod
        mounts_and_devices
        ports_of_the_host
        the_rest
        what_draws_warnings
    }
    priority_class {
        pods_push_others_aside_unless_the_class_says_otherwise
        high_values_and_reserved_names_are_the_systems_own
        value_and_policy_never_change
    }
    rbac {
        rules_are_about_resources_or_about_paths
        cluster_roles_may_reach_paths_and_collect_others
        bindings_name_a_role_and_complete_subjects
        cluster_bindings_refer_to_cluster_roles_and_say_where_service_accounts_live
        groups_are_filled_in_from_the_vocabulary
    }
    secret {
        each_known_type_has_its_keys
        data_has_a_limit
        type_and_immutable_data_stay
        a_type_is_added
        keys_are_those_of_files
    }
    service {
        defaults_follow_from_the_type ports types_and_addresses annotations_and_addresses_that_others_refuse
        what_a_balancer_tells what_does_not_change
    }
    service_account { anything_goes_and_stays_as_it_is tokens_live_neither_short_nor_long }
    storageclass { defaults rules errors_follow_the_order_of_the_reference updates capacities }
    storageversionmigration { rules updates }
    volumeattachment { defaults rules updates }
    warnings {
        pods_are_placed_by_labels
        containers_say_things_twice
        annotations_that_became_fields
        volumes_of_pods
        storage
        secrets_and_nodes
    }
}

/// Rules about services with two addresses, which the network of this server does not have. Services that
/// another server has written can have them; `orch-api` tests these rules.
const ABOUT_TWO_ADDRESSES: [&str; 2] = ["clusterIP", "ipFamily"];

/// Told at a field that other kinds have too, so its causes count as those of their rules. The table of
/// revisions breaks it.
const AT_A_COMMON_NAME: &str = "apps.v1.ControllerRevision.data fn revision_data";

/// Each rule that a schema file states, or leaves to a function, is broken by some table.
#[test]
fn every_stated_rule_is_broken() {
    for table in TABLES {
        table();
    }
    let unbroken = stated::Stated::read().unbroken(&ask::causes());
    let about_addresses = ABOUT_TWO_ADDRESSES.map(|what| {
        format!(
            "core.v1.ServiceSpec told as `: must be set to 'SingleStack' when releasing the secondary {what}`"
        )
    });
    let expected: Vec<_> = [AT_A_COMMON_NAME.to_owned()].into_iter().chain(about_addresses).collect();
    assert_eq!(unbroken, expected, "no table breaks these rules");
}

/// The rules of a kind are asked by one of the tables.
#[test]
fn every_kind_is_asked() {
    for table in TABLES {
        table();
    }
    let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
    let unasked: BTreeSet<&str> =
        kinds.filter(|def| !ask::is_asked(def)).map(|def| def.schema_name).collect();
    assert_eq!(unasked, BTreeSet::new());
}
