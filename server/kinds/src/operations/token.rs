//! `serviceaccounts/token`: makes a token by which a program is known as the account.

use orch_api::authentication::v1::{
    BoundObjectReference, TOKEN_REQUEST_TYPE, TokenRequest, TokenRequestStatus,
};
use orch_auth::service_account::{Grant, Kind, Named};
use orch_machinery::{
    json::encode::encode,
    managed_fields,
    meta::{self, Meta},
};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    object::{SetDefaults, Validate},
    path::Path,
    resource_def::{BodyKind, Verb},
    scalar::Time,
};
use serde_json::json;

use super::{Operation, Performing};
use crate::{
    account_directory::plural,
    error::{ApiError, ResourceName, Result},
    registry::{Answer, Call, current, options::WriteOptions, write},
    request_info::Target,
};

pub(super) struct Token;

impl Operation for Token {
    fn perform<'a>(&'a self, call: Call<'a>, body: Tree, options: &'a WriteOptions) -> Performing<'a> {
        Box::pin(async move {
            let mut request: TokenRequest = serde_json::from_value(body)
                .map_err(|error| ApiError::BadRequest(format!("the body is no TokenRequest: {error}")))?;
            check_name(call, &request)?;
            let account = named(call, Kind::ServiceAccount, &call.target.name)?;
            complete(call, &mut request, &account);
            let mut cx = Validation::new(call.app.catalog.vocabulary);
            request.validate(&Path::ROOT, &mut cx);
            refuse(call, "", cx)?;
            let grant = grant(call, &request, account.named)?;
            let token = call
                .app
                .tokens
                .issue(&grant)
                .map_err(|error| ApiError::internal("the token cannot be made", error))?;
            let asked = tree_of(call, &request)?;
            request.status = TokenRequestStatus {
                token,
                expiration_timestamp: Some(Time::from_unix_seconds(grant.expires)),
            };
            answer(call, options, asked, &request)
        })
    }
}

/// A name in the body is that of the URL.
fn check_name(call: Call<'_>, request: &TokenRequest) -> Result<()> {
    let mut cx = Validation::new(call.app.catalog.vocabulary);
    let name = &request.metadata.name;
    if !name.is_empty() && *name != call.target.name {
        let metadata = Path::ROOT.field("metadata");
        let detail = "must match the service account name if specified";
        cx.push(FieldError::invalid(&metadata.field("name"), name, detail));
    }
    refuse(call, &call.target.name, cx)
}

fn refuse(call: Call<'_>, name: &str, cx: Validation<'_>) -> Result<()> {
    if cx.is_empty() {
        return Ok(());
    }
    let body = body_kind(call);
    Err(ApiError::Invalid {
        group: call.app.catalog.vocabulary.group(body.map_or("", |body| body.group)).into_owned(),
        kind: body.map_or("", |body| body.kind).to_owned(),
        name: name.to_owned(),
        errors: cx.into_errors(),
    })
}

fn body_kind(call: Call<'_>) -> Option<BodyKind> {
    call.target.subresource.and_then(|subresource| subresource.body)
}

/// What the client may leave out, and what is the server's.
fn complete(call: Call<'_>, request: &mut TokenRequest, account: &Known) {
    request.set_defaults();
    request.status = TokenRequestStatus::default();
    if request.spec.audiences.is_empty() {
        request.spec.audiences = call.app.tokens.audiences().to_vec();
    }
    let metadata = &mut request.metadata;
    metadata.name.clone_from(&account.named.name);
    metadata.namespace.clone_from(&call.target.namespace.clone().into_owned());
    metadata.uid = uuid::Uuid::new_v4().to_string();
    metadata.creation_timestamp = Some(call.app.now());
    metadata.managed_fields.clear();
}

/// What the token is to say. It is bound to the object that the request refers to.
fn grant(call: Call<'_>, request: &TokenRequest, account: Named) -> Result<Grant> {
    let issued = call.app.now().as_unix_seconds();
    let mut grant = Grant {
        namespace: call.target.namespace.clone().into_owned(),
        account,
        audiences: request.spec.audiences.clone(),
        bound: None,
        node: None,
        issued,
        expires: issued.saturating_add(request.spec.expiration_seconds.unwrap_or_default()),
    };
    let Some(reference) = &request.spec.bound_object_ref else { return Ok(grant) };
    let kind = bound_kind(reference)?;
    let bound = named(call, kind, &reference.name)?;
    if kind == Kind::Pod {
        let text = |pointer: &str| bound.tree.pointer(pointer).and_then(Tree::as_str).unwrap_or_default();
        if text("/spec/serviceAccountName") != call.target.name {
            return Err(ApiError::BadRequest(format!(
                "cannot bind token for serviceaccount \"{}\" to pod running with different serviceaccount name.",
                call.target.name
            )));
        }
        let node = text("/spec/nodeName");
        grant.node = (!node.is_empty()).then(|| {
            // The machine may have gone before its pods.
            named(call, Kind::Node, node)
                .map_or_else(|_| Named { name: node.to_owned(), uid: String::new() }, |node| node.named)
        });
    }
    if !reference.uid.is_empty() && reference.uid != bound.named.uid {
        let cause = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. The object might have been \
             deleted and then recreated",
            reference.uid
        );
        let resource = ResourceName { group: String::new(), resource: reference.kind.clone() };
        return Err(ApiError::Conflict { resource, name: reference.name.clone(), cause });
    }
    grant.bound = Some((kind, bound.named));
    Ok(grant)
}

fn bound_kind(reference: &BoundObjectReference) -> Result<Kind> {
    let (group, version) = reference.api_version.rsplit_once('/').unwrap_or(("", &reference.api_version));
    match (group, reference.kind.as_str()) {
        ("", "Pod") => Ok(Kind::Pod),
        ("", "Secret") => Ok(Kind::Secret),
        ("", "Node") => Ok(Kind::Node),
        (_, kind) => Err(ApiError::BadRequest(format!(
            "cannot bind token to object of type {group}/{version}, Kind={kind}"
        ))),
    }
}

/// An object that a token names.
struct Known {
    named: Named,
    tree: Tree,
}

/// The object of that name; in the account's namespace, unless it has none.
fn named(call: Call<'_>, kind: Kind, name: &str) -> Result<Known> {
    let Some(resource) = call.app.catalog.resource("", "v1", plural(kind)) else {
        return Err(ApiError::UnknownResource);
    };
    let namespace = if kind == Kind::Node { "".into() } else { call.target.namespace.clone() };
    let target = Target { resource, verb: Verb::Get, subresource: None, namespace, name: name.into() };
    let tree = current::find(Call { target: &target, ..call }, name)?.tree;
    let uid = Meta::of(&tree).uid().to_owned();
    Ok(Known { named: Named { name: name.to_owned(), uid }, tree })
}

/// The request with the token, and with a record of who asked for what.
fn answer(call: Call<'_>, options: &WriteOptions, mut asked: Tree, request: &TokenRequest) -> Result<Answer> {
    let api_version = asked.get("apiVersion").and_then(Tree::as_str).unwrap_or_default().to_owned();
    let time = call.app.now().to_string();
    let write = managed_fields::Write {
        api_version: &api_version,
        ..write::ownership(call, options, &time, &[&["status"], &["metadata"]])
    };
    let empty = json!({"metadata": {}, "spec": {}, "status": {}});
    managed_fields::track_create(&write, &empty, &mut asked, &TOKEN_REQUEST_TYPE);
    let mut tree = tree_of(call, request)?;
    if let Some(owners) = asked.pointer_mut("/metadata/managedFields").map(Tree::take) {
        meta::metadata_mut(&mut tree).insert("managedFields".to_owned(), owners);
    }
    let mut text = Vec::new();
    encode(&tree, &TOKEN_REQUEST_TYPE, &mut text);
    text.push(b'\n');
    Ok(Answer::Transient { json: text.into(), created: true })
}

fn tree_of(call: Call<'_>, request: &TokenRequest) -> Result<Tree> {
    let mut tree = serde_json::to_value(request)
        .map_err(|error| ApiError::internal("the token request cannot be written", error))?;
    if let Some(BodyKind { group, version, kind, .. }) = body_kind(call) {
        meta::set_type(&mut tree, kind, &call.app.catalog.vocabulary.api_version(group, version));
    }
    Ok(tree)
}
