//! Request lines and what they are read as.

use http::Method;

use orch_registry::error::ApiError;
use orch_test_catalog::{KUBERNETES, catalog};

use super::{Names, RequestInfo, Route};
use crate::request::query::Query;

/// `verb group/version resource[/subresource] namespace name`, or why it is refused.
fn read(method: &str, line: &str) -> String {
    let catalog = catalog(&KUBERNETES);
    let (path, query) = line.split_once('?').map_or((line, None), |(path, query)| (path, Some(query)));
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let query = Query::parse(query);
    let info = RequestInfo::parse(&catalog, &method, path, &query);
    match info.route {
        Route::NonResource => format!("{} path", info.names.verb),
        Route::Refused(ApiError::UnknownPath) => "no path".to_owned(),
        Route::Refused(ApiError::UnknownResource) => "no resource".to_owned(),
        Route::Refused(ApiError::MethodNotAllowed(methods)) => format!("no method but {methods}"),
        Route::Refused(ApiError::BadRequest(message)) => message,
        Route::Refused(other) => panic!("{other:?}"),
        Route::Resource(verb, target) => {
            assert_eq!(info.names.verb, verb.as_str());
            let own =
                if target.resource.def.plural == "namespaces" { &target.name } else { &target.namespace };
            assert_eq!(info.names.namespace, *own);
            let subresource = target.subresource.map_or(String::new(), |sub| format!("/{}", sub.name));
            let group_version = &target.resource.api_version;
            let resource = target.resource.def.plural;
            let (namespace, name) = (target.namespace, info.names.name);
            format!("{} {group_version} {resource}{subresource} {namespace:?} {name:?}", verb.as_str())
        }
    }
}

#[test]
fn paths_are_read_segment_by_segment() {
    for (method, line, expected) in [
        ("GET", "/api/v1/namespaces/ns/configmaps/a", r#"get v1 configmaps "ns" "a""#),
        ("HEAD", "/api/v1/namespaces/ns/configmaps/a", r#"get v1 configmaps "ns" "a""#),
        ("GET", "/api/v1/namespaces/ns/configmaps/%61", r#"get v1 configmaps "ns" "a""#),
        ("GET", "/api/v1/namespaces/ns/configmaps/a?watch=1", r#"get v1 configmaps "ns" "a""#),
        ("GET", "/api/v1/namespaces/ns/configmaps/", r#"list v1 configmaps "ns" """#),
        ("GET", "/api/v1/configmaps", r#"list v1 configmaps "" """#),
        ("GET", "/api/v1/configmaps?watch=0", r#"list v1 configmaps "" """#),
        ("GET", "/api/v1/configmaps?watch", r#"watch v1 configmaps "" """#),
        ("GET", "/api/v1/watch/namespaces/ns/configmaps/a", r#"watch v1 configmaps "ns" "a""#),
        ("GET", "/api/v1/watch/configmaps", r#"watch v1 configmaps "" """#),
        ("POST", "/api/v1/namespaces/ns/configmaps", r#"create v1 configmaps "ns" """#),
        ("PUT", "/api/v1/namespaces/ns/configmaps/a", r#"update v1 configmaps "ns" "a""#),
        ("PATCH", "/api/v1/namespaces/ns/configmaps/a", r#"patch v1 configmaps "ns" "a""#),
        ("DELETE", "/api/v1/namespaces/ns/configmaps/a", r#"delete v1 configmaps "ns" "a""#),
        ("DELETE", "/api/v1/namespaces/ns/configmaps", r#"deletecollection v1 configmaps "ns" """#),
        ("GET", "/api/v1/namespaces", r#"list v1 namespaces "" """#),
        ("GET", "/api/v1/namespaces/ns", r#"get v1 namespaces "" "ns""#),
        ("GET", "/api/v1/namespaces/ns/status", r#"get v1 namespaces/status "" "ns""#),
        ("PUT", "/api/v1/namespaces/ns/finalize", r#"update v1 namespaces/finalize "" "ns""#),
        (
            "GET",
            "/apis/apps/v1/namespaces/ns/daemonsets/d/status",
            r#"get apps/v1 daemonsets/status "ns" "d""#,
        ),
        ("POST", "/api/v1/namespaces/ns/pods/p/eviction", r#"create v1 pods/eviction "ns" "p""#),
        (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            r#"create authorization.k8s.io/v1 selfsubjectaccessreviews "" """#,
        ),
        ("GET", "/api", "get path"),
        ("GET", "/api/v1", "get path"),
        ("GET", "/apis/apps/v1", "get path"),
        ("GET", "/livez/ping", "get path"),
    ] {
        assert_eq!(read(method, line), expected, "{method} {line}");
    }
}

#[test]
fn what_does_not_exist_is_told_from_what_is_not_allowed() {
    for (method, line, expected) in [
        ("GET", "/apis/none.example.com/v1/things", "no path"),
        ("GET", "/api/v1/namespaces/ns/nothings", "no resource"),
        ("GET", "/api/v9/namespaces", "no resource"),
        ("GET", "/api/v1/namespaces/ns/ConfigMaps", "no resource"),
        ("GET", "/api/v1/configmaps/a", "no resource"),
        ("GET", "/api/v1/namespaces/ns/namespaces", "no resource"),
        ("GET", "/api/v1/namespaces/ns/configmaps/a/scale", "no resource"),
        ("GET", "/api/v1/namespaces/ns/configmaps/a/b/c", "no resource"),
        ("GET", "/api/v1/namespaces//configmaps", "no resource"),
        ("GET", "/api/v1/namespaces/../configmaps", "no resource"),
        (
            "GET",
            "/api/v1/namespaces/ns/configmaps/%2e%2e",
            r#"Name parameter invalid: "..": may not be '..'"#,
        ),
        ("PUT", "/api/v1/namespaces/ns/configmaps/.", r#"Name parameter invalid: ".": may not be '.'"#),
        (
            "DELETE",
            "/api/v1/namespaces/ns/configmaps/a%25b",
            r#"Name parameter invalid: "a%b": may not contain '%'"#,
        ),
        ("GET", "/api/v1/namespaces/%2e%2e/configmaps/%2e%2e", "no resource"),
        ("GET", "/api/v1/namespaces/ns%2fconfigmaps/a", "no resource"),
        ("GET", "/api/v1/watch/namespaces/ns/status", "no resource"),
        ("POST", "/api/v1/configmaps", "no method but GET, HEAD"),
        ("DELETE", "/api/v1/configmaps", "no method but GET, HEAD"),
        ("POST", "/api/v1/namespaces/ns/configmaps/a", "no method but GET, HEAD, PUT, PATCH, DELETE"),
        ("PUT", "/api/v1/namespaces/ns/configmaps", "no method but GET, HEAD, POST, DELETE"),
        ("PATCH", "/api/v1/namespaces/ns/finalize", "no method but PUT"),
        ("OPTIONS", "/api/v1/namespaces/ns/configmaps/a", "no method but GET, HEAD, PUT, PATCH, DELETE"),
        ("POST", "/api/v1/watch/namespaces/ns/configmaps", "no method but GET, HEAD"),
        ("DELETE", "/api/v1/watch/namespaces/ns/configmaps/a", "no method but GET, HEAD"),
        ("GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "no method but POST"),
        // The group as the other vocabulary spells it.
        ("GET", "/apis/authorization.orch.io/v1/selfsubjectaccessreviews", "no method but POST"),
        ("GET", "/apis/none.orch.io/v1/things", "no path"),
    ] {
        assert_eq!(read(method, line), expected, "{method} {line}");
    }
}

#[test]
fn every_method_has_the_verb_that_is_authorized() {
    let catalog = catalog(&KUBERNETES);
    for (method, path, verb) in [
        ("POST", "/api/v1/namespaces/ns/configmaps/a", "create"),
        ("PUT", "/api/v1/namespaces/ns/configmaps", "update"),
        ("PATCH", "/api/v1/namespaces/ns/configmaps", "patch"),
        ("DELETE", "/api/v1/configmaps", "deletecollection"),
        ("OPTIONS", "/api/v1/namespaces/ns/configmaps/a", ""),
        ("DELETE", "/api/v1/watch/namespaces/ns/configmaps/a", "watch"),
        ("GET", "/api/v1/proxy/namespaces/ns/pods/p", "proxy"),
        ("POST", "/version", "post"),
    ] {
        let (method, query) = (Method::from_bytes(method.as_bytes()).unwrap(), Query::parse(None));
        let info = RequestInfo::parse(&catalog, &method, path, &query);
        assert_eq!(info.names.verb, verb, "{method} {path}");
    }
    let query = Query::parse(None);
    let info = RequestInfo::parse(&catalog, &Method::GET, "/api/v1/proxy/namespaces/ns/pods/p", &query);
    let Names { resource, namespace, name, .. } = &info.names;
    assert_eq!([resource, namespace, name], ["pods", "ns", "p"]);
    assert!(matches!(info.route, Route::Refused(ApiError::UnknownResource)));
}

#[test]
fn a_selector_that_pins_the_name_names_it() {
    for (query, expected) in [
        ("fieldSelector=metadata.name%3Da", "a"),
        ("fieldSelector=metadata.name%3D%3Da", "a"),
        ("fieldSelector=x%3Dy,metadata.name%3Da", "a"),
        ("fieldSelector=metadata.name!%3Da", ""),
        // An escaped comma is part of a value: this selects by `x` alone.
        ("fieldSelector=x!%3D%5C,metadata.name%3Da", ""),
        ("fieldSelector=metadata.name%3D..", ""),
        ("fieldSelector=metadata.name%3Da/b", ""),
        ("fieldSelector=metadata.name%3Da,b", ""),
        ("labelSelector=metadata.name%3Da", ""),
    ] {
        let line = format!("/api/v1/namespaces/ns/configmaps?{query}");
        assert_eq!(read("GET", &line), format!("list v1 configmaps \"ns\" {expected:?}"), "{query}");
        let deleted = read("DELETE", &line);
        assert_eq!(deleted, r#"deletecollection v1 configmaps "ns" """#, "{query}");
    }
}
