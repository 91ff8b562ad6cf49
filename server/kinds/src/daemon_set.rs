//! `DaemonSet`: an annotation counts the changes of its template, for clients that still look there.

use orch_api::apps::v1::DaemonSet;
use orch_runtime::object::{ApiObject, SetDefaults};

use super::{Change, Hooks};

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

pub(super) struct DaemonSetHooks;

impl Hooks for DaemonSetHooks {
    fn prepare(&self, object: &mut dyn ApiObject, old: Option<&dyn ApiObject>, change: &Change<'_>) {
        let Some(set) = object.as_any_mut().downcast_mut::<DaemonSet>() else { return };
        let generation = match old.and_then(|old| old.as_any().downcast_ref::<DaemonSet>()) {
            None => template_generation(set).max(1),
            Some(old) => {
                set.spec.template.set_defaults();
                let is_changed = change.subresource.is_empty() && set.spec.template != old.spec.template;
                template_generation(old).saturating_add(i64::from(is_changed))
            }
        };
        set.metadata.annotations.insert(TEMPLATE_GENERATION.to_owned(), generation.to_string());
    }

    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        &[TEMPLATE_GENERATION]
    }
}

fn template_generation(set: &DaemonSet) -> i64 {
    let text = set.metadata.annotations.get(TEMPLATE_GENERATION);
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}
