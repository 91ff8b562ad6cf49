//! The priority of a new pod: that of the class that it names, of the default class, or none.

use orch_api::{
    core::v1::{Pod, PodSpec},
    scheduling::v1::PriorityClass,
};
use orch_runtime::Tree;

use crate::{app::App, catalog::ServedResource, registry::current};

const PREEMPT: &str = "PreemptLowerPriority";

/// What a class gives to its pods.
struct Given {
    class: String,
    priority: i32,
    preemption_policy: String,
}

/// Gives a new pod what its class says.
///
/// # Errors
/// Why the pod is not admitted: its class does not exist, or it says something else itself.
pub(super) fn assign(app: &App, pod: &mut Pod) -> Result<(), String> {
    // A server without the kind has no classes; every pod is as important as any other.
    let classes = app.catalog.resources().find(|served| is_classes(served));
    let spec = &mut pod.spec;
    let Given { class, priority, preemption_policy } = match (spec.priority_class_name.as_str(), classes) {
        ("", None) => Given::without_class(),
        ("", Some(classes)) => default(app, classes).unwrap_or_else(Given::without_class),
        (name, classes) => {
            let named = classes.and_then(|classes| named(app, classes, name));
            named.ok_or_else(|| format!("no PriorityClass with name {name} was found"))?
        }
    };
    refuse_own_values(spec, priority, &preemption_policy)?;
    spec.priority_class_name = class;
    spec.priority = Some(priority);
    spec.preemption_policy = Some(preemption_policy);
    Ok(())
}

/// Groups go by their first word: what follows is a matter of vocabulary.
fn is_classes(served: &ServedResource) -> bool {
    served.def.plural == "priorityclasses" && served.def.group.starts_with("scheduling.")
}

fn refuse_own_values(spec: &PodSpec, priority: i32, preemption_policy: &str) -> Result<(), String> {
    if let Some(own) = spec.priority.filter(|own| *own != priority) {
        return Err(format!(
            "the integer value of priority ({own}) must not be provided in pod spec; priority admission controller computed \
             {priority} from the given PriorityClass name"
        ));
    }
    match &spec.preemption_policy {
        Some(own) if own != preemption_policy => Err(format!(
            "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; priority admission controller \
             computed {preemption_policy} from the given PriorityClass name"
        )),
        _ => Ok(()),
    }
}

fn named(app: &App, classes: &ServedResource, name: &str) -> Option<Given> {
    let snapshot = app.storage.snapshot(&classes.storage_name);
    let tree = current::tree_of(classes, snapshot.get("", name)?).ok()?;
    Given::by(tree)
}

/// Of several classes that say that they are the default, the least important one.
fn default(app: &App, classes: &ServedResource) -> Option<Given> {
    let snapshot = app.storage.snapshot(&classes.storage_name);
    let trees = snapshot.iter().filter_map(|object| current::tree_of(classes, object).ok());
    let defaults = trees.filter(|tree| tree.get("globalDefault").and_then(Tree::as_bool) == Some(true));
    defaults.filter_map(Given::by).min_by_key(|given| given.priority)
}

impl Given {
    fn without_class() -> Self {
        Given { class: String::new(), priority: 0, preemption_policy: PREEMPT.to_owned() }
    }

    /// What is in the store is of its kind; what is damaged counts as absent.
    fn by(tree: Tree) -> Option<Self> {
        let class: PriorityClass = serde_json::from_value(tree).ok()?;
        Some(Given {
            class: class.metadata.name,
            priority: class.value,
            preemption_policy: class.preemption_policy.unwrap_or_else(|| PREEMPT.to_owned()),
        })
    }
}
