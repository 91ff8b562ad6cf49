//! The lease by which each of several servers over one store says that it is there.
//!
//! Its name is `apiserver-<hash>`, in the system namespace, with the labels of the reference: who wants to
//! know which servers there are lists these leases. A server that stops takes its own away. Leases of those
//! that were killed stay until they end, and are removed by whoever sees that first.

use std::{sync::Arc, time::Duration};

use aws_lc_rs::digest::{SHA256, digest};
use orch_api::coordination::v1::{Lease, LeaseSpec};
use orch_meta::meta::v1::{MicroTime, ObjectMeta};
use orch_registry::{
    client::{Api, Client},
    core::Core,
    error::{ApiError, Result},
    options::DeletionOptions,
};
use orch_runtime::vocabulary::Vocabulary;
use tokio::time::{Instant, sleep};

/// How often the lease is renewed, and how long it lasts after that.
const RENEW_PERIOD: Duration = Duration::from_secs(10);
const LEASE_SECONDS: i32 = 3600;
/// How often leases that have ended are looked for.
const CLEANING_PERIOD: Duration = Duration::from_mins(5);

/// The value of the label that such leases have.
const KIND: &str = "kube-apiserver";
/// The longest value of a label.
const MAX_LABEL: usize = 63;

/// The field manager of such leases.
const MANAGER: &str = "apiserver-identity";

/// One of several servers over one store.
#[derive(Clone, Debug)]
pub struct Replica {
    /// The name of its lease; the same after a restart.
    pub name: String,
    /// What it is called while it runs; no other start has it.
    pub holder: String,
    host: String,
}

impl Replica {
    /// The server on this host that listens there. `run` is a text that no other start has.
    pub fn new(host: &str, address: &str, run: &str) -> Self {
        let hash = digest(&SHA256, format!("{host}\n{address}").as_bytes());
        let name = format!("apiserver-{}", base32(&hash.as_ref()[..16]));
        Replica { holder: format!("{name}_{run}"), name, host: host.to_owned() }
    }

    /// Keeps the lease until the server stops.
    pub async fn announce(self, core: Arc<Core>) {
        let client = Client::new(Arc::clone(&core), MANAGER);
        let Some(leases) = client.api::<Lease>() else { return };
        let mut stopping = core.stopping();
        let mut cleaned: Option<Instant> = None;
        loop {
            if let Err(error) = self.renew(&core, &leases).await {
                tracing::warn!(?error, "the lease of this server cannot be renewed; trying again");
            }
            if cleaned.is_none_or(|cleaned| cleaned.elapsed() >= CLEANING_PERIOD) {
                cleaned = Some(Instant::now());
                remove_ended(&core, &leases).await;
            }
            tokio::select! {
                biased;
                // An error means that the sender is gone, and the server with it.
                _ = stopping.wait_for(|stopping| *stopping) => break,
                () = sleep(RENEW_PERIOD) => {}
            }
        }
        let namespace = core.vocabulary().namespace_system;
        // Where it stays, it ends by itself.
        let _ = leases.delete(namespace, &self.name, DeletionOptions::default()).await;
    }

    async fn renew(&self, core: &Core, leases: &Api<Lease>) -> Result<()> {
        let words = core.vocabulary();
        let found = leases.lookup(words.namespace_system, &self.name)?;
        let is_new = found.is_none();
        let mut lease = found.unwrap_or_else(|| self.lease(words));
        lease.spec = LeaseSpec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: Some(LEASE_SECONDS),
            renew_time: Some(now(core)),
            ..lease.spec
        };
        let written = if is_new {
            leases.create(words.namespace_system, &lease).await.map(drop)
        } else {
            leases.update(&lease).await.map(drop)
        };
        match written {
            // The next time will do.
            Err(ApiError::Conflict { .. } | ApiError::NotFound { .. } | ApiError::AlreadyExists { .. }) => {
                Ok(())
            }
            written => written,
        }
    }

    fn lease(&self, words: &Vocabulary) -> Lease {
        let mut labels = vec![(identity_label(words), KIND.to_owned())];
        if self.host.len() <= MAX_LABEL {
            labels.push((format!("{}/hostname", words.label_domain), self.host.clone()));
        }
        let metadata = ObjectMeta {
            name: self.name.clone(),
            labels: labels.into_iter().collect(),
            ..ObjectMeta::default()
        };
        Lease { metadata, spec: LeaseSpec::default() }
    }
}

/// Removes the leases of servers that are gone.
async fn remove_ended(core: &Core, leases: &Api<Lease>) {
    let words = core.vocabulary();
    let now = now(core).as_unix_micros();
    for lease in leases.list(words.namespace_system) {
        let is_of_server = lease.metadata.labels.get(&identity_label(words)).is_some_and(|kind| kind == KIND);
        let seconds = i64::from(lease.spec.lease_duration_seconds.unwrap_or(0));
        let renewed = lease.spec.renew_time.map_or(0, MicroTime::as_unix_micros);
        if is_of_server && renewed.saturating_add(seconds * 1_000_000) < now {
            // Another server may have been faster.
            let _ =
                leases.delete(words.namespace_system, &lease.metadata.name, DeletionOptions::default()).await;
        }
    }
}

fn identity_label(words: &Vocabulary) -> String {
    format!("apiserver.{}/identity", words.label_domain)
}

fn now(core: &Core) -> MicroTime {
    MicroTime::from_unix_micros((core.clock().now().0 * 1000).cast_signed())
}

/// RFC 4648 in small letters, without padding.
fn base32(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let (mut text, mut rest, mut bits) = (String::new(), 0_u32, 0);
    for byte in bytes {
        (rest, bits) = ((rest << 8) | u32::from(*byte), bits + 8);
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(DIGITS[(rest >> bits) as usize & 31]));
        }
        rest &= (1 << bits) - 1;
    }
    if bits > 0 {
        text.push(char::from(DIGITS[(rest << (5 - bits)) as usize & 31]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;
    use crate::product::system_namespaces;

    #[test]
    fn names_are_those_of_the_reference() {
        for (text, expected) in [("", ""), ("f", "my"), ("fo", "mzxq"), ("foobar", "mzxw6ytboi")] {
            assert_eq!(base32(text.as_bytes()), expected);
        }
        let replica = Replica::new("host", "10.0.0.1:6443", "run");
        assert_eq!((replica.name.len(), replica.holder), (36, format!("{}_run", replica.name)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_seen_as_long_as_it_runs() {
        let fixture = Fixture::new().await;
        system_namespaces::ensure(&fixture.client).await.unwrap();
        let core = fixture.client.core();
        let leases = fixture.client.api::<Lease>().unwrap();
        let namespace = core.vocabulary().namespace_system;
        let names =
            || leases.list(namespace).into_iter().map(|lease| lease.metadata.name).collect::<Vec<_>>();
        let [gone, other, own] = ["gone", "other", "own"].map(|host| Replica::new(host, "address", "run"));
        for (replica, age) in [(&gone, 3601), (&other, 3500)] {
            let mut lease = replica.lease(core.vocabulary());
            let renewed = now(core).as_unix_micros() - age * 1_000_000;
            lease.spec.renew_time = Some(MicroTime::from_unix_micros(renewed));
            lease.spec.lease_duration_seconds = Some(LEASE_SECONDS);
            leases.create(namespace, &lease).await.unwrap();
        }
        let unrelated = Lease {
            metadata: ObjectMeta { name: "unrelated".to_owned(), ..ObjectMeta::default() },
            spec: LeaseSpec::default(),
        };
        leases.create(namespace, &unrelated).await.unwrap();
        let announced = tokio::spawn(own.clone().announce(Arc::clone(core)));
        fixture.until("it is seen", || names().contains(&own.name)).await;
        fixture.settle().await;
        assert!(!names().contains(&gone.name) && names().contains(&other.name));
        let seen = leases.get(namespace, &own.name).unwrap();
        assert_eq!(seen.spec.holder_identity.as_deref(), Some(&*own.holder));
        assert_eq!(seen.metadata.labels["apiserver.orch.io/identity"], KIND);
        assert_eq!(seen.metadata.labels["orch.io/hostname"], "own");
        // The lease tells the time of the machine, which does not pass with that of the runtime: within one
        // millisecond it would be renewed with the same text, which is no change.
        #[expect(clippy::disallowed_methods, reason = "the clock of the machine has to go on")]
        std::thread::sleep(Duration::from_millis(2));
        sleep(RENEW_PERIOD).await;
        let renewed = leases.get(namespace, &own.name).unwrap();
        assert_ne!(renewed.metadata.resource_version, seen.metadata.resource_version);
        fixture.stop.send_replace(true);
        announced.await.unwrap();
        assert!(!names().contains(&own.name) && names().contains(&"unrelated".to_owned()));
    }
}
