//! Which of the registered kinds are served: by their stability, and by what the operator says.
//!
//! Stable versions are on, alpha and beta ones off; beta versions from before release 1.22 are on, as clients
//! have always found them. What is removed by the release of the server is off, unless its version or
//! resource is named: its schema says which release that is. What a later release brings is off in any case.
//! `--runtime-config` turns them on and off, all at once (`api/all`), by stability (`api/ga`, `api/beta`,
//! `api/alpha`), by version (`apps/v1`, `v1` for the core group) or by resource (`apps/v1/daemonsets`). The
//! most specific key decides, whatever the order in which they are written.

use std::collections::BTreeMap;

use orch_runtime::{
    release::Release,
    resource_def::{GroupVersionDef, ResourceDef, Stability},
    vocabulary::Vocabulary,
};

/// The release of this server, which is the API level that `/version` tells: by it kinds are introduced and
/// removed.
pub const RELEASE: Release = Release::new(1, 32);

const ALL: &str = "api/all";
const STABILITIES: &[(Stability, &str)] =
    &[(Stability::Stable, "api/ga"), (Stability::Beta, "api/beta"), (Stability::Alpha, "api/alpha")];

/// What the operator says about kinds and versions, by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enablement {
    switches: BTreeMap<String, bool>,
    is_everything: bool,
}

impl Enablement {
    /// Every kind in every version, also those that are removed.
    pub fn everything() -> Self {
        Enablement { switches: BTreeMap::new(), is_everything: true }
    }

    /// Reads `key` and `key=value` pairs. A key without a value is turned on. The last value of a key counts.
    ///
    /// # Errors
    /// What is wrong with a pair, in words for the operator.
    pub fn parse(pairs: &[String]) -> Result<Self, String> {
        let mut switches = BTreeMap::new();
        for pair in pairs {
            let (key, value) = pair.split_once('=').unwrap_or((pair.as_str(), "true"));
            let is_general = key.starts_with("api/");
            if is_general && key != ALL && !STABILITIES.iter().any(|(_, general)| *general == key) {
                return Err(format!("runtime-config invalid key {key}"));
            }
            let on = match value {
                "true" => true,
                "false" => false,
                "" | "1" | "t" | "T" | "TRUE" | "True" if !is_general => true,
                "0" | "f" | "F" | "FALSE" | "False" if !is_general => false,
                _ => return Err(format!("invalid value of runtime-config {key}={value}: use true or false")),
            };
            switches.insert(key.to_owned(), on);
        }
        if switches.len() == 1 && switches.get(ALL) == Some(&false) {
            return Err("invalid key with only api/all=false: name what is to be served as well".to_owned());
        }
        Ok(Enablement { switches, is_everything: false })
    }

    /// Checks that every version and resource that is named exists, under the names of `vocabulary`.
    ///
    /// # Errors
    /// The first that does not exist, in words for the operator.
    pub fn check(&self, vocabulary: &Vocabulary, tables: &[&'static GroupVersionDef]) -> Result<(), String> {
        let named = self.switches.keys().filter(|key| !key.starts_with("api/"));
        for key in named {
            let is_meant = |table: &&&GroupVersionDef| {
                let api_version = vocabulary.api_version(table.group, table.version);
                let resource = key.strip_prefix(&api_version).and_then(|rest| rest.strip_prefix('/'));
                *key == api_version
                    || resource.is_some_and(|name| table.resources.iter().any(|def| def.plural == name))
            };
            let Some(table) = tables.iter().find(is_meant) else {
                return Err(unknown(key, vocabulary, tables));
            };
            let are_all = |hold: fn(&ResourceDef) -> bool| table.resources.iter().all(|def| hold(def));
            if self.switches[key] && are_all(|def| def.lifecycle.is_removed(RELEASE)) {
                tracing::warn!(
                    key,
                    "clients have to move: it is removed by this release, and served because it is named"
                );
            }
            if self.switches[key] && are_all(|def| !def.lifecycle.is_introduced(RELEASE)) {
                tracing::warn!(key, "it comes with a later release, and is not served");
            }
        }
        Ok(())
    }

    /// Whether a kind is served.
    pub fn serves(&self, vocabulary: &Vocabulary, def: &ResourceDef) -> bool {
        let stability = def.lifecycle.stability;
        let general = STABILITIES.iter().find(|(known, _)| *known == stability).map_or("", |(_, key)| key);
        let api_version = vocabulary.api_version(def.group, def.version);
        let resource = format!("{api_version}/{}", def.plural);
        let named = [&resource, &api_version].into_iter().find_map(|key| self.switches.get(key));
        if self.is_everything {
            return true;
        }
        if !def.lifecycle.is_introduced(RELEASE) {
            return false;
        }
        if def.lifecycle.is_removed(RELEASE) {
            return named == Some(&true);
        }
        let said = named.or_else(|| [general, ALL].into_iter().find_map(|key| self.switches.get(key)));
        said.copied().unwrap_or_else(|| match stability {
            Stability::Stable => true,
            Stability::Beta => def.lifecycle.introduced.is_some_and(|since| since < BETAS_ARE_OFF),
            Stability::Alpha => false,
        })
    }
}

/// The release since which new beta versions are off by default.
const BETAS_ARE_OFF: Release = Release::new(1, 22);

fn unknown(key: &str, vocabulary: &Vocabulary, tables: &[&'static GroupVersionDef]) -> String {
    let mut parts = key.splitn(3, '/');
    let (Some(group), Some(version)) = (parts.next(), parts.next()) else {
        return format!("runtime-config invalid key {key}");
    };
    let mut of_group = tables.iter().filter(|table| vocabulary.group(table.group) == group).peekable();
    if of_group.peek().is_none() {
        format!("unknown api groups {group}")
    } else if of_group.any(|table| table.version == version) {
        format!("runtime-config invalid key {key}")
    } else {
        format!("group version {group}/{version} that has not been registered")
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::resource_def::Lifecycle;
    use orch_test_catalog::{CONFIG_MAPS, KUBERNETES, OLD_WIDGETS, TABLES};

    use super::*;

    fn parse(pairs: &[&str]) -> Result<Enablement, String> {
        Enablement::parse(&pairs.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_more_particular_decides() {
        for (pairs, config_maps, old_widgets) in [
            (&[][..], true, false),
            (&["api/all=true"], true, true),
            (&["api/all=false", "v1"], true, false),
            (&["api/beta=true"], true, true),
            (&["api/ga=false"], false, false),
            (&["things.example.com/v1beta1"], true, true),
            (&["things.example.com/v1beta1=false", "api/all=true"], true, false),
            (&["things.example.com/v1beta1/widgets=1", "api/beta=false"], true, true),
            (&["v1=false", "v1/configmaps="], true, false),
            (&["v1/configmaps=F"], false, false),
            (&["api/beta=true", "api/beta=false"], true, false),
        ] {
            let enablement = parse(pairs).unwrap();
            enablement.check(&KUBERNETES, TABLES).unwrap();
            let served = [&CONFIG_MAPS, &OLD_WIDGETS].map(|def| enablement.serves(&KUBERNETES, def));
            assert_eq!(served, [config_maps, old_widgets], "{pairs:?}");
        }
        assert!(Enablement::everything().serves(&KUBERNETES, &OLD_WIDGETS));
    }

    #[test]
    fn releases_bring_kinds_and_take_them_away() {
        let minor = |minor| Some(Release::new(1, minor));
        let of = |stability, introduced, removed| ResourceDef {
            lifecycle: Lifecycle { stability, introduced, removed, ..OLD_WIDGETS.lifecycle },
            ..OLD_WIDGETS
        };
        let own = "things.example.com/v1beta1";
        for (what, def, by_default, turned_on) in [
            ("an old beta", of(Stability::Beta, minor(9), None), true, true),
            ("a beta", of(Stability::Beta, minor(22), None), false, true),
            ("of no release", of(Stability::Beta, None, None), false, true),
            ("goes later", of(Stability::Beta, minor(5), minor(33)), true, true),
            ("goes now", of(Stability::Beta, minor(5), minor(32)), false, true),
            ("is gone", of(Stability::Stable, None, minor(8)), false, true),
            ("an old alpha", of(Stability::Alpha, minor(5), None), false, true),
            ("is new", of(Stability::Stable, minor(32), None), true, true),
            ("comes later", of(Stability::Stable, minor(33), None), false, false),
        ] {
            assert_eq!(parse(&[]).unwrap().serves(&KUBERNETES, &def), by_default, "{what}");
            let enablement = parse(&[own, "api/all=true"]).unwrap();
            assert_eq!(enablement.serves(&KUBERNETES, &def), turned_on, "{what}");
        }
        let gone = of(Stability::Beta, minor(5), minor(32));
        assert!(!parse(&["api/all=true"]).unwrap().serves(&KUBERNETES, &gone), "it has to be named");
        let off = parse(&[&format!("{own}=false")]).unwrap();
        assert!(!off.serves(&KUBERNETES, &of(Stability::Beta, minor(9), None)));
    }

    #[test]
    fn faults_are_named() {
        for (pairs, fault) in [
            (
                &["api/all=false"][..],
                "invalid key with only api/all=false: name what is to be served as well",
            ),
            (&["api/gamma=true"], "runtime-config invalid key api/gamma"),
            (&["api/beta=1"], "invalid value of runtime-config api/beta=1: use true or false"),
            (&["v1=maybe"], "invalid value of runtime-config v1=maybe: use true or false"),
            (&["nothing/v1"], "unknown api groups nothing"),
            (&["apps/v7"], "group version apps/v7 that has not been registered"),
            (&["apps/v1/widgets"], "runtime-config invalid key apps/v1/widgets"),
            (&["v7"], "runtime-config invalid key v7"),
        ] {
            let checked = parse(pairs).and_then(|enablement| enablement.check(&KUBERNETES, TABLES));
            assert_eq!(checked, Err(fault.to_owned()), "{pairs:?}");
        }
    }
}
