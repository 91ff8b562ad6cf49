//! The controller against a server in the same process, in both vocabularies: nothing is listened on, and
//! nothing is installed.

use std::time::Duration;

use orch_apiserver::{InProcess, Server, config::Config};
use orch_client::{
    k8s_openapi::api::core::v1::{ConfigMap, Namespace},
    kube::{
        Api, Client, Error, ResourceExt,
        api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
        core::ObjectMeta,
    },
};
use serde_json::json;

use crate::{
    control,
    example::v1::{Colour, WidgetSpec, client::Widget},
};

async fn plane(vocabulary: &str) -> InProcess {
    let config = Config::from_flags([format!("--vocabulary={vocabulary}")], orch_api::VOCABULARIES).unwrap();
    let tables = orch_api::registry().iter().chain(crate::registry()).copied();
    Server::builder(config).resources(tables).in_process().await.unwrap()
}

fn widget(name: &str, replicas: Option<i32>) -> Widget {
    Widget {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: WidgetSpec { colour: Colour::Green, replicas, ..WidgetSpec::default() },
        ..Widget::default()
    }
}

/// Asks until there is an answer.
async fn eventually<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asked = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), asked).await.expect("it happens within a minute")
}

#[tokio::test]
async fn every_widget_gets_a_recipe_that_goes_with_it() {
    for vocabulary in ["orch", "kubernetes"] {
        let plane = plane(vocabulary).await;
        let client = Client::new(plane.service(), "default");
        let controller = tokio::spawn(control(client.clone()));
        let widgets: Api<Widget> = Api::namespaced(client.clone(), "default");
        let recipes: Api<ConfigMap> = Api::namespaced(client.clone(), "default");

        let created = widgets.create(&PostParams::default(), &widget("a", Some(2))).await.unwrap();
        assert_eq!(created.spec, widget("a", Some(2)).spec);
        let made = eventually(async || widgets.get_status("a").await.unwrap().status.made).await;
        assert_eq!(made, 2, "{vocabulary}");
        // What it owns is made again.
        let recipe = recipes.get("a-recipe").await.unwrap();
        assert_eq!(recipe.data.unwrap()["pieces"], "2");
        recipes.delete("a-recipe", &DeleteParams::default()).await.unwrap();
        eventually(async || recipes.get_opt("a-recipe").await.unwrap()).await;

        // Garbage is collected, and namespaces are emptied.
        controller.abort();
        widgets.delete("a", &DeleteParams::default()).await.unwrap();
        eventually(async || recipes.get_opt("a-recipe").await.unwrap().is_none().then_some(())).await;
        let namespaces: Api<Namespace> = Api::all(client);
        widgets.create(&PostParams::default(), &widget("b", None)).await.unwrap();
        let all = widgets.list(&ListParams::default()).await.unwrap();
        assert_eq!(all.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["b"]);
        assert_eq!(all.items[0].spec.replicas, Some(1), "defaults are filled in");
        let extra = json!({"metadata": {"name": "extra"}});
        namespaces.create(&PostParams::default(), &serde_json::from_value(extra).unwrap()).await.unwrap();
        namespaces.delete("extra", &DeleteParams::default()).await.unwrap();
        eventually(async || namespaces.get_opt("extra").await.unwrap().is_none().then_some(())).await;
        plane.stop().await.unwrap();
    }
}

#[tokio::test]
async fn objects_are_applied_and_their_mistakes_are_told() {
    for vocabulary in ["orch", "kubernetes"] {
        let plane = plane(vocabulary).await;
        let widgets: Api<Widget> = Api::default_namespaced(Client::new(plane.service(), "default"));
        let apply = async |manager: &str, replicas| {
            let patch = Patch::Apply(widget("a", Some(replicas)));
            widgets.patch("a", &PatchParams::apply(manager), &patch).await
        };
        let first = apply("one", 2).await.unwrap();
        assert_eq!((first.spec.replicas, first.metadata.generation), (Some(2), Some(1)));
        let Error::Api(conflict) = apply("two", 3).await.unwrap_err() else { panic!("no conflict") };
        assert!(conflict.message.contains(".spec.replicas"), "{}", conflict.message);
        let owners = widgets.get("a").await.unwrap().metadata.managed_fields.unwrap_or_default();
        let spelled: Vec<_> = owners.iter().filter_map(|owner| owner.api_version.as_deref()).collect();
        assert_eq!(spelled, ["example.orch.io/v1"], "{vocabulary}");

        let mut wrong = widget("b", Some(-1));
        wrong.spec.colour = "Pink".into();
        let Error::Api(refused) = widgets.create(&PostParams::default(), &wrong).await.unwrap_err() else {
            panic!("it is accepted")
        };
        let causes = refused.details.unwrap().causes;
        let fields: Vec<_> = causes.iter().map(|cause| cause.field.as_str()).collect();
        assert_eq!(fields, ["spec.colour", "spec.replicas"]);
        let mut changed = widgets.get("a").await.unwrap();
        changed.status.made = Some(7);
        let changed = widgets.replace_status("a", &PostParams::default(), &changed).await.unwrap();
        assert_eq!((changed.status.made, changed.spec.replicas), (Some(7), Some(2)));
    }
}
