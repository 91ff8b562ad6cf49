//! Feature gates: what an operator turns on or off by name.
//!
//! Alpha features are off and beta features on, unless `--feature-gates` says otherwise: by name, or for all of a stage
//! (`AllAlpha`, `AllBeta`). What is more particular decides, whatever the order in which it is written.

use std::collections::BTreeMap;

/// A feature that can be turned on and off.
#[derive(Debug)]
pub struct Feature {
    name: &'static str,
    stage: Stage,
}

/// How far along a feature is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Alpha,
    Beta,
}

/// Removing objects that cannot be read, with an option of DELETE that skips every check.
pub const UNSAFE_DELETION: Feature =
    Feature { name: "AllowUnsafeMalformedObjectDeletion", stage: Stage::Alpha };

/// All features that have a gate.
const FEATURES: &[Feature] = &[UNSAFE_DELETION];

/// The names that stand for all features of a stage.
const STAGES: &[(&str, Stage)] = &[("AllAlpha", Stage::Alpha), ("AllBeta", Stage::Beta)];

/// What the operator says about features, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates {
    switches: BTreeMap<String, bool>,
}

impl FeatureGates {
    /// Reads `Name=bool` pairs; the last of several values counts.
    ///
    /// # Errors
    /// What is wrong with a pair, in words for the operator.
    pub fn parse(pairs: &[String]) -> Result<Self, String> {
        let mut switches = BTreeMap::new();
        for pair in pairs {
            let (name, value) =
                pair.split_once('=').ok_or_else(|| format!("missing bool value for {pair}"))?;
            let mut known =
                FEATURES.iter().map(|feature| feature.name).chain(STAGES.iter().map(|(all, _)| *all));
            if !known.any(|known| known == name) {
                return Err(format!("unrecognized feature gate: {name}"));
            }
            let on = match value {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
                "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
                _ => return Err(format!("invalid value of {name}={value}: use true or false")),
            };
            switches.insert(name.to_owned(), on);
        }
        Ok(FeatureGates { switches })
    }

    /// Whether a feature is on.
    pub fn is_on(&self, feature: &Feature) -> bool {
        let of_stage = || {
            let (all, _) = STAGES.iter().find(|(_, stage)| *stage == feature.stage)?;
            self.switches.get(*all)
        };
        let said = self.switches.get(feature.name).or_else(of_stage);
        said.copied().unwrap_or(feature.stage == Stage::Beta)
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
        let made_up = Feature { name: "MadeUp", stage: Stage::Beta };
        assert!(FeatureGates::default().is_on(&made_up));
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
            ("Nonsense=true", "unrecognized feature gate: Nonsense"),
            ("AllAlpha=yes", "invalid value of AllAlpha=yes: use true or false"),
        ] {
            assert_eq!(FeatureGates::parse(&[pair.to_owned()]).unwrap_err(), expected);
        }
    }
}
