//! Typed requests to the registry. The HTTP layer reads them from paths, query parameters, headers and
//! bodies.

use std::{borrow::Cow, sync::Arc, time::Duration};

use bytes::Bytes;
use orch_machinery::{
    body::Reader,
    media_type::{PatchKind, Syntax},
};
use orch_runtime::{resource_def::SubresourceDef, type_def::TypeDef};

use crate::{
    catalog::ServedResource,
    options::{DeletionOptions, WriteOptions},
    read::{
        selection::Selection,
        version::{RequestedVersion, VersionMatch},
    },
};

/// The object or the collection that a request is about.
#[derive(Clone, Debug)]
pub struct Target<'r> {
    /// The kind.
    pub resource: &'r Arc<ServedResource>,
    /// The sub-resource, where the request is for one.
    pub subresource: Option<&'static SubresourceDef>,
    /// `""` for cluster-scoped kinds and for all namespaces.
    pub namespace: Cow<'r, str>,
    /// `""` for collections.
    pub name: Cow<'r, str>,
}

impl<'r> Target<'r> {
    /// An object on its main path.
    pub fn item(
        resource: &'r Arc<ServedResource>,
        namespace: impl Into<Cow<'r, str>>,
        name: impl Into<Cow<'r, str>>,
    ) -> Self {
        Target { resource, subresource: None, namespace: namespace.into(), name: name.into() }
    }

    /// A collection; of all namespaces where `namespace` is empty.
    pub fn collection(resource: &'r Arc<ServedResource>, namespace: impl Into<Cow<'r, str>>) -> Self {
        Target::item(resource, namespace, "")
    }

    /// The same in the stored version of its kind, whose rules and behaviour are those of all versions;
    /// `None` where it is that one.
    pub fn in_storage_version(&self) -> Option<Target<'_>> {
        let resource = self.resource.storage_version()?;
        let (namespace, name) = (&*self.namespace, &*self.name);
        Some(Target {
            resource,
            subresource: self.subresource,
            namespace: namespace.into(),
            name: name.into(),
        })
    }

    /// The type of the body: that of the kind, or of a sub-resource's own body.
    pub fn body_type(&self) -> &'static TypeDef {
        let body = self.subresource.and_then(|subresource| subresource.body);
        body.map_or(self.resource.def.type_def, |body| body.type_def)
    }

    /// The name of the sub-resource, `""` for the main path.
    pub fn subresource_name(&self) -> &'static str {
        self.subresource.map_or("", |subresource| subresource.name)
    }
}

/// A body, and the reader for its media type.
#[derive(Clone, Debug)]
pub struct Body {
    /// Reads the format of its media type.
    pub reader: Reader,
    /// The body, whole.
    pub bytes: Bytes,
}

/// GET of an item.
#[derive(Debug)]
pub struct GetRequest<'r> {
    /// The item.
    pub target: Target<'r>,
    /// The version that the client names.
    pub version: RequestedVersion,
}

/// GET of a collection, or a part of it.
#[derive(Debug)]
pub struct ListRequest<'r> {
    /// The collection.
    pub target: Target<'r>,
    /// Which of its objects.
    pub selection: Selection,
    /// Where the list begins.
    pub start: ListStart<'r>,
    /// How many objects to list; at least 1.
    pub limit: Option<u64>,
}

/// Where a list begins, and at which version.
#[derive(Clone, Copy, Debug)]
pub enum ListStart<'r> {
    /// At the first object.
    First {
        /// The version that the client names.
        version: RequestedVersion,
        /// Which versions will do.
        version_match: Option<VersionMatch>,
    },
    /// Where the page before ended, as its continue token says.
    Continued(&'r str),
}

/// GET of a collection with `watch`.
#[derive(Debug)]
pub struct WatchRequest<'r> {
    /// The collection.
    pub target: Target<'r>,
    /// Which of its objects.
    pub selection: Selection,
    /// The version that the client names.
    pub version: RequestedVersion,
    /// Whether the objects that exist come first; where the client does not say, that depends on the version.
    pub initial_events: Option<bool>,
    /// Whether the client asks for bookmarks.
    pub bookmarks: bool,
    /// When the watch ends; at a random time where the client does not say.
    pub timeout: Option<Duration>,
}

/// POST to a collection.
#[derive(Debug)]
pub struct CreateRequest<'r> {
    /// The collection.
    pub target: Target<'r>,
    /// The object.
    pub body: Body,
    /// How.
    pub options: WriteOptions,
}

/// PUT of an item.
#[derive(Debug)]
pub struct UpdateRequest<'r> {
    /// The item.
    pub target: Target<'r>,
    /// The object.
    pub body: Body,
    /// How.
    pub options: WriteOptions,
}

/// PATCH of an item.
#[derive(Debug)]
pub struct PatchRequest<'r> {
    /// The item.
    pub target: Target<'r>,
    /// The kind of patch.
    pub kind: PatchKind,
    /// How it is written.
    pub syntax: Syntax,
    /// The patch.
    pub bytes: Bytes,
    /// Whether an apply takes over fields of other managers.
    pub force: bool,
    /// How.
    pub options: WriteOptions,
}

/// DELETE of an item.
#[derive(Debug)]
pub struct DeleteRequest<'r> {
    /// The item.
    pub target: Target<'r>,
    /// How.
    pub options: DeletionOptions,
}

/// DELETE of a collection.
#[derive(Debug)]
pub struct DeleteCollectionRequest<'r> {
    /// Which objects: a list, or a page of it.
    pub list: ListRequest<'r>,
    /// How.
    pub options: DeletionOptions,
}
