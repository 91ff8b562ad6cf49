//! Which controllers run, as operators say it with `--controllers`.
//!
//! The flag is a list of names. `*` stands for all that are on by default, `name` turns one on, `-name` turns
//! one off. What is not named is off, so `*` alone is the default of the flag. Controllers have other names
//! in the reference, older ones too, and flags that use these keep their meaning.

use std::collections::HashSet;

use crate::controller::AnyController;

/// What the flag says unless it is given.
pub const DEFAULT: &str = "*";

/// Names by which the reference knows controllers, and what these are called here.
pub(crate) const ALIASES: &[(&str, &[&str])] = &[
    ("bootstrapsigner", &["bootstrap-signer-controller"]),
    ("clusterrole-aggregation", &["clusterrole-aggregation-controller"]),
    ("daemonset", &["daemonset-controller"]),
    ("garbagecollector", &["garbage-collector-controller"]),
    ("namespace-controller", &["namespace"]),
    // Claims and volumes are bound by one controller there.
    ("persistentvolume-binder", &["persistentvolume-binder", "persistentvolumeclaim-binder"]),
    ("persistentvolume-binder-controller", &["persistentvolume-binder", "persistentvolumeclaim-binder"]),
    ("persistentvolume-protection-controller", &["persistentvolume-protection"]),
    ("persistentvolumeclaim-protection-controller", &["persistentvolumeclaim-protection"]),
    ("pv-protection", &["persistentvolume-protection"]),
    ("pvc-protection", &["persistentvolumeclaim-protection"]),
    ("root-ca-cert-publisher", &["root-ca-certificate-publisher-controller"]),
    ("serviceaccount", &["serviceaccount-controller"]),
    ("serviceaccount-token", &["serviceaccount-token-controller"]),
    ("tokencleaner", &["token-cleaner-controller"]),
];

/// Controllers of the reference that this server never runs, by their names and their older ones, without
/// `-controller` at the end. Who turns them off has what he wants.
#[rustfmt::skip]
const NOT_HERE: &[&str] = &[
    "attachdetach", "certificatesigningrequest-approving", "certificatesigningrequest-cleaner",
    "certificatesigningrequest-signing", "cloud-node-lifecycle", "cronjob", "csrapproving",
    "csrcleaner", "csrsigning", "deployment", "disruption", "endpoint", "endpoints",
    "endpointslice", "endpointslice-mirroring", "endpointslicemirroring", "ephemeral-volume",
    "horizontal-pod-autoscaler", "horizontalpodautoscaling", "job",
    "kube-apiserver-serving-clustertrustbundle-publisher", "legacy-service-account-token-cleaner",
    "legacy-serviceaccount-token-cleaner", "node-ipam", "node-lifecycle", "node-route", "nodeipam",
    "nodelifecycle", "persistentvolume-attach-detach", "persistentvolume-expander",
    "pod-garbage-collector", "podgc", "replicaset", "replicationcontroller", "resource-claim",
    "resourceclaim", "resourcequota", "route", "selinux-warning", "service", "service-cidr",
    "service-lb", "statefulset", "storage-version-gc", "storageversion-garbage-collector",
    "taint-eviction", "ttl", "ttl-after-finished", "validatingadmissionpolicy-status",
    "volumeattributesclass-protection",
];

/// Keeps the controllers that `list` turns on.
///
/// # Errors
/// What is wrong with the list, in words for an operator: a name that no controller has, or that is both on
/// and off. A name that two controllers have.
pub fn select(
    controllers: Vec<Box<dyn AnyController>>,
    list: &[String],
) -> Result<Vec<Box<dyn AnyController>>, String> {
    let known: Vec<(&str, bool)> =
        controllers.iter().map(|controller| (controller.name(), controller.is_on_by_default())).collect();
    let mut is_on = are_on(&known, list)?.into_iter();
    Ok(controllers.into_iter().filter(|_| is_on.next() == Some(true)).collect())
}

/// Which of the known controllers are on; each has a name and a default.
fn are_on(known: &[(&str, bool)], list: &[String]) -> Result<Vec<bool>, String> {
    let mut names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    if let Some([twice, ..]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("there are two controllers {twice}"));
    }
    let mut on = HashSet::new();
    let mut off = HashSet::new();
    let mut has_all = false;
    for entry in list.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty()) {
        let off_name = entry.strip_prefix('-');
        let name = off_name.unwrap_or(entry);
        if entry == "*" {
            has_all = true;
        } else if let Some(meant) = meant_by(name, &names) {
            let chosen = if off_name.is_some() { &mut off } else { &mut on };
            chosen.extend(meant);
        } else if off_name.is_none() || !is_never_run(name) {
            return Err(format!("there is no controller {name} (one of: {})", names.join(", ")));
        }
    }
    let decide = |(name, default): &(&str, bool)| match (on.contains(name), off.contains(name)) {
        (true, true) => Err(format!("{name} is both on and off")),
        (false, false) => Ok(*default && has_all),
        (is_on, _) => Ok(is_on),
    };
    known.iter().map(decide).collect()
}

/// The controllers that a name stands for: its own, or those that have it in the reference.
fn meant_by<'a>(name: &'a str, names: &[&'a str]) -> Option<Vec<&'a str>> {
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, meant)| *meant);
    let meant: Vec<&str> =
        alias.unwrap_or_default().iter().copied().filter(|it| names.contains(it)).collect();
    if meant.is_empty() { names.contains(&name).then(|| vec![name]) } else { Some(meant) }
}

fn is_never_run(name: &str) -> bool {
    NOT_HERE.contains(&name.strip_suffix("-controller").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[(&str, bool)] = &[("namespace", true), ("rare", false), ("volume-protection", true)];

    fn on(list: &[&str]) -> Result<Vec<&'static str>, String> {
        let list: Vec<String> = list.iter().map(ToString::to_string).collect();
        let is_on = are_on(KNOWN, &list)?;
        Ok(KNOWN.iter().zip(is_on).filter(|(_, is_on)| *is_on).map(|((name, _), _)| *name).collect())
    }

    #[test]
    fn operators_choose_controllers() {
        for (list, expected) in [
            (&[DEFAULT][..], &["namespace", "volume-protection"][..]),
            (&[], &[]),
            (&[""], &[]),
            (&["namespace"], &["namespace"]),
            (&["*", "-namespace"], &["volume-protection"]),
            (&["-namespace", "*"], &["volume-protection"]),
            (&["*", "rare"], &["namespace", "rare", "volume-protection"]),
            (&["-namespace"], &[]),
            (&[" rare ", "rare"], &["rare"]),
        ] {
            assert_eq!(on(list).as_deref(), Ok(expected), "{list:?}");
        }
    }

    #[test]
    fn names_of_the_reference_are_known() {
        const OWN: &[(&str, bool)] = &[
            ("bootstrap-signer-controller", false),
            ("daemonset-controller", true),
            ("namespace", true),
            ("persistentvolume-binder", true),
            ("persistentvolumeclaim-binder", true),
        ];
        let on = |list: &[&str]| -> Result<Vec<&str>, String> {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            let is_on = are_on(OWN, &list).map_err(|why| why.split(" (").next().unwrap().to_owned())?;
            Ok(OWN.iter().zip(is_on).filter(|(_, is_on)| *is_on).map(|((name, _), _)| *name).collect())
        };
        let binders = ["persistentvolume-binder", "persistentvolumeclaim-binder"];
        let rest = ["daemonset-controller", "namespace"];
        for (list, expected) in [
            (&["bootstrapsigner"][..], Ok(vec!["bootstrap-signer-controller"])),
            (&["namespace-controller", "daemonset"], Ok(vec!["daemonset-controller", "namespace"])),
            (&["persistentvolume-binder-controller"], Ok(binders.to_vec())),
            (&["*", "-persistentvolume-binder", "-ttl", "-node-lifecycle-controller"], Ok(rest.to_vec())),
            (&["*", "ttl"], Err("there is no controller ttl".to_owned())),
            (&["pvc-protection"], Err("there is no controller pvc-protection".to_owned())),
        ] {
            assert_eq!(on(list), expected, "{list:?}");
        }
        for name in NOT_HERE {
            assert!(name.chars().all(|it| it == '-' || it.is_ascii_lowercase()), "{name:?}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = |name: &str| {
            format!("there is no controller {name} (one of: namespace, rare, volume-protection)")
        };
        for (list, expected) in [
            (&["*", "lost"][..], unknown("lost")),
            (&["-lost"], unknown("lost")),
            (&["-*"], unknown("*")),
            (&["rare", "*", "-rare"], "rare is both on and off".to_owned()),
        ] {
            assert_eq!(on(list), Err(expected), "{list:?}");
        }
        let twice = are_on(&[("a", true), ("b", true), ("a", true)], &[]);
        assert_eq!(twice, Err("there are two controllers a".to_owned()));
    }
}
