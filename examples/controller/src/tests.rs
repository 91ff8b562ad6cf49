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
async fn widgets_are_scaled() {
    for vocabulary in ["orch", "kubernetes"] {
        let plane = plane(vocabulary).await;
        let widgets: Api<Widget> = Api::default_namespaced(Client::new(plane.service(), "default"));
        let (create, by) = (PostParams::default(), |manager: &str| PatchParams::apply(manager));
        widgets.create(&create, &widget("a", Some(2))).await.unwrap();
        let scale = widgets.get_scale("a").await.unwrap();
        assert_eq!(scale.metadata.name.as_deref(), Some("a"));
        assert_eq!(scale.spec.as_ref().and_then(|spec| spec.replicas), Some(2), "{vocabulary}");

        // A PUT in the version that was read, and one that comes too late.
        let with = |replicas| {
            let mut scale = scale.clone();
            scale.spec.as_mut().unwrap().replicas = Some(replicas);
            scale
        };
        let replaced = widgets.replace_scale("a", &create, &with(3)).await.unwrap();
        assert_eq!(replaced.spec.unwrap().replicas, Some(3));
        let Error::Api(late) = widgets.replace_scale("a", &create, &with(4)).await.unwrap_err() else {
            panic!("it is taken")
        };
        assert_eq!((late.code, late.reason.as_str()), (409, "Conflict"));
        let changed = widgets.get("a").await.unwrap();
        assert_eq!((changed.spec.replicas, changed.metadata.generation), (Some(3), Some(2)));

        // An apply owns the number, and conflicts with others.
        let applied = |replicas: i32| {
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"},
                "spec": {"replicas": replicas}})
        };
        let patch = widgets.patch_scale("a", &by("scaler"), &Patch::Apply(applied(5))).await;
        let Error::Api(conflict) = patch.unwrap_err() else { panic!("no conflict") };
        assert!(conflict.message.contains(".spec.replicas"), "{}", conflict.message);
        let force = by("scaler").force();
        let patched = widgets.patch_scale("a", &force, &Patch::Apply(applied(5))).await.unwrap();
        assert_eq!(patched.spec.unwrap().replicas, Some(5));
        let owners = widgets.get("a").await.unwrap().metadata.managed_fields.unwrap_or_default();
        let of_scale: Vec<_> = owners
            .iter()
            .filter(|owner| owner.subresource.as_deref() == Some("scale"))
            .map(|owner| {
                let fields = owner.fields_v1.as_ref().map(|fields| fields.0.clone());
                (owner.manager.clone(), owner.operation.clone(), owner.api_version.clone(), fields)
            })
            .collect();
        let text = |text: &str| Some(text.to_owned());
        let number = json!({"f:spec": {"f:replicas": {}}});
        let expected = (text("scaler"), text("Apply"), text("example.orch.io/v1"), Some(number));
        assert_eq!(of_scale, [expected], "{vocabulary}");

        for (patch, expected) in [
            (
                json!({"spec": {"replicas": -1}}),
                "Scale.autoscaling \"a\" is invalid: spec.replicas: Invalid value: -1: \
                 must be greater than or equal to 0",
            ),
            (json!({"kind": "Widget"}), "Invalid value"),
        ] {
            let refused = widgets.patch_scale("a", &PatchParams::default(), &Patch::Merge(patch)).await;
            let Error::Api(refused) = refused.unwrap_err() else { panic!("it is taken") };
            assert_eq!(refused.code, 422);
            assert!(refused.message.contains(expected), "{}", refused.message);
        }
        let dry_run = PatchParams { dry_run: true, ..PatchParams::default() };
        let none = Patch::Merge(json!({"spec": {"replicas": 0}}));
        let shown = widgets.patch_scale("a", &dry_run, &none).await.unwrap();
        assert_eq!(shown.spec.unwrap().replicas, None, "zero is left out");
        assert_eq!(widgets.get("a").await.unwrap().spec.replicas, Some(5));
        assert!(widgets.get_scale("b").await.is_err());
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
