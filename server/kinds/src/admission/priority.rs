//! `Priority`: a new pod gets the priority of the class that it names, else of the default class, else 0.

use orch_api::{
    core::v1::{Pod, PodSpec},
    scheduling::v1::PriorityClass,
};
use orch_auth::answer::Answer;
use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    catalog::ServedResource,
    error::{ApiError, Result},
    objects::Objects,
    stored,
};
use orch_runtime::{
    object::Kind,
    resource_def::{FieldPath, ResourceDef},
};
use orch_storage::Object;

use super::{created, is};

const PREEMPT: &str = "PreemptLowerPriority";

pub(crate) struct Priority;

impl AdmissionPlugin for Priority {
    fn name(&self) -> &'static str {
        "Priority"
    }

    fn mutate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        Answer::Ready(assign(request))
    }

    fn added_fields(&self, def: &ResourceDef) -> &'static [FieldPath] {
        if is::<Pod>(def) {
            &[&["spec", "priority"], &["spec", "preemptionPolicy"], &["spec", "priorityClassName"]]
        } else {
            &[]
        }
    }
}

/// What a class gives to its pods; remembered with each state of it.
#[derive(Clone)]
struct Class {
    name: String,
    priority: i32,
    preemption_policy: String,
    is_default: bool,
}

/// `None` for a stored class that cannot be read: it counts as absent.
struct Remembered(Option<Class>);

/// Gives a new pod what its class says.
///
/// # Errors
/// 403 where its class does not exist, or where the pod itself says something else than its class.
fn assign(request: &mut AdmissionRequest<'_>) -> Result<()> {
    let (objects, resource, name) = (request.objects, request.resource, request.name);
    let Some(pod) = created::<Pod>(request) else { return Ok(()) };
    let spec = &mut pod.spec;
    let class = match spec.priority_class_name.as_str() {
        "" => default(objects).unwrap_or_else(Class::none),
        class => named(objects, class).ok_or_else(|| {
            ApiError::not_admitted(resource, name, &format!("no PriorityClass with name {class} was found"))
        })?,
    };
    check_own_values(spec, &class).map_err(|why| ApiError::not_admitted(resource, name, &why))?;
    spec.priority_class_name = class.name;
    spec.priority = Some(class.priority);
    spec.preemption_policy = Some(class.preemption_policy);
    Ok(())
}

/// A pod may only have the values of its class. The error says which one differs.
fn check_own_values(spec: &PodSpec, class: &Class) -> Result<(), String> {
    let Class { priority, preemption_policy, .. } = class;
    if let Some(own) = spec.priority.filter(|own| own != priority) {
        return Err(format!(
            "the integer value of priority ({own}) must not be provided in pod spec; \
             priority admission controller computed {priority} from the given PriorityClass name"
        ));
    }
    match &spec.preemption_policy {
        Some(own) if own != preemption_policy => Err(format!(
            "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; \
             priority admission controller computed {preemption_policy} from the given PriorityClass name"
        )),
        _ => Ok(()),
    }
}

fn named(objects: &Objects, name: &str) -> Option<Class> {
    // A server without the kind has no classes.
    let classes = objects.catalog().served(PriorityClass::RESOURCE)?;
    let snapshot = objects.snapshot(classes);
    Class::of(classes, snapshot.get("", name)?).cloned()
}

/// Of several classes that are marked as default, the one with the lowest priority.
fn default(objects: &Objects) -> Option<Class> {
    let classes = objects.catalog().served(PriorityClass::RESOURCE)?;
    let snapshot = objects.snapshot(classes);
    let all = snapshot.iter().filter_map(|object| Class::of(classes, object));
    all.filter(|class| class.is_default).min_by_key(|class| class.priority).cloned()
}

impl Class {
    /// What pods get where no class applies.
    fn none() -> Self {
        let preemption_policy = PREEMPT.to_owned();
        Class { name: String::new(), priority: 0, preemption_policy, is_default: false }
    }

    fn of<'o>(classes: &ServedResource, object: &'o Object) -> Option<&'o Self> {
        object.memo::<Remembered>(|object| Remembered(Self::read(classes, object))).0.as_ref()
    }

    fn read(classes: &ServedResource, object: &Object) -> Option<Self> {
        let tree = stored::tree_of(classes, object).ok()?;
        let class: PriorityClass = serde_json::from_value(tree).ok()?;
        Some(Class {
            name: class.metadata.name,
            priority: class.value,
            preemption_policy: class.preemption_policy.unwrap_or_else(|| PREEMPT.to_owned()),
            is_default: class.global_default,
        })
    }
}
