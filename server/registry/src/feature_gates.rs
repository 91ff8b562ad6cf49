//! Feature gates: what an operator turns on or off by name.
//!
//! Alpha features are off and most beta features on, unless `--feature-gates` says otherwise: by name, or for
//! all of a stage (`AllAlpha`, `AllBeta`). A name has priority over a stage, whatever the order in which they
//! are written. A few gates are the server's own; the others are in schema files, at the fields that are
//! dropped without them.

use std::collections::BTreeMap;

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

/// The gates of the server itself; schema files have others.
const OWN: &[FeatureGate] = &[UNSAFE_DELETION, AUTHORIZE_WITH_SELECTORS, PROXY_UID];

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

    /// Checks that every gate that is named exists.
    ///
    /// # Errors
    /// The first that does not exist, in words for the operator.
    pub fn check(&self, tables: &[&'static GroupVersionDef]) -> Result<(), String> {
        let of_fields = || tables.iter().flat_map(|table| table.feature_gates).map(|gate| gate.name);
        let own = || OWN.iter().map(|gate| gate.name).chain(STAGES.iter().map(|(all, _)| *all));
        match self.switches.keys().find(|name| !own().chain(of_fields()).any(|known| known == name.as_str()))
        {
            Some(name) => Err(format!("unrecognized feature gate: {name}")),
            None => Ok(()),
        }
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
}
