//! Feature gates: what an operator turns on or off by name.
//!
//! Alpha features are off and most beta features on, unless `--feature-gates` says otherwise: by name, or for
//! all of a stage (`AllAlpha`, `AllBeta`). A name has priority over a stage, whatever the order in which they
//! are written. A stable feature is on, and its gate is locked: it takes no other value. A few gates are the
//! server's own; the others are in schema files, at the fields that are dropped without them. Stages and
//! defaults are those of release 1.32 of the reference, where the specification does not say otherwise.

use std::collections::BTreeMap;

use orch_machinery::media_type::CBOR_SERVING;
use orch_runtime::{
    resource_def::GroupVersionDef,
    type_def::{FeatureGate, GateStage},
};

/// Allows the option of DELETE that removes an object that cannot be read, without any check.
pub const UNSAFE_DELETION: FeatureGate =
    FeatureGate { name: "AllowUnsafeMalformedObjectDeletion", stage: GateStage::Alpha, default: false };

/// Shows authorizers the selectors of a request, and those in access reviews.
pub const AUTHORIZE_WITH_SELECTORS: FeatureGate =
    FeatureGate { name: "AuthorizeWithSelectors", stage: GateStage::Alpha, default: false };

/// Lets an authenticating proxy name the uid of a user.
pub const PROXY_UID: FeatureGate =
    FeatureGate { name: "RemoteRequestHeaderUID", stage: GateStage::Alpha, default: false };

/// Compresses large answers for clients that accept that.
pub const RESPONSE_COMPRESSION: FeatureGate =
    FeatureGate { name: "APIResponseCompression", stage: GateStage::Beta, default: true };

/// Lets a watch begin with the objects that exist (`sendInitialEvents`).
pub const WATCH_LIST: FeatureGate = FeatureGate { name: "WatchList", stage: GateStage::Beta, default: true };

/// Lets the file of authenticators say for which paths nobody needs a credential.
pub const ANONYMOUS_CONDITIONS: FeatureGate =
    FeatureGate { name: "AnonymousAuthConfigurableEndpoints", stage: GateStage::Beta, default: true };

/// Answers reads of the newest version from memory. They always are here, and always the newest.
const CONSISTENT_READS: FeatureGate =
    FeatureGate { name: "ConsistentListFromCache", stage: GateStage::Beta, default: true };

/// Closes HTTP/2 connections of clients that are not authenticated.
pub const HTTP2_DOS_MITIGATION: FeatureGate =
    FeatureGate { name: "UnauthenticatedHTTP2DOSMitigation", stage: GateStage::Beta, default: true };

/// Tries another name where a generated one is taken.
const RETRY_GENERATE_NAME: FeatureGate =
    FeatureGate { name: "RetryGenerateName", stage: GateStage::Stable, default: true };

/// Lets a file say whose tokens are accepted.
pub const STRUCTURED_AUTHENTICATION: FeatureGate =
    FeatureGate { name: "StructuredAuthenticationConfiguration", stage: GateStage::Beta, default: true };

/// Lets a file say who authorizes requests.
const STRUCTURED_AUTHORIZATION: FeatureGate =
    FeatureGate { name: "StructuredAuthorizationConfiguration", stage: GateStage::Stable, default: true };

/// The gates of the server itself; schema files have others.
const OWN: &[FeatureGate] = &[
    UNSAFE_DELETION,
    RESPONSE_COMPRESSION,
    ANONYMOUS_CONDITIONS,
    CONSISTENT_READS,
    CBOR_SERVING,
    AUTHORIZE_WITH_SELECTORS,
    PROXY_UID,
    RETRY_GENERATE_NAME,
    STRUCTURED_AUTHENTICATION,
    STRUCTURED_AUTHORIZATION,
    HTTP2_DOS_MITIGATION,
    WATCH_LIST,
];

/// The names that stand for all features of a stage.
const STAGES: &[(&str, GateStage)] = &[("AllAlpha", GateStage::Alpha), ("AllBeta", GateStage::Beta)];

/// What the operator says about features, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates {
    switches: BTreeMap<String, bool>,
}

impl FeatureGates {
    /// Reads `Name=bool` pairs. The last value of a name counts.
    ///
    /// # Errors
    /// What is wrong with a pair, in words for the operator.
    pub fn parse(pairs: &[String]) -> Result<Self, String> {
        let mut switches = BTreeMap::new();
        for pair in pairs {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| format!("missing bool value for {pair}"))?;
            let on = match value {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
                "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
                _ => return Err(format!("invalid value of {name}={value}: use true or false")),
            };
            switches.insert(name.to_owned(), on);
        }
        Ok(FeatureGates { switches })
    }

    /// Checks that every gate that is named exists and takes its value. A gate that goes away is told in the
    /// log.
    ///
    /// # Errors
    /// The first that is wrong, in words for the operator.
    pub fn check(&self, tables: &[&'static GroupVersionDef]) -> Result<(), String> {
        self.check_against(&all(tables))
    }

    fn check_against(&self, known: &BTreeMap<&str, &FeatureGate>) -> Result<(), String> {
        for (name, value) in &self.switches {
            if STAGES.iter().any(|(all, _)| all == name) {
                continue;
            }
            let Some(gate) = known.get(name.as_str()) else {
                return Err(format!("unrecognized feature gate: {name}"));
            };
            if gate.stage == GateStage::Stable && *value != gate.default {
                let locked = gate.default;
                return Err(format!(
                    "cannot set feature gate {name} to {value}, feature is locked to {locked}"
                ));
            }
            if matches!(gate.stage, GateStage::Stable | GateStage::Deprecated) {
                let stage = stage_name(gate.stage);
                tracing::warn!(gate = name, stage, "this feature gate will be removed in a future release");
            }
        }
        Ok(())
    }

    /// Every gate with whether it is on, by name.
    pub fn listed(&self, tables: &[&'static GroupVersionDef]) -> Vec<(FeatureGate, bool)> {
        all(tables).into_values().map(|gate| (*gate, self.is_on(gate))).collect()
    }

    /// Whether a feature is on.
    pub fn is_on(&self, gate: &FeatureGate) -> bool {
        let of_stage = || {
            let (all, _) = STAGES.iter().find(|(_, stage)| *stage == gate.stage)?;
            self.switches.get(*all)
        };
        let said = self.switches.get(gate.name).or_else(of_stage);
        said.copied().unwrap_or(gate.default)
    }
}

/// The gates of the server and of the fields of these kinds, by name.
fn all(tables: &[&'static GroupVersionDef]) -> BTreeMap<&'static str, &'static FeatureGate> {
    let of_fields = tables.iter().flat_map(|table| table.feature_gates).copied();
    of_fields.chain(OWN).map(|gate| (gate.name, gate)).collect()
}

/// A stage as metrics and the log name it.
pub fn stage_name(stage: GateStage) -> &'static str {
    match stage {
        GateStage::Alpha => "ALPHA",
        GateStage::Beta => "BETA",
        GateStage::Stable => "",
        GateStage::Deprecated => "DEPRECATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_particular_decides() {
        for (pairs, expected) in [
            (&[][..], false),
            (&["AllowUnsafeMalformedObjectDeletion=true"], true),
            (&["AllowUnsafeMalformedObjectDeletion=1", "AllowUnsafeMalformedObjectDeletion=F"], false),
            (&["AllAlpha=true"], true),
            (&["AllBeta=true"], false),
            (&["AllowUnsafeMalformedObjectDeletion=false", "AllAlpha=true"], false),
        ] {
            let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
            assert_eq!(FeatureGates::parse(&pairs).unwrap().is_on(&UNSAFE_DELETION), expected, "{pairs:?}");
        }
        let made_up = FeatureGate { name: "MadeUp", stage: GateStage::Beta, default: true };
        assert!(FeatureGates::default().is_on(&made_up));
        assert!(!FeatureGates::default().is_on(&FeatureGate { default: false, ..made_up }));
        let off = FeatureGates::parse(&["AllBeta=false".to_owned()]).unwrap();
        assert!(!off.is_on(&made_up));
    }

    #[test]
    fn mistakes_are_named() {
        for (pair, expected) in [
            (
                "AllowUnsafeMalformedObjectDeletion",
                "missing bool value for AllowUnsafeMalformedObjectDeletion",
            ),
            ("AllAlpha=yes", "invalid value of AllAlpha=yes: use true or false"),
        ] {
            assert_eq!(FeatureGates::parse(&[pair.to_owned()]).unwrap_err(), expected);
        }
        let unknown = FeatureGates::parse(&["Nonsense=true".to_owned()]).unwrap();
        assert_eq!(unknown.check(&[]).unwrap_err(), "unrecognized feature gate: Nonsense");
        let known = FeatureGates::parse(&["AllBeta=true".to_owned()]).unwrap();
        assert_eq!(known.check(&[]), Ok(()));
    }

    #[test]
    fn a_deprecated_gate_takes_any_value_and_is_in_no_group() {
        let old = FeatureGate { name: "Old", stage: GateStage::Deprecated, default: true };
        assert_eq!(stage_name(old.stage), "DEPRECATED");
        let gates = |pair: &str| FeatureGates::parse(&[pair.to_owned()]).unwrap();
        for (pair, expected) in
            [("Old=false", false), ("Old=true", true), ("AllBeta=false", true), ("AllAlpha=false", true)]
        {
            assert_eq!(gates(pair).is_on(&old), expected, "{pair}");
        }
        let known = BTreeMap::from([("Old", &old)]);
        assert_eq!(gates("Old=false").check_against(&known), Ok(()));
        assert_eq!(gates("Old=true").check_against(&known), Ok(()));
    }

    #[test]
    fn a_locked_gate_takes_its_value_alone() {
        let check = |pair: &str| FeatureGates::parse(&[pair.to_owned()]).unwrap().check(&[]);
        assert_eq!(check("RetryGenerateName=true"), Ok(()));
        let expected = "cannot set feature gate RetryGenerateName to false, feature is locked to true";
        assert_eq!(check("RetryGenerateName=false"), Err(expected.to_owned()));
        assert_eq!(check("WatchList=false"), Ok(()));
        let all = FeatureGates::parse(&["AllBeta=false".to_owned()]).unwrap();
        for (gate, expected) in
            [(&WATCH_LIST, false), (&RETRY_GENERATE_NAME, true), (&AUTHORIZE_WITH_SELECTORS, false)]
        {
            assert_eq!(all.is_on(gate), expected, "{}", gate.name);
        }
        let listed = all.listed(&[]);
        assert_eq!(listed.len(), OWN.len());
        assert!(listed.is_sorted_by_key(|(gate, _)| gate.name));
    }
}
