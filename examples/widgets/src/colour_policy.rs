//! An admission plugin: who may make and delete red widgets.

use orch_registry::{
    admission::{AdmissionPlugin, AdmissionRequest, Admitted},
    error::ApiError,
};
use orch_runtime::{object::Kind, resource_def::Verb};

use crate::{Widget, example::v1::Colour};

/// Members may make and delete red widgets, and so may whoever may do everything.
const PAINTERS: [&str; 2] = ["painters", "system:masters"];

pub struct ColourPolicy;

impl AdmissionPlugin for ColourPolicy {
    fn name(&self) -> &'static str {
        "ColourPolicy"
    }

    fn validate<'a>(&'a self, request: &'a mut AdmissionRequest<'_>) -> Admitted<'a> {
        Admitted::Ready(check(request))
    }
}

fn check(request: &AdmissionRequest<'_>) -> Result<(), ApiError> {
    let is_widget = std::ptr::eq(request.resource.def, Widget::RESOURCE);
    let object = match request.operation {
        Verb::Create => request.object.as_deref(),
        Verb::Delete => request.old,
        _ => None,
    };
    let Some(object) = object.filter(|_| is_widget) else { return Ok(()) };
    let widget = object.as_any().downcast_ref::<Widget>();
    let is_red = widget.is_some_and(|widget| widget.spec.colour == Colour::Red);
    if !is_red || PAINTERS.iter().any(|group| request.user.in_group(group)) {
        return Ok(());
    }
    Err(ApiError::not_admitted(
        request.resource,
        request.name,
        "only painters may make and delete red widgets",
    ))
}
