//! The API for code inside the server, such as controllers.
//!
//! A write of a [`Client`] is authorized for its [`Identity`] and goes through the same stages as any other,
//! with admission, validation, managed fields and conflicts. Reads show the newest state and copy nothing:
//! they look into the memory of the server that this code is a part of, so nobody is asked about them.
//! [`Api`] is the same for one kind, typed.

mod identity;

use std::{marker::PhantomData, sync::Arc};

use orch_auth::authorizer::ResourceTarget;
use orch_machinery::{
    body::read_json,
    media_type::{PatchKind, Syntax},
    meta,
};
use orch_runtime::{
    Tree,
    object::{Kind, typed_from_tree},
    resource_def::Verb,
};
use orch_storage::{
    Body as StoredBody, Change, Key, Object, Revision, Scope, Snapshot, StoreError, Watch, Write,
};

use self::identity::Allowed;
pub use self::identity::Identity;
use crate::{
    answer::Answer,
    catalog::ServedResource,
    context::RequestContext,
    core::Core,
    error::{ApiError, Result},
    fence::{self, Fence},
    objects::Current,
    options::{DeletionOptions, FieldValidation, WriteOptions},
    request::{Body, CreateRequest, DeleteRequest, PatchRequest, Target},
    stored, verb,
    write::{
        propose::{Proposal, Sent},
        write,
    },
};

/// Reads and writes objects as a part of the server.
#[derive(Clone)]
pub struct Client {
    core: Arc<Core>,
    identity: Identity,
    fence: Option<Arc<Fence>>,
    name: &'static str,
}

/// One kind of a [`Client`].
pub struct Api<T> {
    client: Client,
    resource: Arc<ServedResource>,
    kind: PhantomData<fn() -> T>,
}

impl Client {
    /// The client of the part of the server that has this name, which is also its field manager. It acts as
    /// the server itself.
    pub fn new(core: Arc<Core>, name: &'static str) -> Self {
        Client { core, identity: Identity::server(), fence: None, name }
    }

    /// The same, acting as somebody.
    #[must_use]
    pub fn acting_as(self, identity: Identity) -> Self {
        Client { identity, ..self }
    }

    /// The same, which writes only as long as the lease of this fence is held.
    #[must_use]
    pub fn behind(self, fence: &Arc<Fence>) -> Self {
        Client { fence: Some(Arc::clone(fence)), ..self }
    }

    /// What it is called, as a field manager too.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The core that the client reads and writes.
    pub fn core(&self) -> &Arc<Core> {
        &self.core
    }

    /// The kind `T`, typed; `None` where it is not served.
    pub fn api<T: Kind>(&self) -> Option<Api<T>> {
        let resource = Arc::clone(self.core.catalog().served(T::RESOURCE)?);
        Some(Api { client: self.clone(), resource, kind: PhantomData })
    }

    /// The object of that name.
    ///
    /// # Errors
    /// 404 where there is none, 500 where its stored form cannot be read.
    pub fn get(&self, resource: &ServedResource, namespace: &str, name: &str) -> Result<Current> {
        self.core.objects().find(resource, namespace, name)
    }

    /// The newest state of a resource.
    pub fn snapshot(&self, resource: &ServedResource) -> Snapshot {
        self.core.objects().snapshot(resource)
    }

    /// Every event of a resource after a revision, in order, each once. Together with a snapshot at that
    /// revision it is a complete view.
    ///
    /// # Errors
    /// Where history does not reach back that far.
    pub fn watch(
        &self,
        resource: &ServedResource,
        after: Revision,
    ) -> std::result::Result<Watch, StoreError> {
        self.core.storage().watch(&resource.storage_name, Scope::All, after)
    }

    /// Creates an object.
    ///
    /// # Errors
    /// As of POST.
    pub async fn create(
        &self,
        resource: &Arc<ServedResource>,
        namespace: &str,
        tree: Tree,
    ) -> Result<Arc<Object>> {
        let target = Target::collection(resource, namespace);
        stored_object(self.write(Verb::Create, &target, Proposal::New(Sent::tree(tree))).await?)
    }

    /// Creates the object of a manifest: fields that its kind does not have are refused.
    ///
    /// # Errors
    /// As of POST with the field validation `Strict`.
    pub async fn create_strictly(
        &self,
        resource: &Arc<ServedResource>,
        namespace: &str,
        manifest: &Tree,
    ) -> Result<Arc<Object>> {
        let target = Target::collection(resource, namespace);
        let allowed = self.allowed(Verb::Create, false, &target).await?;
        let request = CreateRequest {
            target: target.clone(),
            body: Body { reader: read_json, bytes: manifest.to_string().into() },
            options: WriteOptions { field_validation: FieldValidation::Strict, ..self.options() },
        };
        stored_object(verb::create::create(&self.context(&allowed), request).await?)
    }

    /// Replaces the object that `tree` names, or its sub-resource where `subresource` is not empty. `None`
    /// where that completed its deletion: an update that removes the last finalizer removes the object.
    ///
    /// # Errors
    /// As of PUT: 409 where the tree has the version of an older state.
    pub async fn update(
        &self,
        resource: &Arc<ServedResource>,
        subresource: &str,
        tree: Tree,
    ) -> Result<Option<Arc<Object>>> {
        let metadata = meta::Meta::of(&tree);
        let (namespace, name) = (metadata.namespace().to_owned(), metadata.name().to_owned());
        let mut target = Target::item(resource, namespace, name);
        if !subresource.is_empty() {
            let found = resource.def.subresource(subresource).ok_or(ApiError::UnknownResource)?;
            target.subresource = Some(found);
        }
        let replacement = Proposal::Replacement(Sent::tree(tree));
        Ok(object_of(self.write(Verb::Update, &target, replacement).await?))
    }

    /// Applies a configuration (server-side apply): creates the object where there is none. With `force` it
    /// takes over fields of other managers.
    ///
    /// # Errors
    /// As of an apply: 409 for conflicts with other managers.
    pub async fn apply(
        &self,
        resource: &Arc<ServedResource>,
        namespace: &str,
        name: &str,
        configuration: &Tree,
        force: bool,
    ) -> Result<Arc<Object>> {
        self.apply_to(Target::item(resource, namespace, name), configuration, force).await
    }

    /// The same for the status of an object, which must be there.
    ///
    /// # Errors
    /// As of an apply to `/status`.
    pub async fn apply_status(
        &self,
        resource: &Arc<ServedResource>,
        namespace: &str,
        name: &str,
        configuration: &Tree,
        force: bool,
    ) -> Result<Arc<Object>> {
        let subresource = resource.def.subresource("status").ok_or(ApiError::UnknownResource)?;
        let target = Target { subresource: Some(subresource), ..Target::item(resource, namespace, name) };
        self.apply_to(target, configuration, force).await
    }

    async fn apply_to(&self, target: Target<'_>, configuration: &Tree, force: bool) -> Result<Arc<Object>> {
        let request = PatchRequest {
            target,
            kind: PatchKind::Apply,
            syntax: Syntax::Json,
            bytes: configuration.to_string().into(),
            force,
            options: self.options(),
        };
        stored_object(self.send_patch(request).await?)
    }

    /// Changes an object by a patch.
    ///
    /// # Errors
    /// As of PATCH.
    pub async fn patch(
        &self,
        resource: &Arc<ServedResource>,
        namespace: &str,
        name: &str,
        kind: PatchKind,
        patch: &Tree,
    ) -> Result<Option<Arc<Object>>> {
        let request = PatchRequest {
            target: Target::item(resource, namespace, name),
            kind,
            syntax: Syntax::Json,
            bytes: patch.to_string().into(),
            force: false,
            options: self.options(),
        };
        Ok(object_of(self.send_patch(request).await?))
    }

    async fn send_patch(&self, request: PatchRequest<'_>) -> Result<Answer> {
        let target = request.target.clone();
        let allowed = self.allowed(Verb::Patch, request.kind == PatchKind::Apply, &target).await?;
        verb::patch::patch(&self.context(&allowed), request).await
    }

    /// Deletes an object; returns whether it is gone at once. Otherwise it waits for its finalizers.
    ///
    /// # Errors
    /// As of DELETE.
    pub async fn delete(
        &self,
        resource: &Arc<ServedResource>,
        namespace: &str,
        name: &str,
        options: DeletionOptions,
    ) -> Result<bool> {
        let request = DeleteRequest { target: Target::item(resource, namespace, name), options };
        let allowed = self.allowed(Verb::Delete, false, &request.target).await?;
        let cx = self.context(&allowed);
        let deleted = verb::delete::delete_object(&cx, &request.target, &request.options).await?;
        Ok(matches!(deleted, verb::delete::Deleted::Removed { .. }))
    }

    /// Removes an object without the stages of a deletion: its kind is not served, or nobody asks for it.
    /// `body` is its last state. One that somebody else changes or removes first is left alone.
    ///
    /// # Errors
    /// 503 where the lease of its fence is not held, and what the store says.
    pub async fn remove_stored(&self, key: Key, expected: Revision, body: StoredBody) -> Result<()> {
        let what = format!("{} \"{}\" cannot be removed", key.resource, key.name);
        let mut write = Write::from(Change::Remove { key, expected, body });
        if let Some(fence) = &self.fence {
            write = write.when(fence.condition()?);
        }
        match self.core.storage().commit(write).await {
            Ok(_) | Err(StoreError::Conflict { .. } | StoreError::NotFound { .. }) => Ok(()),
            Err(StoreError::ConditionFailed { .. }) => Err(fence::not_held()),
            Err(error) => Err(ApiError::internal(what, error)),
        }
    }

    /// Asks whether the identity may do this, for what is done without a verb of the registry.
    ///
    /// # Errors
    /// 403 where it may not, 500 where nobody could find out.
    pub async fn check(&self, verb: Verb, target: ResourceTarget<'_>) -> Result<()> {
        self.identity.check(verb.as_str(), target).await
    }

    async fn write(&self, verb: Verb, target: &Target<'_>, mut proposal: Proposal) -> Result<Answer> {
        let allowed = self.allowed(verb, false, target).await?;
        write(&self.context(&allowed), target, &mut proposal, &self.options()).await
    }

    /// Asks whether a request may be made, and counts it where the server makes it in its own name.
    async fn allowed<'a>(
        &'a self,
        verb: Verb,
        is_apply: bool,
        target: &'a Target<'_>,
    ) -> Result<Allowed<'a>> {
        if let Some(meter) = self.core.meter().filter(|_| self.identity.is_server()) {
            let subresource = target.subresource.map_or("", |subresource| subresource.name);
            meter.served_itself(target.resource, subresource, verb, is_apply);
        }
        self.identity.ask(verb, target).await
    }

    fn context<'a>(&'a self, allowed: &'a Allowed<'_>) -> RequestContext<'a> {
        RequestContext::new(&self.core, allowed.caller(), self.name).behind(self.fence.as_deref())
    }

    fn options(&self) -> WriteOptions {
        WriteOptions::internal(self.name)
    }
}

/// The object that a write stored; `None` where it removed the object.
fn object_of(answer: Answer) -> Option<Arc<Object>> {
    match answer {
        Answer::Object(object) | Answer::Created(object) | Answer::Accepted(object) => Some(object),
        Answer::Transient { .. } | Answer::Status(_) | Answer::List(_) | Answer::Watch(_) => None,
    }
}

fn stored_object(answer: Answer) -> Result<Arc<Object>> {
    object_of(answer).ok_or_else(|| ApiError::internal("the object is gone", "it was stored by this write"))
}

impl<T: Kind> Api<T> {
    /// The kind.
    pub fn resource(&self) -> &Arc<ServedResource> {
        &self.resource
    }

    /// The object of that name.
    ///
    /// # Errors
    /// 404 where there is none, 500 where it cannot be read.
    pub fn get(&self, namespace: &str, name: &str) -> Result<T> {
        let current = self.client.get(&self.resource, namespace, name)?;
        typed_from_tree(current.tree)
            .map_err(|error| ApiError::internal("a stored object cannot be read", error))
    }

    /// Like [`get`](Api::get), but absence is no error.
    ///
    /// # Errors
    /// 500 where the object cannot be read.
    pub fn lookup(&self, namespace: &str, name: &str) -> Result<Option<T>> {
        match self.get(namespace, name) {
            Ok(object) => Ok(Some(object)),
            Err(ApiError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The objects in a namespace, or all where it is empty; those that cannot be read are left out.
    pub fn list(&self, namespace: &str) -> Vec<T> {
        let snapshot = self.client.snapshot(&self.resource);
        let read = |object: &Arc<Object>| {
            let tree = stored::tree_of(&self.resource, object).ok()?;
            typed_from_tree(tree).ok()
        };
        if namespace.is_empty() {
            snapshot.iter().filter_map(read).collect()
        } else {
            snapshot.in_namespace(namespace).filter_map(read).collect()
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// As of POST.
    pub async fn create(&self, namespace: &str, object: &T) -> Result<Arc<Object>> {
        self.client.create(&self.resource, namespace, self.tree(object)?).await
    }

    /// Replaces an object; `None` where that completed its deletion.
    ///
    /// # Errors
    /// As of PUT.
    pub async fn update(&self, object: &T) -> Result<Option<Arc<Object>>> {
        self.client.update(&self.resource, "", self.tree(object)?).await
    }

    /// Replaces the status of an object; `None` where that completed its deletion.
    ///
    /// # Errors
    /// As of PUT.
    pub async fn update_status(&self, object: &T) -> Result<Option<Arc<Object>>> {
        self.client.update(&self.resource, "status", self.tree(object)?).await
    }

    /// Deletes an object; returns whether it is gone at once.
    ///
    /// # Errors
    /// As of DELETE.
    pub async fn delete(&self, namespace: &str, name: &str, options: DeletionOptions) -> Result<bool> {
        self.client.delete(&self.resource, namespace, name, options).await
    }

    fn tree(&self, object: &T) -> Result<Tree> {
        let mut tree = serde_json::to_value(object)
            .map_err(|error| ApiError::internal("the object cannot be written", error))?;
        meta::set_type(&mut tree, self.resource.def.kind, &self.resource.api_version);
        Ok(tree)
    }
}
