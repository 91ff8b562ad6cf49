//! `DaemonSet`: an annotation counts the changes of its template. It stands in for a field of older versions
//! of the kind (`spec.templateGeneration`).

use orch_api::apps::v1::DaemonSet;
use orch_machinery::gated::GatedFields;
use orch_registry::behaviour::{Behaviour, Overruled, WriteInfo, as_sent};
use orch_runtime::{Tree, object::SetDefaults, resource_def::FieldPath, type_def::TypeDef};

use crate::gated_pods;

const TEMPLATE_GENERATION: &str = "deprecated.daemonset.template.generation";

pub(crate) struct DaemonSetBehaviour;

impl Behaviour<DaemonSet> for DaemonSetBehaviour {
    fn drop_gated(&self, set: &mut Tree, old: Option<&Tree>, gated: &GatedFields, def: &'static TypeDef) {
        gated_pods::drop_gated("/spec/template/spec", set, old, gated, def);
    }

    fn prepare(&self, set: &mut DaemonSet, old: Option<&DaemonSet>, write: &WriteInfo<'_>) {
        let generation = match old {
            None => template_generation(set).max(1),
            Some(old) => {
                set.spec.template.set_defaults();
                let is_changed = write.subresource.is_empty() && set.spec.template != old.spec.template;
                template_generation(old).saturating_add(i64::from(is_changed))
            }
        };
        set.metadata.annotations.insert(TEMPLATE_GENERATION.to_owned(), generation.to_string());
    }

    /// A set without the annotation counts as one that was never changed.
    fn overruled(&self, sent: &Tree, _current: &Tree) -> Vec<Overruled> {
        const COUNT: FieldPath = &["metadata", "annotations", TEMPLATE_GENERATION];
        let (path, count) = as_sent(sent, COUNT);
        vec![(path, count.or(Some("0".into())))]
    }

    /// All that is warned of is in the template.
    fn warns_of_change(&self, set: &Tree, old: &Tree) -> bool {
        set.pointer("/spec/template") != old.pointer("/spec/template")
    }

    fn annotations_of_the_whole(&self) -> &'static [&'static str] {
        &[TEMPLATE_GENERATION]
    }
}

fn template_generation(set: &DaemonSet) -> i64 {
    let text = set.metadata.annotations.get(TEMPLATE_GENERATION);
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}
