//! Leadership: of several servers over one store, one runs each controller.
//!
//! Each controller has a lease in the system namespace. Who holds it runs the controller, renews it, and
//! gives it back in the end; others take it when it is given back, or when they have seen it unchanged for as
//! long as it lasts. Nobody compares clocks of machines. Writes of the controller are behind a [`Fence`], so
//! that a server that was stopped for a while, and goes on, changes nothing any more.
//!
//! A server that has its store to itself needs none of this.

use std::{sync::Arc, time::Duration};

use orch_api::coordination::v1::{Lease, LeaseSpec};
use orch_meta::meta::v1::{MicroTime, ObjectMeta};
use orch_registry::{
    client::{Api, Client, Identity},
    error::{ApiError, Result},
    fence::Fence,
    objects::key,
};
use orch_storage::{Object, Revision, Scope, Watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// How long a lease lasts after it was renewed.
pub const LEASE_DURATION: Duration = Duration::from_secs(15);
/// How often it is renewed.
const RENEW_PERIOD: Duration = Duration::from_secs(5);
/// Who could not renew it for so long gives up the work, before anybody else may begin.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
/// How long after a failure it is tried again.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

/// The field manager of leases.
const MANAGER: &str = "leader-election";

/// How this server takes part. Clones are the same server.
#[derive(Clone, Debug)]
pub struct Leadership {
    identity: Arc<str>,
}

/// This server, as somebody who would run one controller.
pub(crate) struct Candidate {
    identity: Arc<str>,
    client: Client,
    leases: Api<Lease>,
    name: &'static str,
    fence: Arc<Fence>,
}

/// A lease that somebody else holds, and how long it lasts unless it changes.
struct Waiting {
    watch: Watch,
    until: Instant,
}

/// The version of a lease, and when it was seen first.
type Seen = (String, Instant);

impl Leadership {
    /// Of a server with this identity, which no other one has.
    pub fn of(identity: impl Into<Arc<str>>) -> Self {
        Leadership { identity: identity.into() }
    }

    /// As a candidate for a controller; `None` where leases are not served.
    pub(crate) fn candidate(&self, client: &Client, name: &'static str) -> Option<Candidate> {
        let client = Client::new(Arc::clone(client.core()), MANAGER).acting_as(Identity::server());
        let leases = client.api::<Lease>()?;
        let lease = key(leases.resource(), client.core().vocabulary().namespace_system, name);
        let fence = Arc::new(Fence::of(lease));
        Some(Candidate { identity: Arc::clone(&self.identity), client, leases, name, fence })
    }
}

impl Candidate {
    /// Around all that the controller writes.
    pub fn fence(&self) -> &Arc<Fence> {
        &self.fence
    }

    /// Returns when this server holds the lease.
    pub async fn acquire(&self) {
        let mut seen = None;
        loop {
            match self.try_to_acquire(&mut seen).await {
                Ok(None) => return,
                Ok(Some(Waiting { watch, until })) => changed(Ok(watch), until).await,
                Err(
                    ApiError::Conflict { .. } | ApiError::AlreadyExists { .. } | ApiError::NotFound { .. },
                ) => {}
                Err(error) => {
                    tracing::warn!(controller = self.name, ?error, "the lease cannot be taken; trying again");
                    sleep(RETRY_PERIOD).await;
                }
            }
        }
    }

    /// Takes the lease if it is free.
    async fn try_to_acquire(&self, seen: &mut Option<Seen>) -> Result<Option<Waiting>> {
        // Before the look, so that no change is missed.
        let watch = self.watch()?;
        let Some(lease) = self.lookup()? else {
            let metadata = ObjectMeta { name: self.name.to_owned(), ..ObjectMeta::default() };
            let lease = Lease { metadata, spec: self.taken(0) };
            let created = self.leases.create(&self.fence.lease().namespace, &lease).await?;
            self.fence.hold(created.revision());
            return Ok(None);
        };
        let version = lease.metadata.resource_version.clone();
        let since =
            seen.take().filter(|(known, _)| *known == version).map_or_else(Instant::now, |(_, at)| at);
        let until = since + lasts(&lease.spec);
        *seen = Some((version, since));
        let holder = lease.spec.holder_identity.as_deref().unwrap_or_default();
        if !holder.is_empty() && *holder != *self.identity && Instant::now() < until {
            return Ok(Some(Waiting { watch, until }));
        }
        let transitions = lease.spec.lease_transitions.unwrap_or(0).saturating_add(1);
        let taken = self.update(Lease { spec: self.taken(transitions), ..lease }).await?;
        self.fence.hold(taken.revision());
        Ok(None)
    }

    /// Renews the lease; returns when this server does not hold it any more.
    pub async fn keep(&self) {
        let mut renewed = Instant::now();
        let mut due = renewed + RENEW_PERIOD;
        loop {
            let watch = self.watch();
            let deadline = renewed + RENEW_DEADLINE;
            if Instant::now() >= deadline {
                break;
            }
            match self.lookup() {
                Ok(Some(lease)) if lease.spec.holder_identity.as_deref() == Some(&*self.identity) => {
                    // Others may have changed it, such as its labels.
                    if let Ok(revision) = lease.metadata.resource_version.parse::<Revision>() {
                        self.fence.hold(revision);
                    }
                    let begun = Instant::now();
                    if begun >= due {
                        due = begun + RETRY_PERIOD;
                        if let Ok(Ok(object)) = timeout_at(deadline, self.renew(lease)).await {
                            self.fence.hold(object.revision());
                            (renewed, due) = (begun, begun + RENEW_PERIOD);
                        }
                    }
                }
                Ok(_) => break,
                Err(error) => tracing::warn!(controller = self.name, ?error, "the lease cannot be read"),
            }
            let until = due.min(renewed + RENEW_DEADLINE);
            changed(watch, until).await;
        }
        self.fence.end();
    }

    /// Gives the lease back, so that another server need not wait.
    pub async fn release(&self) {
        if !self.fence.is_held() {
            return;
        }
        self.fence.end();
        let Ok(Some(mut lease)) = self.lookup() else { return };
        if lease.spec.holder_identity.as_deref() == Some(&*self.identity) {
            lease.spec.holder_identity = Some(String::new());
            // Where it fails, the lease ends by itself.
            let _ = timeout(RETRY_PERIOD, self.update(lease)).await;
        }
    }

    async fn renew(&self, lease: Lease) -> Result<Arc<Object>> {
        let spec = LeaseSpec { renew_time: Some(self.now()), ..lease.spec };
        self.update(Lease { spec, ..lease }).await
    }

    async fn update(&self, lease: Lease) -> Result<Arc<Object>> {
        let stored = self.leases.update(&lease).await?;
        stored.ok_or_else(|| ApiError::Unavailable("the lease is being deleted".to_owned()))
    }

    fn lookup(&self) -> Result<Option<Lease>> {
        let key = self.fence.lease();
        self.leases.lookup(&key.namespace, &key.name)
    }

    /// Changes of the lease from now on.
    fn watch(&self) -> Result<Watch> {
        let (storage, key) = (self.client.core().storage(), self.fence.lease());
        let scope = Scope::Name(Arc::clone(&key.namespace), Arc::clone(&key.name));
        let watch = storage.watch(&key.resource, scope, storage.current_revision());
        watch.map_err(|error| ApiError::internal("the lease cannot be watched", error))
    }

    /// What it says when this server takes it.
    fn taken(&self, transitions: i32) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(self.identity.as_ref().to_owned()),
            lease_duration_seconds: Some(LEASE_DURATION.as_secs() as i32),
            acquire_time: Some(self.now()),
            renew_time: Some(self.now()),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        }
    }

    fn now(&self) -> MicroTime {
        let milliseconds = self.client.core().clock().now().0;
        MicroTime::from_unix_micros((milliseconds * 1000).cast_signed())
    }
}

/// Returns when the lease has changed, or at this time.
async fn changed(watch: Result<Watch>, until: Instant) {
    let changed = async {
        let is_changed = match watch {
            Ok(mut watch) => watch.next().await.is_ok(),
            Err(_) => false,
        };
        if !is_changed {
            sleep(RETRY_PERIOD).await;
        }
    };
    // Either way the lease is looked at again.
    let _ = timeout_at(until, changed).await;
}

/// How long a lease lasts after a change.
fn lasts(spec: &LeaseSpec) -> Duration {
    Duration::from_secs(u64::try_from(spec.lease_duration_seconds.unwrap_or(0)).unwrap_or(0))
}

#[cfg(test)]
mod tests;
