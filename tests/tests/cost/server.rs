//! All kinds with their behaviour and admission, over a store in memory and without HTTP: requests run in the
//! thread of the test.

use std::sync::Arc;

use bytes::Bytes;
use orch_api::KUBERNETES;
use orch_auth::{
    answer::Answer as Answered,
    authorizer::Decision,
    user::{GROUP_MASTERS, UserInfo},
};
use orch_machinery::{
    body::Reader,
    media_type::{PatchKind, Syntax},
};
use orch_registry::{
    admission::{AdmissionChain, AdmissionConfig},
    answer::Answer,
    behaviour::Behaviours,
    catalog::{Catalog, ServedResource},
    context::{Access, Caller, RequestContext},
    continue_token::TokenKey,
    core::Core,
    error::Result,
    feature_gates::FeatureGates,
    objects::{self, Objects},
    options::{FieldValidation, WriteOptions},
    ranges::{AddressRange, PortRange, Ranges},
    request::{Body, CreateRequest, PatchRequest, Target, UpdateRequest},
    stored, verb,
};
use orch_runtime::{Tree, resource_def::Scope};
use orch_storage::{Change, ManualClock, Storage, Timestamp, Write};
use serde_json::json;
use tokio::{runtime::Runtime, sync::watch};

/// The namespace of all objects, and their name.
pub const NAMESPACE: &str = "n";
pub const NAME: &str = "a";

pub struct Server {
    core: Arc<Core>,
    user: UserInfo,
    runtime: Runtime,
    _stopping: watch::Sender<bool>,
}

impl Server {
    /// A server with one namespace.
    pub fn start() -> Self {
        let ranges = Ranges {
            addresses: AddressRange::parse("10.0.0.0/16").unwrap(),
            ports: PortRange::parse("30000-32767").unwrap(),
        };
        let mut behaviours = Behaviours::default();
        orch_kinds::behaviours(&ranges, &mut behaviours);
        let tables = orch_api::registry().iter().copied();
        let catalog = Arc::new(Catalog::of_served(&KUBERNETES, tables, &behaviours, |_| true));
        let admission = AdmissionChain::new(orch_kinds::admission(), &AdmissionConfig::default()).unwrap();
        let (sender, stopping) = watch::channel(false);
        let core = Arc::new(Core::new(
            Objects::new(catalog, Storage::in_memory()),
            Arc::new(ManualClock::at(Timestamp(1_700_000_000_000))),
            FeatureGates::default(),
            admission,
            TokenKey::new(&[7; 32]),
            stopping,
        ));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let user = UserInfo::new("tester", [GROUP_MASTERS]);
        let server = Server { core, user, runtime, _stopping: sender };
        server.put(&server.resource("namespaces"), json!({"metadata": {"name": NAMESPACE}})).unwrap();
        server
    }

    /// All kinds that are stored.
    pub fn resources(&self) -> Vec<Arc<ServedResource>> {
        self.core.catalog().resources().filter(|resource| resource.def.stored).cloned().collect()
    }

    /// The first kind of this plural.
    pub fn resource(&self, plural: &str) -> Arc<ServedResource> {
        let mut resources = self.resources().into_iter();
        resources.find(|resource| resource.def.plural == plural).expect("the kind is served")
    }

    /// Stores an object as it is, without any rule but that of its size.
    pub fn put(&self, resource: &Arc<ServedResource>, mut object: Tree) -> Result<()> {
        object["kind"] = resource.def.kind.into();
        object["apiVersion"] = resource.api_version.clone().into();
        let name = object["metadata"]["name"].as_str().unwrap_or(NAME).to_owned();
        let body = stored::encode_body(resource, &object, None, false)?;
        let key = objects::key(resource, namespace_of(resource), &name);
        self.runtime.block_on(async {
            let storage = self.core.storage();
            let snapshot = self.core.objects().snapshot(resource);
            let change = match snapshot.get(namespace_of(resource), &name) {
                None => Change::Create { key, body },
                Some(object) => Change::Replace { key, expected: object.revision(), body },
            };
            storage.commit(Write::from(change)).await.unwrap();
        });
        Ok(())
    }

    /// POST, without storing anything.
    pub fn create(&self, resource: &Arc<ServedResource>, reader: Reader, bytes: &Bytes) -> Result<Answer> {
        let target = Target::collection(resource, namespace_of(resource));
        let body = Body { reader, bytes: bytes.clone() };
        let request = CreateRequest { target, body, options: dry_run() };
        self.runtime.block_on(verb::create::create(&self.request(), request))
    }

    /// PUT, without storing anything.
    pub fn update(&self, resource: &Arc<ServedResource>, reader: Reader, bytes: &Bytes) -> Result<Answer> {
        self.update_at(item(resource), reader, bytes)
    }

    /// The same for a part of the object.
    pub fn update_at(&self, target: Target<'_>, reader: Reader, bytes: &Bytes) -> Result<Answer> {
        let body = Body { reader, bytes: bytes.clone() };
        let request = UpdateRequest { target, body, options: dry_run() };
        self.runtime.block_on(verb::update::update(&self.request(), request))
    }

    /// PATCH in JSON, without storing anything.
    pub fn patch(&self, resource: &Arc<ServedResource>, kind: PatchKind, bytes: &Bytes) -> Result<Answer> {
        self.patch_at(item(resource), kind, Syntax::Json, bytes)
    }

    /// The same for a part of the object, and in any format that the patch can have.
    pub fn patch_at(
        &self,
        target: Target<'_>,
        kind: PatchKind,
        syntax: Syntax,
        bytes: &Bytes,
    ) -> Result<Answer> {
        let (bytes, force) = (bytes.clone(), false);
        let request = PatchRequest { target, kind, syntax, bytes, force, options: dry_run() };
        self.runtime.block_on(verb::patch::patch(&self.request(), request))
    }

    fn request(&self) -> RequestContext<'_> {
        RequestContext::new(&self.core, Caller { user: &self.user, access: &Everything }, "test")
    }
}

fn namespace_of(resource: &ServedResource) -> &'static str {
    if resource.def.scope == Scope::Namespaced { NAMESPACE } else { "" }
}

/// The object of a kind.
pub fn item(resource: &Arc<ServedResource>) -> Target<'_> {
    Target::item(resource, namespace_of(resource), NAME)
}

/// Its sub-resources that take the object itself.
pub fn parts(resource: &Arc<ServedResource>) -> impl Iterator<Item = Target<'_>> {
    let parts = resource.def.subresources.iter().filter(|part| part.body.is_none());
    parts.map(|part| Target { subresource: Some(part), ..item(resource) })
}

fn dry_run() -> WriteOptions {
    WriteOptions { dry_run: true, field_manager: "test".to_owned(), field_validation: FieldValidation::Warn }
}

struct Everything;

impl Access for Everything {
    fn may<'a>(&'a self, _verb: &'a str) -> Answered<'a, Decision> {
        Answered::Ready(Decision::Allow { reason: "".into() })
    }
}
