//! What may not change in services with two addresses: a server whose network has one family of addresses
//! stores no such service, but finds those of other servers.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

use orch_api::{ORCH, core::v1::ServiceSpec};
use orch_runtime::{field_error::Validation, object::Validate, path::Path};
use serde_json::{Value, json};

/// What is wrong with the change of a specification.
fn told(old: &Value, new: &Value) -> Vec<String> {
    let read = |tree: &Value| -> ServiceSpec { serde_json::from_value(tree.clone()).unwrap() };
    let mut cx = Validation::new(&ORCH);
    read(new).validate_update(&read(old), &Path::ROOT.field("spec"), &mut cx);
    cx.into_errors().iter().map(ToString::to_string).collect()
}

fn spec(addresses: &[&str], families: &[&str], policy: &str) -> Value {
    json!({"type": "ClusterIP", "clusterIPs": addresses, "ipFamilies": families, "ipFamilyPolicy": policy})
}

#[test]
fn a_second_address_comes_and_goes_with_its_policy() {
    let one = |policy| spec(&["10.0.0.1"], &["IPv4"], policy);
    let two = spec(&["10.0.0.1", "fd00::1"], &["IPv4", "IPv6"], "PreferDualStack");
    assert_eq!(told(&one("SingleStack"), &two), [""; 0]);
    assert_eq!(told(&two, &one("SingleStack")), [""; 0]);
    let releasing = |what: &str| {
        format!(
            "spec.ipFamilyPolicy: Invalid value: \"PreferDualStack\": must be set to 'SingleStack' when releasing the \
             secondary {what}"
        )
    };
    assert_eq!(told(&two, &one("PreferDualStack")), ["clusterIP", "ipFamily"].map(releasing));
    let mut without = one("SingleStack");
    without.as_object_mut().unwrap().remove("ipFamilyPolicy");
    assert!(told(&two, &without)[0].starts_with("spec.ipFamilyPolicy: Invalid value: \"null\": "));
}

#[test]
fn the_first_address_and_its_family_stay() {
    let once = "may not change once set";
    let two = spec(&["10.0.0.1", "fd00::1"], &["IPv4", "IPv6"], "PreferDualStack");
    let turned = spec(&["fd00::1", "10.0.0.1"], &["IPv6", "IPv4"], "PreferDualStack");
    let addresses = r#"Invalid value: []string{"fd00::1", "10.0.0.1"}"#;
    let families = r#"Invalid value: []string{"IPv6", "IPv4"}"#;
    assert_eq!(
        told(&two, &turned),
        [
            format!("spec.clusterIPs[0]: {addresses}: {once}"),
            format!("spec.clusterIPs[1]: {addresses}: {once}"),
            format!("spec.ipFamilies[0]: {families}: {once}"),
            format!("spec.ipFamilies[0]: {families}: {once}"),
        ]
    );
    // Of families the addresses are shown.
    let other = spec(&["fd00::1"], &["IPv6"], "SingleStack");
    let shown = r#"Invalid value: []string{"fd00::1"}"#;
    assert_eq!(
        told(&two, &other),
        [format!("spec.clusterIPs[0]: {shown}: {once}"), format!("spec.ipFamilies[0]: {shown}: {once}"),]
    );
    let headless = spec(&["None"], &["IPv6"], "SingleStack");
    assert_eq!(told(&headless, &spec(&["None"], &["IPv4", "IPv6"], "RequireDualStack")), [""; 0]);
    let elsewhere = json!({"type": "ExternalName", "externalName": "a.example.com"});
    assert_eq!(told(&two, &elsewhere), [""; 0]);
}
