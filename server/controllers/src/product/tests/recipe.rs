//! The controller that CONTRIBUTING.md shows, and its test.

mod example;

use super::*;

/// With the example among them.
fn all() -> Vec<Box<dyn AnyController>> {
    let mut all = super::all();
    all.push(Box::new(example::Example));
    all
}

#[tokio::test(start_paused = true)]
async fn config_maps_are_labelled() {
    let fixture = Fixture::new().await;
    let (running, _) = fixture.start(all());
    fixture.create::<ConfigMap>(json!({"metadata": {"name": "a", "namespace": NAMESPACE}})).await;
    fixture.settle().await;
    let map = fixture.client.get(fixture.resource::<ConfigMap>(), NAMESPACE, "a").unwrap().tree;
    assert_eq!(map["metadata"]["labels"]["example.com/seen"], "true");
    fixture.finish(running).await;
}
