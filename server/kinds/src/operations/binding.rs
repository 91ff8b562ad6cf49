//! `pods/binding` and `bindings`: assigns a pod to a node, once. Schedulers post it.

use futures_util::future::BoxFuture;
use orch_api::{
    core::v1::{Binding, Pod},
    meta::v1::Status,
};
use orch_machinery::meta::{Meta, MetaMut, field};
use orch_registry::{
    answer::Answer,
    error::{ApiError, ResourceName, Result},
    objects::Current,
    operation::{Operation, OperationContext},
    request::Target,
    write::server_change,
};
use orch_runtime::{
    Tree,
    field_error::Validation,
    object::{Kind as _, Validate as _},
    path::Path,
};
use serde_json::json;

use super::condition;
use crate::name_parameter;

/// How conflicts name what was tried.
const RESOURCE: &str = "pods/binding";

pub(crate) struct Bind;

impl Operation for Bind {
    type Body = Binding;

    fn perform<'a>(
        &'a self,
        context: OperationContext<'a>,
        mut binding: Binding,
    ) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let OperationContext { cx, target, options } = context;
            if target.subresource.is_some() && binding.metadata.name != target.name {
                let message = "name in URL does not match name in Binding object";
                return Err(ApiError::BadRequest(message.to_owned()));
            }
            validate(context, &binding)?;
            if target.subresource.is_none() {
                // As in the reference, where an object that is created has no uid yet.
                binding.metadata.uid.clear();
            }
            let pods = cx.core.catalog().served(Pod::RESOURCE).ok_or(ApiError::UnknownResource)?;
            let pod = Target::item(pods, &*target.namespace, &binding.metadata.name);
            let now = cx.core.now().to_string();
            if options.dry_run {
                let current = cx.core.objects().find(pods, &pod.namespace, &pod.name)?;
                bound(&pod, &current, &binding, &now)?;
            } else {
                let change = |current: &Current| bound(&pod, current, &binding, &now);
                server_change::change(cx, &pod, change).await?;
            }
            let done = Status { status: "Success".to_owned(), code: 201, ..Status::default() };
            Ok(Answer::Status(Box::new(done)))
        })
    }
}

/// The target is a node, as the schema says.
///
/// # Errors
/// 422 for another target, of which the reference says 500; 400 without a name, and for one that no pod can
/// have.
fn validate(context: OperationContext<'_>, binding: &Binding) -> Result<()> {
    let mut violations = Validation::new(context.cx.core.vocabulary());
    binding.validate(&Path::ROOT, &mut violations);
    if !violations.is_empty() {
        return Err(ApiError::Invalid {
            group: String::new(),
            kind: Binding::RESOURCE.kind.to_owned(),
            name: binding.metadata.name.clone(),
            errors: violations.into_errors(),
        });
    }
    name_parameter::check(&binding.metadata.name)
}

/// The pod on its node. Its uid and version are preconditions where the binding has them.
fn bound(target: &Target<'_>, current: &Current, binding: &Binding, now: &str) -> Result<Tree> {
    check_preconditions(target, current, binding)?;
    let name = &*target.name;
    let pod = &current.tree;
    let refused = |cause: String| {
        let resource = ResourceName { group: String::new(), resource: RESOURCE.to_owned() };
        Err(ApiError::Conflict { resource, name: name.to_owned(), cause })
    };
    if Meta::of(pod).deletion_timestamp().is_some() {
        return refused(format!("pod {name} is being deleted, cannot be assigned to a host"));
    }
    let node = pod.pointer("/spec/nodeName").and_then(Tree::as_str).unwrap_or_default();
    if !node.is_empty() {
        return refused(format!("pod {name} is already assigned to node \"{node}\""));
    }
    let gates = pod.pointer("/spec/schedulingGates").and_then(Tree::as_array);
    if gates.is_some_and(|gates| !gates.is_empty()) {
        return refused(format!("pod {name} has non-empty .spec.schedulingGates"));
    }
    let mut tree = pod.clone();
    if let Some(spec) = tree.get_mut("spec").and_then(Tree::as_object_mut) {
        spec.insert("nodeName".to_owned(), binding.target.name.as_str().into());
    }
    annotate(&mut tree, binding);
    let scheduled = json!({
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
    });
    condition::set(&mut tree, scheduled);
    Ok(tree)
}

/// The annotations of the binding become annotations of the pod.
fn annotate(pod: &mut Tree, binding: &Binding) {
    if binding.metadata.annotations.is_empty() {
        return;
    }
    let mut metadata = MetaMut::of(pod);
    let mut annotations = metadata.remove(field::ANNOTATIONS).unwrap_or_else(|| json!({}));
    if let Some(annotations) = annotations.as_object_mut() {
        let added = binding.metadata.annotations.iter();
        annotations.extend(added.map(|(key, value)| (key.clone(), value.as_str().into())));
    }
    metadata.set(field::ANNOTATIONS, Some(annotations));
}

fn check_preconditions(target: &Target<'_>, current: &Current, binding: &Binding) -> Result<()> {
    let uid = Meta::of(&current.tree).uid();
    let version = current.revision().to_string();
    let wanted = &binding.metadata;
    for (what, wanted, have) in
        [("UID", &wanted.uid, uid), ("ResourceVersion", &wanted.resource_version, version.as_str())]
    {
        if !wanted.is_empty() && wanted != have {
            return Err(ApiError::failed_precondition(
                target.resource,
                (&*target.namespace, &*target.name),
                what,
                wanted,
                have,
            ));
        }
    }
    Ok(())
}
