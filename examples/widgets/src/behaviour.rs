//! Behaviour of widgets: a label that follows the colour, and a rule that compares two parts of an object.

use orch_registry::behaviour::{Behaviour, WriteInfo};
use orch_runtime::{
    field_error::{FieldError, Validation},
    path::Path,
    text_enum::TextEnum,
};

use crate::Widget;

/// Widgets can be selected by this label.
const COLOUR: &str = "example.orch.io/colour";

pub struct WidgetBehaviour;

impl Behaviour<Widget> for WidgetBehaviour {
    fn prepare(&self, widget: &mut Widget, _old: Option<&Widget>, _write: &WriteInfo<'_>) {
        let colour = widget.spec.colour.as_str().to_owned();
        widget.metadata.labels.insert(COLOUR.to_owned(), colour);
    }

    /// Pieces that are made cannot be unmade.
    fn validate(
        &self,
        widget: &Widget,
        old: Option<&Widget>,
        write: &WriteInfo<'_>,
        violations: &mut Validation<'_>,
    ) {
        let made = old.and_then(|old| old.status.made).unwrap_or_default();
        let wanted = widget.spec.replicas.unwrap_or_default();
        if write.subresource != "status" && wanted < made {
            let path = Path::ROOT.field("spec");
            let detail = format!("must be at least {made}: so many pieces are made already");
            violations.push(FieldError::invalid(&path.field("replicas"), &wanted, &detail));
        }
    }
}
