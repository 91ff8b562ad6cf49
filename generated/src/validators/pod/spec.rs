//! Rules about several parts of a pod.

use orch_meta::validators::annotations_size;
use orch_runtime::{field_error::Validation, object::Validate, path::Path};

use super::{
    resources::{container_resources, overhead},
    scheduling::topology_spreads,
};
use crate::core::v1::{Pod, PodSpec, PodTemplateSpec};

/// Amounts of resources are valid, and nodes are spread once by each key.
pub fn pod_spec(value: &PodSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    for (field, containers) in [("containers", &value.containers), ("initContainers", &value.init_containers)]
    {
        let list = path.field(field);
        for (index, container) in containers.iter().enumerate() {
            container_resources(&container.resources, &list.index(index).field("resources"), cx);
        }
    }
    let list = path.field("ephemeralContainers");
    for (index, container) in value.ephemeral_containers.iter().enumerate() {
        container_resources(&container.resources, &list.index(index).field("resources"), cx);
    }
    topology_spreads(&value.topology_spread_constraints, &path.field("topologySpreadConstraints"), cx);
    overhead(&value.overhead, &path.field("overhead"), cx);
    if let Some(resources) = &value.resources {
        container_resources(resources, &path.field("resources"), cx);
    }
}

/// Tolerations are judged again where a pod changes.
pub fn tolerations_again(new: &Pod, _old: &Pod, path: &Path<'_>, cx: &mut Validation<'_>) {
    let spec = path.field("spec");
    let tolerations = spec.field("tolerations");
    for (index, toleration) in new.spec.tolerations.iter().enumerate() {
        toleration.validate(&tolerations.index(index), cx);
    }
}

/// Annotations of the template of a pod are no larger than those of an object.
pub fn pod_template_annotations(value: &PodTemplateSpec, path: &Path<'_>, cx: &mut Validation<'_>) {
    let metadata = path.field("metadata");
    annotations_size(&value.metadata.annotations, &metadata.field("annotations"), cx);
}
