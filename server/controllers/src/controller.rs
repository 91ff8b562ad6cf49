//! What a controller is: a name, a kind, and a function that brings one object nearer to what it should be.
//!
//! A controller is told names, never events. It looks at the objects as they are when it runs, so several
//! changes of one object may need one run only, and a run too many does no harm. The runner sees to it that
//! no object is worked on twice at a time, and that what fails runs again.
//!
//! The runner looks at every object when it starts, and whenever it has missed events. A deletion that it
//! missed is never told: what must be cleaned up behind an object needs a finalizer on that object, and what
//! must exist is in [`Controller::also_lists`].

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use orch_registry::{
    catalog::{Catalog, ServedResource},
    client::{Api, Client},
    error::{ApiError, Result},
    objects::Current,
};
use orch_runtime::{object::Kind, vocabulary::Vocabulary};
use orch_storage::{Key, StoreError};

use crate::{
    account::Account,
    key::ObjectKey,
    source::{KeySource, KindSource},
    trigger::Trigger,
};

/// How many keys of one controller are worked on at a time, unless it says otherwise.
const WORKERS: usize = 4;

/// Brings the objects of one kind to where they should be.
pub trait Controller: Send + Sync + 'static {
    /// The kind. The names of its objects are the keys that are worked on.
    type Resource: Kind;

    /// The name by which operators turn it on and off, and which its metrics and its writes have:
    /// `namespace`.
    fn name(&self) -> &'static str;

    /// Whether it runs unless the operator says otherwise.
    fn is_on_by_default(&self) -> bool {
        true
    }

    /// Whom it acts as. Unless it says otherwise that is the server itself, which may do everything.
    fn account(&self) -> Account {
        Account::Server
    }

    /// How many keys it works on at a time.
    fn workers(&self) -> usize {
        WORKERS
    }

    /// Other kinds whose changes concern it. The kind itself need not be among them.
    fn also_watches(&self) -> Vec<Trigger> {
        Vec::new()
    }

    /// Names that are looked at whenever all objects are, although there may be no such objects: those that
    /// must exist. That one was removed may have been missed.
    fn also_lists(&self, _: &Vocabulary) -> Vec<ObjectKey> {
        Vec::new()
    }

    /// Brings one object nearer to what it should be. The object may be gone. When the server stops, this
    /// ends at an `await`, and runs again after the next start.
    ///
    /// # Errors
    /// Any error makes it run again later: soon at first, then less and less often. Where somebody else was
    /// faster (an object was changed, made or removed after it was read) it always runs again soon.
    fn reconcile(&self, key: &ObjectKey, cx: &Context) -> impl Future<Output = Result<Action>> + Send;
}

/// What is to happen to a key after a successful run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing, until something changes.
    Done,
    /// It runs again after this time, or earlier if something changes.
    Again(Duration),
}

/// What a controller works with.
#[derive(Clone)]
pub struct Context {
    client: Client,
}

/// A controller of any kind, for lists of them. Every [`Controller`] is one; one that works on objects of
/// many kinds implements this itself.
pub trait AnyController: Send + Sync {
    /// See [`Controller::name`].
    fn name(&self) -> &'static str;

    /// See [`Controller::is_on_by_default`].
    fn is_on_by_default(&self) -> bool {
        true
    }

    /// See [`Controller::account`].
    fn account(&self) -> Account {
        Account::Server
    }

    /// See [`Controller::workers`].
    fn workers(&self) -> usize {
        WORKERS
    }

    /// Whether there is something to do where these kinds are served.
    fn is_served(&self, catalog: &Catalog) -> bool;

    /// Begins to find keys.
    ///
    /// # Errors
    /// Where the state that was just taken is no longer in the history; then it begins again.
    fn begin(&self, client: &Client) -> Result<Box<dyn KeySource>, StoreError>;

    /// See [`Controller::reconcile`].
    fn reconcile<'a>(&'a self, key: &'a Key, cx: &'a Context) -> BoxFuture<'a, Result<Action>>;
}

impl<C: Controller> AnyController for C {
    fn name(&self) -> &'static str {
        Controller::name(self)
    }

    fn is_on_by_default(&self) -> bool {
        Controller::is_on_by_default(self)
    }

    fn account(&self) -> Account {
        Controller::account(self)
    }

    fn workers(&self) -> usize {
        Controller::workers(self)
    }

    fn is_served(&self, catalog: &Catalog) -> bool {
        catalog.served(C::Resource::RESOURCE).is_some()
    }

    fn begin(&self, client: &Client) -> Result<Box<dyn KeySource>, StoreError> {
        let served = client.core().catalog().served(C::Resource::RESOURCE);
        let resource = served.expect("a controller runs where its kind is served");
        let more = self.also_lists(client.core().vocabulary());
        Ok(Box::new(KindSource::begin(resource, self.also_watches(), client)?.and(more)))
    }

    fn reconcile<'a>(&'a self, key: &'a Key, cx: &'a Context) -> BoxFuture<'a, Result<Action>> {
        Box::pin(async move { Controller::reconcile(self, &ObjectKey::from(key), cx).await })
    }
}

impl Context {
    /// Works with this client. The runner makes one for each controller, with its name and its account.
    pub fn new(client: Client) -> Self {
        Context { client }
    }

    /// Reads and writes objects of all kinds.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Reads and writes objects of the kind `T`, typed.
    ///
    /// # Errors
    /// 404 where the kind is not served.
    pub fn api<T: Kind>(&self) -> Result<Api<T>> {
        self.client.api().ok_or(ApiError::UnknownResource)
    }

    /// The kind `T`, as it is served.
    ///
    /// # Errors
    /// 404 where it is not served.
    pub fn served<T: Kind>(&self) -> Result<&Arc<ServedResource>> {
        self.client.core().catalog().served(T::RESOURCE).ok_or(ApiError::UnknownResource)
    }

    /// The newest state of an object; `None` where it is gone.
    ///
    /// # Errors
    /// 500 where the stored form cannot be read.
    pub fn lookup(&self, resource: &ServedResource, key: &ObjectKey) -> Result<Option<Current>> {
        self.client.core().objects().lookup(resource, &key.namespace, &key.name)
    }
}
