//! The service by which programs find the API server itself: made at start, and again when somebody removes
//! it.

use std::time::Duration;

use orch_api::core::v1::{Namespace, Service};
use orch_registry::ranges::AddressRange;
use orch_registry::{
    client::Client,
    error::{ApiError, Result},
};
use orch_runtime::{Tree, object::Kind};
use serde_json::json;

use crate::{
    controller::{Action, Context, Controller},
    key::ObjectKey,
    trigger::{Changed, Trigger},
};

/// The name by which clients look for it, in both vocabularies.
const NAME: &str = orch_api::KUBERNETES.name;
const NAMESPACE: &str = "default";
/// Where clients reach it.
const PORT: u16 = 443;
/// How often it is looked whether its address is free, where another service has it.
const PERIOD: Duration = Duration::from_mins(1);

/// Makes the service anew when it is removed.
#[derive(Clone, Debug)]
pub struct OwnService {
    address: String,
    target_port: u16,
}

impl OwnService {
    /// Of a server that listens on this port. The address is the first of the network.
    pub fn new(network: &AddressRange, target_port: u16) -> Self {
        OwnService { address: network.first().to_string(), target_port }
    }

    /// Creates the service where it is missing, and corrects where it leads to.
    ///
    /// # Errors
    /// As of POST and PUT: 422 where another service has the address.
    pub async fn ensure(&self, client: &Client) -> Result<()> {
        // A server without the kind has no services.
        let Some(services) = client.core().catalog().served(Service::RESOURCE) else { return Ok(()) };
        let written = match client.core().objects().lookup(services, NAMESPACE, NAME)? {
            None => client.create(services, NAMESPACE, self.tree()).await.map(drop),
            Some(current) if leads_to(&current.tree) == Some(self.target_port) => return Ok(()),
            Some(current) => {
                let mut tree = current.tree;
                tree["spec"]["ports"] = self.ports();
                client.update(services, "", tree).await.map(drop)
            }
        };
        match written {
            Err(ApiError::AlreadyExists { .. } | ApiError::NotFound { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn tree(&self) -> Tree {
        json!({
            "kind": "Service", "apiVersion": "v1",
            "metadata": {
                "name": NAME, "namespace": NAMESPACE, "labels": {"component": "apiserver", "provider": NAME},
            },
            "spec": {"type": "ClusterIP", "clusterIP": self.address, "ports": self.ports()},
        })
    }

    fn ports(&self) -> Tree {
        json!([{"name": "https", "protocol": "TCP", "port": PORT, "targetPort": self.target_port}])
    }
}

/// The port that the service leads to, if it is what this server made.
fn leads_to(service: &Tree) -> Option<u16> {
    let ports = service.pointer("/spec/ports")?.as_array()?;
    let is_its_own = ports.len() == 1 && ports[0]["port"] == PORT;
    ports.first()?.get("targetPort")?.as_u64()?.try_into().ok().filter(|_| is_its_own)
}

impl Controller for OwnService {
    /// The namespace that the service stands in: it is there when the service is not.
    type Resource = Namespace;

    fn name(&self) -> &'static str {
        "own-service"
    }

    fn also_watches(&self) -> Vec<Trigger> {
        let concerns = |change: &Changed<'_>| {
            let object = change.after.or(change.before).map(|object| object.key());
            object.is_some_and(|key| (&*key.namespace, &*key.name) == (NAMESPACE, NAME))
        };
        let namespace = || vec![ObjectKey::new("", NAMESPACE)];
        vec![Trigger::new(
            Service::RESOURCE,
            move |change| {
                if concerns(change) { namespace() } else { Vec::new() }
            },
        )]
    }

    async fn reconcile(&self, key: &ObjectKey, cx: &Context) -> Result<Action> {
        if &*key.name != NAMESPACE {
            return Ok(Action::Done);
        }
        match self.ensure(cx.client()).await {
            Ok(()) => Ok(Action::Done),
            // Another service has the address: nothing is wrong with the server.
            Err(ApiError::Invalid { .. }) => Ok(Action::Again(PERIOD)),
            Err(error) => Err(error),
        }
    }
}
