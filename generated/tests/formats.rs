//! Formats that are written by hand, and names of images.

use orch_api::{
    ORCH,
    defaults::image::tag,
    formats::{container_resource, deletion_cost},
};

#[test]
fn resources_of_containers_have_standard_names_or_prefixes() {
    let of_containers = "must be a standard resource for containers";
    let table: &[(&str, &[&str])] = &[
        ("cpu", &[]),
        ("hugepages-2Mi", &[]),
        ("example.com/gpu", &[]),
        ("requests.cpu", &[of_containers]),
        ("requests.hugepages-2Mi", &[of_containers]),
        ("disks", &["must be a standard resource type or fully qualified", of_containers]),
        ("requests.example.com/gpu", &["doesn't follow extended resource name standard"]),
    ];
    for (name, faults) in table {
        assert_eq!(container_resource(name, &ORCH), *faults, "{name}");
    }
    assert!(container_resource(&format!("{}/gpu", ORCH.label_domain), &ORCH).is_empty());
}

#[test]
fn costs_are_plain_numbers() {
    for text in ["0", "5", "-5", "-05", "2147483647"] {
        assert!(deletion_cost(text).is_empty(), "{text}");
    }
    for text in ["", "+5", "05", "x", "5x", "2147483648", "-"] {
        assert!(!deletion_cost(text).is_empty(), "{text}");
    }
}

#[test]
fn tags_follow_the_last_slash() {
    let by_digest = format!("x@sha256:{}", "0".repeat(64));
    let by_both = by_digest.replace('@', ":latest@");
    for (image, expected) in [
        ("x", Some("latest")),
        ("x:latest", Some("latest")),
        ("x:1", Some("1")),
        ("h:5000/x", Some("latest")),
        ("h:5000/a/x:v2", Some("v2")),
        ("Host/x", Some("latest")),
        ("[::1]:5000/x", Some("latest")),
        ("a_b.c/x", Some("latest")),
        ("localhost/x:A_b.c-d", Some("A_b.c-d")),
        (by_digest.as_str(), None),
        (by_both.as_str(), Some("latest")),
    ] {
        assert_eq!(tag(image), expected, "{image}");
    }
}

#[test]
fn what_names_no_image_has_no_tag() {
    let hexadecimal = "0a".repeat(32);
    let long = "a".repeat(248);
    for image in ["", "X", "a//x", "/x", "x/", " x", "x ", "x:", "x:1:2", "a..b", "a___b", "-x", "h:p/x"]
        .into_iter()
        .chain(["x@sha256:0123", "x@md5:0", hexadecimal.as_str(), long.as_str(), "a_b:1/x", "x:-1"])
    {
        assert_eq!(tag(image), None, "{image}");
    }
    assert_eq!(tag(&long[1..]), Some("latest"));
}
