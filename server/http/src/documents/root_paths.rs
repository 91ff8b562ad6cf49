//! `GET /`: the list of paths that the server answers besides those of objects.

use std::collections::BTreeSet;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, header};
use orch_registry::catalog::Catalog;

/// The prepared document.
#[derive(Clone, Debug)]
pub struct RootPaths {
    body: Bytes,
}

impl RootPaths {
    /// Lists the discovery paths of the catalog together with `others`, sorted, each once.
    pub fn new(catalog: &Catalog, others: impl IntoIterator<Item = String>) -> Self {
        let mut paths: BTreeSet<String> = others.into_iter().collect();
        paths.extend(["/api".to_owned(), "/apis".to_owned()]);
        for resource in catalog.resources() {
            if resource.group.is_empty() {
                paths.insert(format!("/api/{}", resource.api_version));
            } else {
                paths.insert(format!("/apis/{}", resource.group));
                paths.insert(format!("/apis/{}", resource.api_version));
            }
        }
        let document = serde_json::json!({ "paths": paths });
        let body = serde_json::to_vec_pretty(&document).expect("strings have a JSON form");
        RootPaths { body: Bytes::from(body) }
    }

    /// The answer to `GET /`.
    pub fn serve(&self) -> Response {
        let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        (headers, Body::from(self.body.clone())).into_response()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use orch_test_catalog::{KUBERNETES, catalog};

    use super::*;

    #[tokio::test]
    async fn paths_are_sorted_and_listed_once() {
        let others = ["/version", "/livez", "/api", "/"].map(str::to_owned);
        let response = RootPaths::new(&catalog(&KUBERNETES), others).serve();
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let expected = [
            "/",
            "/api",
            "/api/v1",
            "/apis",
            "/apis/apps",
            "/apis/apps/v1",
            "/apis/authorization.k8s.io",
            "/apis/authorization.k8s.io/v1",
            "/apis/things.example.com",
            "/apis/things.example.com/v1",
            "/apis/things.example.com/v1beta1",
            "/livez",
            "/version",
        ];
        let expected = format!("{{\n  \"paths\": [\n    \"{}\"\n  ]\n}}", expected.join("\",\n    \""));
        assert_eq!(body, expected);
    }
}
