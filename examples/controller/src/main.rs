//! A controller of widgets: each one gets a config map with its recipe, and says how many pieces are made.

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use orch_client::{
    Settings,
    k8s_openapi::api::core::v1::ConfigMap,
    kube::{
        Api, Client, Error, Resource, ResourceExt,
        api::{Patch, PatchParams},
        runtime::{controller::Action, controller::Controller, watcher},
    },
};
use serde_json::json;

use crate::example::v1::client::Widget;

include!(concat!(env!("OUT_DIR"), "/controller.rs"));

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    control(Settings::new().client()?).await;
    Ok(())
}

/// Brings all widgets to where they should be, for as long as it is polled.
async fn control(client: Client) {
    Controller::new(Api::<Widget>::all(client.clone()), watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .run(reconcile, |_, error, _| Action::requeue(retry(error)), Arc::new(client))
        .for_each(|outcome| async move { drop(outcome.inspect_err(|error| eprintln!("{error}"))) })
        .await;
}

async fn reconcile(widget: Arc<Widget>, client: Arc<Client>) -> Result<Action, Error> {
    let namespace = widget.namespace().unwrap_or_default();
    let (widgets, recipes): (Api<Widget>, Api<ConfigMap>) =
        (Api::namespaced((*client).clone(), &namespace), Api::namespaced((*client).clone(), &namespace));
    let pieces = widget.spec.replicas.unwrap_or(1);
    let mut recipe = ConfigMap::default();
    recipe.metadata.name = Some(format!("{}-recipe", widget.name_any()));
    recipe.metadata.owner_references = Some(widget.controller_owner_ref(&()).into_iter().collect());
    recipe.data = Some([("pieces".to_owned(), pieces.to_string())].into());
    let apply = PatchParams::apply("recipes").force();
    recipes.patch(&recipe.name_any(), &apply, &Patch::Apply(&recipe)).await?;
    if widget.status.made != Some(pieces) {
        let made = json!({"status": {"made": pieces}});
        widgets.patch_status(&widget.name_any(), &PatchParams::default(), &Patch::Merge(made)).await?;
    }
    Ok(Action::await_change())
}

fn retry(_: &Error) -> Duration {
    Duration::from_secs(1)
}

#[cfg(test)]
mod tests;
