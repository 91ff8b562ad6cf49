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
    object::{Kind, typed_from_tree},
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
        let class: PriorityClass = typed_from_tree(tree).ok()?;
        Some(Class {
            name: class.metadata.name,
            priority: class.value,
            preemption_policy: class.preemption_policy.unwrap_or_else(|| PREEMPT.to_owned()),
            is_default: class.global_default,
        })
    }
}

#[cfg(test)]
mod tests {
    use orch_runtime::Tree;
    use serde_json::json;

    use super::*;
    use crate::testing::{NAMESPACE, TestServer, is_owned};

    async fn pod(server: &TestServer, name: &str, with: Tree) -> Result<Tree> {
        let mut pod = json!({
            "metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}]},
        });
        let Tree::Object(fields) = with else { panic!("a specification has fields") };
        pod["spec"].as_object_mut().unwrap().extend(fields);
        server.create::<Pod>(NAMESPACE, pod).await
    }

    fn given(pod: &Tree) -> (&str, i64, &str) {
        let text = |name: &str| pod["spec"][name].as_str().unwrap_or_default();
        (text("priorityClassName"), pod["spec"]["priority"].as_i64().unwrap(), text("preemptionPolicy"))
    }

    async fn class(server: &TestServer, name: &str, value: i32, is_default: bool) {
        let class = json!({"metadata": {"name": name}, "value": value, "globalDefault": is_default});
        server.create::<PriorityClass>("", class).await.unwrap();
    }

    #[tokio::test]
    async fn pods_get_what_their_class_says() {
        let server = TestServer::start().await;
        let plain = pod(&server, "plain", json!({})).await.unwrap();
        assert_eq!(given(&plain), ("", 0, PREEMPT));
        assert!(!is_owned(&plain, &["f:spec", "f:priority"]));
        class(&server, "high", 9, true).await;
        class(&server, "low", 2, true).await;
        let of_default = pod(&server, "default", json!({})).await.unwrap();
        assert_eq!(given(&of_default), ("low", 2, PREEMPT));
        assert!(!is_owned(&of_default, &["f:spec", "f:priorityClassName"]));
        let named = pod(&server, "named", json!({"priorityClassName": "high", "priority": 9})).await.unwrap();
        assert_eq!(given(&named), ("high", 9, PREEMPT));
        assert!(is_owned(&named, &["f:spec", "f:priorityClassName"]));

        let no_default = |tree: &mut Tree| tree["globalDefault"] = false.into();
        server.update::<PriorityClass>("", "", "low", no_default).await.unwrap();
        let of_other = pod(&server, "other", json!({})).await.unwrap();
        assert_eq!(given(&of_other), ("high", 9, PREEMPT));
    }

    #[tokio::test]
    async fn pods_cannot_differ_from_their_class() {
        let server = TestServer::start().await;
        class(&server, "high", 9, false).await;
        for (with, expected) in [
            (json!({"priorityClassName": "lost"}), "no PriorityClass with name lost was found"),
            (
                json!({"priority": 3}),
                "the integer value of priority (3) must not be provided in pod spec; \
                 priority admission controller computed 0 from the given PriorityClass name",
            ),
            (
                json!({"priorityClassName": "high", "preemptionPolicy": "Never"}),
                "the string value of PreemptionPolicy (Never) must not be provided in pod spec; \
                 priority admission controller computed PreemptLowerPriority from the given PriorityClass \
                 name",
            ),
        ] {
            let refused = pod(&server, "p", with).await.unwrap_err();
            assert_eq!(refused, ApiError::not_admitted(server.resource::<Pod>(), "p", expected));
        }
    }
}
