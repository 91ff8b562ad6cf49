//! What a server says of manifests, without one that runs.
//!
//! Each object is sent to a server in this process, over an empty store, as a create that stores nothing and
//! with the field validation `Strict`. So the answers are those of a server with the same flags, byte by
//! byte. Only what is missing around the objects is not their fault: the namespaces in which they stand are
//! there.

use bytes::Bytes;
use http::{HeaderMap, Request, header};
use http_body_util::{BodyExt, Full};
use orch_config::start_error::StartError;
use orch_http::request::info::NAMESPACES;
use orch_machinery::meta::{self, Meta};
use orch_registry::{catalog::ServedResource, client::Client};
use orch_runtime::{Tree, resource_def::Scope};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;
use tower_service::Service;

use super::{InProcess, InProcessService, Server};
use crate::manifests::{Manifest, Place};

/// The namespace of an object that names none.
const DEFAULT: &str = "default";

/// What a server says of an object.
#[derive(Debug)]
pub struct Verdict {
    /// Where the object stands.
    pub place: Place,
    /// `v1 ConfigMap default/a`.
    pub object: String,
    /// What the client is warned of.
    pub warnings: Vec<String>,
    /// Why it is refused; absent where it is valid.
    pub refusal: Option<Refusal>,
}

/// Why an object is refused.
#[derive(Debug)]
pub struct Refusal {
    /// In words.
    pub message: String,
    /// The `Status` that clients get, as JSON.
    pub status: String,
}

impl Server {
    /// What this server would answer to the creation of each object. Its data are in memory, and no
    /// controller runs.
    ///
    /// # Errors
    /// What keeps the server from starting.
    pub async fn validate(self, manifests: Vec<Manifest>) -> Result<Vec<Verdict>, StartError> {
        let server = Box::pin(self.without_controllers().in_process()).await?;
        create_namespaces(&server, &manifests).await;
        let mut verdicts = Vec::new();
        for manifest in &manifests {
            verdicts.push(judge(&server, manifest).await?);
        }
        server.stop().await?;
        Ok(verdicts)
    }
}

/// Creates the namespaces that objects name. One that cannot be is missed by the objects in it.
async fn create_namespaces(server: &InProcess, manifests: &[Manifest]) {
    let client = Client::new(server.core().clone(), "validate");
    let Some(resource) = server.core().catalog().resource("", "v1", NAMESPACES) else { return };
    for manifest in manifests {
        let namespace = Meta::of(&manifest.tree).namespace();
        if !namespace.is_empty() && client.get(resource, "", namespace).is_err() {
            let _ = client.create(resource, "", json!({"metadata": {"name": namespace}})).await;
        }
    }
}

async fn judge(server: &InProcess, manifest: &Manifest) -> Result<Verdict, StartError> {
    let Manifest { place, tree } = manifest;
    let (api_version, kind) = (meta::api_version(tree), meta::kind(tree));
    let is_it = |served: &&std::sync::Arc<ServedResource>| {
        served.def.kind == kind && served.api_version == api_version
    };
    let namespace = match Meta::of(tree).namespace() {
        "" => DEFAULT,
        namespace => namespace,
    };
    let resource = server.core().catalog().resources().find(is_it);
    let in_namespace = resource.is_some_and(|resource| resource.def.scope == Scope::Namespaced);
    let before = if in_namespace { format!("{namespace}/") } else { String::new() };
    let object = format!("{api_version} {kind} {before}{}", Meta::of(tree).name());
    let (warnings, refusal) = match resource {
        Some(resource) => {
            let answered = ask(&mut server.service(), &path(resource, namespace), tree).await;
            answered.map_err(|error| StartError::Runtime(format!("{place}: no answer: {error}")))?
        }
        None => (Vec::new(), Some(not_served(api_version, kind))),
    };
    Ok(Verdict { place: place.clone(), object, warnings, refusal })
}

fn path(resource: &ServedResource, namespace: &str) -> String {
    let prefix = if resource.group.is_empty() { "api" } else { "apis" };
    let place = match resource.def.scope {
        Scope::Cluster => String::new(),
        Scope::Namespaced => {
            format!("/{NAMESPACES}/{}", utf8_percent_encode(namespace, NON_ALPHANUMERIC))
        }
    };
    let (api_version, plural) = (&resource.api_version, resource.def.plural);
    format!("/{prefix}/{api_version}{place}/{plural}?dryRun=All&fieldValidation=Strict")
}

type Answer = (Vec<String>, Option<Refusal>);

async fn ask(
    service: &mut InProcessService,
    path: &str,
    tree: &Tree,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
    let answer = service.call(request.body(Full::new(Bytes::from(tree.to_string())))?).await?;
    let (head, body) = answer.into_parts();
    let body = body.collect().await?.to_bytes();
    let status = String::from_utf8_lossy(&body).trim_end().to_owned();
    let read: Tree = serde_json::from_str(&status).unwrap_or_default();
    // An object that every server has from its start is found only after everything else is right.
    let is_right = head.status.is_success() || read["reason"] == "AlreadyExists";
    let message = read["message"].as_str().unwrap_or(&status).to_owned();
    Ok((warnings(&head.headers), (!is_right).then_some(Refusal { message, status })))
}

/// The texts of `Warning` headers.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let texts = headers.get_all(header::WARNING).iter().filter_map(|value| value.to_str().ok());
    let unquoted = texts.filter_map(|text| text.split_once('"')?.1.strip_suffix('"'));
    unquoted.map(|text| text.replace("\\\"", "\"").replace("\\\\", "\\")).collect()
}

/// In the words of clients that look for the kind in discovery.
fn not_served(api_version: &str, kind: &str) -> Refusal {
    let message = format!("no matches for kind {kind:?} in version {api_version:?}");
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": "NotFound", "code": 404,
    });
    Refusal { message, status: status.to_string() }
}
