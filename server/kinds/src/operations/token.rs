//! `serviceaccounts/token`: issues a token with which a program authenticates as the service account.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use orch_api::authentication::v1::{
    BoundObjectReference, TOKEN_REQUEST_TYPE, TokenRequest, TokenRequestStatus,
};
use orch_auth::service_account::{BoundObject, Grant, Kind, Lifetime, TokenIssuer};
use orch_machinery::{
    managed_fields,
    meta::{self, Meta, MetaMut},
};
use orch_registry::{
    answer::{Answer, Outcome},
    error::{ApiError, ResourceName, Result},
    operation::{Operation, OperationContext},
    stored,
    write::{Attempt, own},
};
use orch_runtime::{
    Tree,
    field_error::{FieldError, Validation},
    object::{SetDefaults, Validate},
    path::Path,
    resource_def::BodyKind,
    scalar::Time,
};
use orch_storage::Object;
use serde_json::json;

use crate::{
    name_parameter,
    sources::{part_of, resource_of},
};

pub(crate) struct Token {
    tokens: Arc<TokenIssuer>,
}

impl Token {
    pub(crate) fn new(tokens: Arc<TokenIssuer>) -> Self {
        Token { tokens }
    }

    fn issue(&self, context: OperationContext<'_>, mut request: TokenRequest) -> Result<Answer> {
        check_name(context, &request)?;
        let account = stored_object(context, Kind::ServiceAccount, &context.target.name)?;
        let names_audiences = !request.spec.audiences.is_empty();
        self.complete(context, &mut request, &account);
        let mut violations = Validation::new(context.cx.core.vocabulary());
        request.validate(&Path::ROOT, &mut violations);
        refuse(context, "", violations)?;
        let bound = bound(context, &request)?;
        let lifetime = self.shorten(context, &mut request, &bound);
        let issued = context.cx.core.now().as_unix_seconds();
        let grant = Grant {
            id: Grant::new_id(),
            namespace: context.target.namespace.to_string(),
            account: account.named,
            audiences: request.spec.audiences.clone(),
            bound: bound.object,
            node: bound.node,
            issued,
            expires: issued.saturating_add(lifetime.real),
            warn_after: lifetime.warn_after.map(|after| issued.saturating_add(after)),
        };
        let token = self
            .tokens
            .issue(&grant)
            .map_err(|error| ApiError::internal("the token cannot be made", error))?;
        context.cx.issues_credential(grant.credential_id());
        let mut sent = tree_of(context, &request)?;
        if !names_audiences && let Some(spec) = sent.get_mut("spec").and_then(Tree::as_object_mut) {
            spec.insert("audiences".to_owned(), Tree::Null);
        }
        let told = Time::from_unix_seconds(issued.saturating_add(lifetime.told));
        request.status = TokenRequestStatus { token, expiration_timestamp: Some(told) };
        answer(context, sent, &request)
    }

    /// How long the token lives. A client that asks for longer than it may is warned: Rust, because the
    /// server is configured with it.
    fn shorten(&self, context: OperationContext<'_>, request: &mut TokenRequest, bound: &Bound) -> Lifetime {
        let asked = request.spec.expiration_seconds.unwrap_or_default();
        let is_for_pod = matches!(bound.object, Some((Kind::Pod, _)));
        let lifetime = self.tokens.lifetime(asked, &request.spec.audiences, is_for_pod);
        let told = lifetime.told;
        if told < asked {
            let text = format!("requested expiration of {asked} seconds shortened to {told} seconds");
            context.cx.warn(text);
        }
        request.spec.expiration_seconds = Some(told);
        lifetime
    }

    /// Fills in what the client may leave out, and what belongs to the server.
    fn complete(&self, context: OperationContext<'_>, request: &mut TokenRequest, account: &Known) {
        let OperationContext { cx, target, .. } = context;
        request.set_defaults();
        request.status = TokenRequestStatus::default();
        if request.spec.audiences.is_empty() {
            request.spec.audiences = self.tokens.audiences().to_vec();
        }
        let metadata = &mut request.metadata;
        metadata.name.clone_from(&account.named.name);
        metadata.namespace = target.namespace.to_string();
        metadata.uid.clear();
        metadata.creation_timestamp = Some(cx.core.now());
        metadata.managed_fields.clear();
    }
}

impl Operation for Token {
    type Body = TokenRequest;

    fn perform<'a>(
        &'a self,
        context: OperationContext<'a>,
        body: TokenRequest,
    ) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(std::future::ready(self.issue(context, body)))
    }
}

/// A name in the body has to be that of the URL: Rust, because no rule knows the URL.
fn check_name(context: OperationContext<'_>, request: &TokenRequest) -> Result<()> {
    let mut violations = Validation::new(context.cx.core.vocabulary());
    let name = &request.metadata.name;
    if !name.is_empty() && *name != context.target.name {
        let metadata = Path::ROOT.field("metadata");
        let detail = "must match the service account name if specified";
        violations.push(FieldError::invalid(&metadata.field("name"), name, detail));
    }
    refuse(context, &context.target.name, violations)
}

fn refuse(context: OperationContext<'_>, name: &str, violations: Validation<'_>) -> Result<()> {
    if violations.is_empty() {
        return Ok(());
    }
    let body = body_kind(context);
    Err(ApiError::Invalid {
        group: context.cx.core.vocabulary().group(body.map_or("", |body| body.group)).into_owned(),
        kind: body.map_or("", |body| body.kind).to_owned(),
        name: name.to_owned(),
        errors: violations.into_errors(),
    })
}

fn body_kind(context: OperationContext<'_>) -> Option<BodyKind> {
    context.target.subresource.and_then(|subresource| subresource.body)
}

/// What a token is bound to, besides the account.
#[derive(Default)]
struct Bound {
    object: Option<(Kind, BoundObject)>,
    /// The node of a pod.
    node: Option<BoundObject>,
}

/// The object that the request refers to.
fn bound(context: OperationContext<'_>, request: &TokenRequest) -> Result<Bound> {
    let Some(reference) = &request.spec.bound_object_ref else { return Ok(Bound::default()) };
    let kind = bound_kind(reference)?;
    name_parameter::check(&reference.name)?;
    let bound = stored_object(context, kind, &reference.name)?;
    let node = if kind == Kind::Pod { check_pod(context, &bound.pod)? } else { None };
    if !reference.uid.is_empty() && reference.uid != bound.named.uid {
        let cause = format!(
            "the UID in the bound object reference ({}) does not match the UID in record. \
             The object might have been deleted and then recreated",
            reference.uid
        );
        let resource = ResourceName { group: String::new(), resource: reference.kind.clone() };
        return Err(ApiError::Conflict { resource, name: reference.name.clone(), cause });
    }
    Ok(Bound { object: Some((kind, bound.named)), node })
}

/// A pod has to run as the account. Returns the node that it runs on.
fn check_pod(context: OperationContext<'_>, Pod { account: own, node }: &Pod) -> Result<Option<BoundObject>> {
    let account = &*context.target.name;
    if own != account {
        return Err(ApiError::BadRequest(format!(
            "cannot bind token for serviceaccount \"{account}\" to pod running with different serviceaccount \
             name."
        )));
    }
    Ok((!node.is_empty()).then(|| {
        // The node may have been deleted before its pods.
        stored_object(context, Kind::Node, node)
            .map_or_else(|_| BoundObject { name: node.clone(), uid: String::new() }, |node| node.named)
    }))
}

fn bound_kind(reference: &BoundObjectReference) -> Result<Kind> {
    // A version that cannot be read counts as absent, as in the reference.
    let (group, version) = match reference.api_version.split('/').collect::<Vec<_>>()[..] {
        [version] => ("", version),
        [group, version] => (group, version),
        _ => ("", ""),
    };
    match (group, reference.kind.as_str()) {
        ("", "Pod") => Ok(Kind::Pod),
        ("", "Secret") => Ok(Kind::Secret),
        ("", "Node") => Ok(Kind::Node),
        (_, kind) => Err(ApiError::BadRequest(format!(
            "cannot bind token to object of type {group}/{version}, Kind={kind}"
        ))),
    }
}

/// A stored object that a token names.
struct Known {
    named: BoundObject,
    /// For a pod: the account that it runs as, and its node.
    pod: Pod,
}

/// What a token says of a pod.
#[derive(Clone, Default)]
struct Pod {
    account: String,
    node: String,
}

/// The object of that name; in the account's namespace, unless the kind has none. It may be large, so it is
/// read once for each state of it.
fn stored_object(context: OperationContext<'_>, kind: Kind, name: &str) -> Result<Known> {
    struct Remembered(Result<(String, Pod), String>);
    let OperationContext { cx, target, .. } = context;
    let resource = cx.core.catalog().served(resource_of(kind)).ok_or(ApiError::UnknownResource)?;
    let namespace = if kind == Kind::Node { "" } else { &*target.namespace };
    let snapshot = cx.core.objects().snapshot(resource);
    let object = snapshot.get(namespace, name).ok_or_else(|| ApiError::not_found(resource, name))?;
    let Remembered(read) = object.memo(|object| Remembered(read(object)));
    let (uid, pod) = read.clone().map_err(|error| stored::unreadable(resource, object, &error))?;
    Ok(Known { named: BoundObject { name: name.to_owned(), uid }, pod })
}

/// The uid of an object, and what a pod says.
fn read(object: &Object) -> Result<(String, Pod), String> {
    let paths: &[&[&str]] = &[&["metadata", "uid"], &["spec", "serviceAccountName"], &["spec", "nodeName"]];
    let tree = part_of(object, paths)?;
    let text = |pointer: &str| tree.pointer(pointer).and_then(Tree::as_str).unwrap_or_default().to_owned();
    let pod = Pod { account: text("/spec/serviceAccountName"), node: text("/spec/nodeName") };
    Ok((Meta::of(&tree).uid().to_owned(), pod))
}

/// The request with the token, and with the managed fields of what the client sent.
fn answer(context: OperationContext<'_>, mut sent: Tree, request: &TokenRequest) -> Result<Answer> {
    let OperationContext { cx, target, options } = context;
    let api_version = meta::api_version(&sent).to_owned();
    let time = cx.core.now().to_string();
    let write = managed_fields::Write {
        api_version: &api_version,
        ..own::record(Attempt { cx, target, options }, &time, &[&["status"]])
    };
    let nothing = json!({"audiences": null, "expirationSeconds": null, "boundObjectRef": null});
    let empty = json!({"metadata": {}, "spec": nothing, "status": {}});
    managed_fields::track_create(&write, &empty, &mut sent, &TOKEN_REQUEST_TYPE);
    let mut tree = tree_of(context, request)?;
    MetaMut::of(&mut tree).set_managed_fields(managed_fields::take_entries(&mut sent));
    Ok(Answer::Transient {
        json: stored::transient(&TOKEN_REQUEST_TYPE, &tree, None),
        outcome: Outcome::Created,
    })
}

fn tree_of(context: OperationContext<'_>, request: &TokenRequest) -> Result<Tree> {
    let mut tree = serde_json::to_value(request)
        .map_err(|error| ApiError::internal("the token request cannot be written", error))?;
    if let Some(BodyKind { group, version, kind, .. }) = body_kind(context) {
        let api_version = context.cx.core.vocabulary().api_version(group, version);
        meta::set_type(&mut tree, kind, &api_version);
    }
    Ok(tree)
}
