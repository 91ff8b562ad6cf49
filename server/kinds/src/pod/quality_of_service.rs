//! The quality of service class of a pod, which decides what happens to it when resources are short. It
//! follows from the requests and limits of the containers.

use std::collections::BTreeMap;

use orch_api::core::v1::PodSpec;
use orch_runtime::scalar::Quantity;

/// The resources that decide.
const DECISIVE: &[&str] = &["cpu", "memory"];

/// `Guaranteed`, `Burstable` or `BestEffort`.
pub(super) fn class_of(spec: &PodSpec) -> &'static str {
    let containers = || spec.containers.iter().chain(&spec.init_containers);
    let requests = total(containers().map(|container| &container.resources.requests));
    let limits = total(containers().map(|container| &container.resources.limits));
    let is_limited =
        containers().all(|container| decisive(&container.resources.limits).count() == DECISIVE.len());
    if requests.is_empty() && limits.is_empty() {
        "BestEffort"
    } else if is_limited && requests == limits {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

fn decisive(resources: &BTreeMap<String, Quantity>) -> impl Iterator<Item = (&String, &Quantity)> {
    resources.iter().filter(|(name, amount)| DECISIVE.contains(&name.as_str()) && amount.sign() > 0)
}

fn total<'r>(
    lists: impl Iterator<Item = &'r BTreeMap<String, Quantity>>,
) -> BTreeMap<&'r str, Option<Quantity>> {
    let mut total: BTreeMap<&str, Option<Quantity>> = BTreeMap::new();
    for (name, amount) in lists.flat_map(decisive) {
        let sum = total.entry(name).or_insert_with(|| Some(Quantity::default()));
        *sum = sum.as_ref().and_then(|sum| sum.checked_add(amount));
    }
    total
}

#[cfg(test)]
mod tests {
    use orch_api::core::v1::PodSpec;
    use serde_json::json;

    use super::class_of;

    #[test]
    fn classes_follow_from_requests_and_limits() {
        let both = json!({"cpu": "1", "memory": "1Gi"});
        for (resources, expected) in [
            (vec![json!({})], "BestEffort"),
            (vec![json!({"requests": {"example.com/x": "1"}})], "BestEffort"),
            (vec![json!({"requests": {"cpu": "0"}})], "BestEffort"),
            (vec![json!({"requests": {"cpu": "100m"}})], "Burstable"),
            (vec![json!({"requests": both, "limits": both})], "Guaranteed"),
            (vec![json!({"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": both})], "Guaranteed"),
            (vec![json!({"requests": both, "limits": both}), json!({})], "Burstable"),
            (vec![json!({"limits": both})], "Burstable"),
        ] {
            let containers: Vec<_> =
                resources.iter().map(|it| json!({"name": "c", "image": "i", "resources": it})).collect();
            let spec: PodSpec = serde_json::from_value(json!({"containers": containers})).unwrap();
            assert_eq!(class_of(&spec), expected, "{resources:?}");
        }
    }
}
