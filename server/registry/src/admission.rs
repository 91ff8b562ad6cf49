//! Admission: named plugins with rules that are not those of one kind.
//!
//! A plugin may change an object ([`AdmissionPlugin::mutate`], before the rules of its kind run) or refuse it
//! ([`AdmissionPlugin::validate`], after them). Plugins run in the order of registration. Each is on or off
//! by default; `--enable-admission-plugins` and `--disable-admission-plugins` change that at start.

use std::time::Instant;

use orch_auth::{answer::Answer, user::UserInfo};
use orch_runtime::{
    Tree,
    object::ApiObject,
    resource_def::{FieldPath, ResourceDef, SubresourceDef, Verb},
};
use orch_storage::Condition;

use crate::{
    catalog::ServedResource,
    error::ApiError,
    meter::{Admission, Meter, Step},
    objects::Objects,
};

/// A write, as plugins see it.
pub struct AdmissionRequest<'a> {
    /// `Create`, `Update` (also for patches that change an object) or `Delete`.
    pub operation: Verb,
    /// The kind.
    pub resource: &'a ServedResource,
    /// The sub-resource, where the request is for one.
    pub subresource: Option<&'static SubresourceDef>,
    /// `""` for cluster-scoped kinds.
    pub namespace: &'a str,
    /// The object's name, also where it was generated.
    pub name: &'a str,
    /// The name in the request's path; empty for a POST to a collection.
    pub name_in_path: &'a str,
    /// Who writes.
    pub user: &'a UserInfo,
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// The object as it will be stored; absent for deletions and for operations on sub-resources.
    pub object: Option<&'a mut dyn ApiObject>,
    /// The object as it is stored; absent for creates and operations. For a deletion it is there in
    /// [`AdmissionPlugin::validate`], unless it is no object of its kind by today's schema.
    pub old: Option<&'a dyn ApiObject>,
    /// The body of an operation; absent for all other writes.
    pub body: Option<&'a Tree>,
    /// The stored objects.
    pub objects: &'a Objects,
    /// What must still hold when a create or an update commits; otherwise the whole write runs again. For
    /// others it has no effect.
    pub conditions: &'a mut Vec<Condition>,
}

/// A rule for writes of any kind, or something that fills in fields.
pub trait AdmissionPlugin: Send + Sync + 'static {
    /// The name by which operators turn it on and off.
    fn name(&self) -> &'static str;

    /// Whether it is on unless the operator says otherwise.
    fn is_on_by_default(&self) -> bool {
        true
    }

    /// Changes the object, or refuses the write.
    fn mutate<'a>(&'a self, _request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        Answer::Ready(Ok(()))
    }

    /// Refuses the write. The object is valid by the rules of its kind, and no plugin changes it any more.
    fn validate<'a>(&'a self, _request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        Answer::Ready(Ok(()))
    }

    /// Fields that the plugin adds to new objects of a kind. A client owns them only if it sends them.
    fn added_fields(&self, _def: &ResourceDef) -> &'static [FieldPath] {
        &[]
    }

    /// Whether the plugin adds to new objects of a kind what has no path, such as items of lists. A client
    /// then owns what the object had before plugins changed it.
    fn adds_items(&self, _def: &ResourceDef) -> bool {
        false
    }

    /// A kind of which the plugin reads an object whole, in the namespace of each new object of `def`.
    /// Requests in a namespace with large ones are answered apart from others.
    fn reads(&self, _def: &ResourceDef) -> Option<&'static ResourceDef> {
        None
    }
}

/// Whether a write goes on. Most plugins know at once.
pub type Admitted<'a> = Answer<'a, Result<(), ApiError>>;

/// The plugins that are on, in order.
#[derive(Default)]
pub struct AdmissionChain {
    plugins: Vec<Box<dyn AdmissionPlugin>>,
}

/// What the operator says about plugins, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionConfig {
    /// Plugins that are on although they are off by default.
    pub enabled: Vec<String>,
    /// Plugins that are off although they are on by default.
    pub disabled: Vec<String>,
}

impl AdmissionChain {
    /// Keeps the plugins that are on.
    ///
    /// # Errors
    /// The flag and what is wrong with it: a name that no plugin has, or that is both on and off.
    pub fn new(
        plugins: Vec<Box<dyn AdmissionPlugin>>,
        config: &AdmissionConfig,
    ) -> Result<Self, (&'static str, String)> {
        const ENABLE: &str = "--enable-admission-plugins";
        const DISABLE: &str = "--disable-admission-plugins";
        for (flag, names) in [(ENABLE, &config.enabled), (DISABLE, &config.disabled)] {
            for name in names {
                if !plugins.iter().any(|plugin| plugin.name() == name) {
                    let known: Vec<&str> = plugins.iter().map(|plugin| plugin.name()).collect();
                    return Err((flag, format!("there is no plugin {name} (one of: {})", known.join(", "))));
                }
            }
        }
        if let Some(both) = config.enabled.iter().find(|name| config.disabled.contains(name)) {
            return Err((ENABLE, format!("{both} is in {DISABLE} too")));
        }
        let is_on = |plugin: &dyn AdmissionPlugin| {
            let is_named = |names: &[String]| names.iter().any(|name| name == plugin.name());
            is_named(&config.enabled) || (plugin.is_on_by_default() && !is_named(&config.disabled))
        };
        Ok(AdmissionChain { plugins: plugins.into_iter().filter(|plugin| is_on(&**plugin)).collect() })
    }

    /// Adds a plugin that operators cannot turn off. It is the last to change the object, so that nobody
    /// changes what it has looked at.
    pub fn guard(&mut self, plugin: Box<dyn AdmissionPlugin>) {
        self.plugins.push(plugin);
    }

    /// Lets every plugin change the object or judge it. `meter` is told how long that took.
    ///
    /// # Errors
    /// Of the first plugin that refuses.
    pub async fn ask(
        &self,
        step: Step,
        request: &mut AdmissionRequest<'_>,
        meter: Option<&dyn Meter>,
    ) -> Result<(), ApiError> {
        let (operation, began) = (request.operation, Instant::now());
        let tell = |plugin, is_refused, took| {
            if let Some(meter) = meter {
                meter.admitted(Admission { plugin, step, operation, is_refused }, took);
            }
        };
        let (mut outcome, mut before) = (Ok(()), began);
        for (number, plugin) in self.plugins.iter().enumerate() {
            let admitted = match step {
                Step::Mutate => plugin.mutate(request),
                Step::Validate => plugin.validate(request),
            };
            outcome = admitted.resolve().await;
            let now = Instant::now();
            tell(Some(number), outcome.is_err(), now - before);
            before = now;
            if outcome.is_err() {
                break;
            }
        }
        tell(None, outcome.is_err(), before - began);
        outcome
    }

    /// The names of the plugins, by their numbers.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.plugins.iter().map(|plugin| plugin.name())
    }

    /// The fields that plugins add to new objects of a kind.
    pub fn added_fields(&self, def: &ResourceDef) -> impl Iterator<Item = &FieldPath> {
        self.plugins.iter().flat_map(|plugin| plugin.added_fields(def))
    }

    /// Whether a plugin adds to new objects of a kind what has no path.
    pub fn adds_items(&self, def: &ResourceDef) -> bool {
        self.plugins.iter().any(|plugin| plugin.adds_items(def))
    }

    /// The kinds of which plugins read objects for new ones of `def`.
    pub fn reads(&self, def: &ResourceDef) -> impl Iterator<Item = &'static ResourceDef> {
        self.plugins.iter().filter_map(|plugin| plugin.reads(def))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct TestPlugin(&'static str, bool);

    impl AdmissionPlugin for TestPlugin {
        fn name(&self) -> &'static str {
            self.0
        }

        fn is_on_by_default(&self) -> bool {
            self.1
        }
    }

    fn chain(enabled: &[&str], disabled: &[&str]) -> Result<Vec<&'static str>, (&'static str, String)> {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let config = AdmissionConfig { enabled: names(enabled), disabled: names(disabled) };
        let plugins: Vec<Box<dyn AdmissionPlugin>> = vec![
            Box::new(TestPlugin("First", true)),
            Box::new(TestPlugin("Rare", false)),
            Box::new(TestPlugin("Last", true)),
        ];
        let chain = AdmissionChain::new(plugins, &config)?;
        Ok(chain.names().collect())
    }

    #[test]
    fn operators_turn_plugins_on_and_off() {
        assert_eq!(chain(&[], &[]).unwrap(), ["First", "Last"]);
        assert_eq!(chain(&["Rare", "Last"], &["First"]).unwrap(), ["Rare", "Last"]);
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = "there is no plugin Lost (one of: First, Rare, Last)".to_owned();
        assert_eq!(chain(&["Lost"], &[]).unwrap_err(), ("--enable-admission-plugins", unknown.clone()));
        assert_eq!(chain(&[], &["Lost"]).unwrap_err(), ("--disable-admission-plugins", unknown));
        let both = "First is in --disable-admission-plugins too".to_owned();
        assert_eq!(chain(&["First"], &["First"]).unwrap_err(), ("--enable-admission-plugins", both));
    }
}
