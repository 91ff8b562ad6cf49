//! A controller: every widget owns a config map with its recipe, and says how many pieces are made.

use orch_api::core::v1::ConfigMap;
use orch_controllers::{Action, Context, Controller, ObjectKey, Trigger};
use orch_registry::error::Result;
use orch_runtime::{object::Kind, text_enum::TextEnum};
use serde_json::json;

use crate::Widget;

pub struct Recipes;

impl Controller for Recipes {
    type Resource = Widget;

    fn name(&self) -> &'static str {
        "recipes"
    }

    /// A recipe that somebody changes or deletes is made again.
    fn also_watches(&self) -> Vec<Trigger> {
        vec![Trigger::owner::<Widget, ConfigMap>()]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        let widgets = cx.api::<Widget>()?;
        let found = widgets.lookup(&key.namespace, &key.name)?;
        let Some(mut widget) = found.filter(|widget| widget.metadata.deletion_timestamp.is_none()) else {
            return Ok(Action::Done);
        };
        let name = format!("{}-recipe", key.name);
        let recipe = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": name, "namespace": &*key.namespace,
                "ownerReferences": [{
                    "apiVersion": widgets.resource().api_version, "kind": Widget::RESOURCE.kind,
                    "name": &*key.name, "uid": widget.metadata.uid, "controller": true,
                }],
            },
            "data": {
                "colour": widget.spec.colour.as_str(),
                "pieces": widget.spec.replicas.unwrap_or(1).to_string(),
            },
        });
        // An apply of what is there already changes nothing.
        cx.client().apply(cx.served::<ConfigMap>()?, &key.namespace, &name, &recipe, true).await?;
        if widget.status.made != widget.spec.replicas {
            widget.status.made = widget.spec.replicas;
            widgets.update_status(&widget).await?;
        }
        Ok(Action::Done)
    }
}
