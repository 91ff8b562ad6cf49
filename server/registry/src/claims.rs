//! Claims: values that only one object of a kind may have, such as addresses and ports.
//!
//! Claims are terms of the store's index. Looking up who has a value is cheap, and a write that claims one
//! commits only if no other object has it then ([`orch_storage::Condition::Unclaimed`]). Nothing is kept
//! beside the objects: a value is free again when its object is removed.

use std::sync::Arc;

use orch_storage::{Snapshot, Term};

/// Claims have the index numbers from here on; smaller numbers belong to the indexes of the schema.
pub(crate) const FIRST_INDEX: u16 = 1 << 15;

/// A value that only one object of its kind may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// Which sort of value, counted from 0; see
    /// [`Behaviour::claim_sorts`](crate::behaviour::Behaviour::claim_sorts).
    pub sort: u16,
    /// The value.
    pub value: String,
}

impl Claim {
    /// The term under which the store finds the object.
    pub fn term(&self) -> Term {
        Term { index: FIRST_INDEX + self.sort, value: Arc::from(self.value.as_str()) }
    }
}

/// Why nothing could be allocated, where no field is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unallocated {
    /// What the client asks for contradicts itself.
    Contradiction(String),
    /// There is nothing left, or not what the client asks for.
    Failed(String),
}

/// All claims of a kind at one version of the store, as one object sees them.
pub struct Claimed<'s> {
    snapshot: &'s Snapshot,
    /// Namespace and name of the object that is being written: its own claims do not count as taken.
    own: (&'s str, &'s str),
}

impl<'s> Claimed<'s> {
    /// For the object of this namespace and name.
    pub fn new(snapshot: &'s Snapshot, namespace: &'s str, name: &'s str) -> Self {
        Claimed { snapshot, own: (namespace, name) }
    }

    /// Whether another object has the value.
    pub fn is_taken(&self, sort: u16, value: &str) -> bool {
        self.snapshot.holders(FIRST_INDEX + sort, value).any(|holder| {
            let key = holder.key();
            (&*key.namespace, &*key.name) != self.own
        })
    }
}

#[cfg(test)]
mod tests {
    use orch_api::core::v1::ConfigMap;
    use orch_runtime::{
        field_error::{FieldError, Validation},
        path::Path,
    };
    use serde_json::json;

    use super::*;
    use crate::{
        behaviour::{Behaviour, Behaviours},
        client::Client,
        error::ApiError,
        options::DeletionOptions,
        test_core,
    };

    /// Config maps claim the addresses in their data.
    struct Addresses;

    impl Behaviour<ConfigMap> for Addresses {
        fn claim_sorts(&self) -> u16 {
            1
        }

        fn claims(&self, object: &ConfigMap) -> Vec<Claim> {
            object.data.values().map(|value| Claim { sort: 0, value: value.clone() }).collect()
        }

        fn allocate(
            &self,
            object: &mut ConfigMap,
            _old: Option<&ConfigMap>,
            claimed: &Claimed<'_>,
            violations: &mut Validation<'_>,
        ) -> Result<(), Unallocated> {
            for value in object.data.values().filter(|value| claimed.is_taken(0, value)) {
                violations.push(FieldError::invalid(&Path::ROOT.field("data"), value.as_str(), "is taken"));
            }
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_value_has_one_owner_at_a_time() {
        let mut behaviours = Behaviours::default();
        behaviours.register(Addresses);
        let client = Client::new(test_core::core(&behaviours), "test");
        let api = client.api::<ConfigMap>().unwrap();
        let config_map = |name: &str, address: &str| -> ConfigMap {
            let tree = json!({"metadata": {"name": name, "namespace": "n"}, "data": {"address": address}});
            serde_json::from_value(tree).unwrap()
        };
        api.create("n", &config_map("a", "1")).await.unwrap();
        api.update(&config_map("a", "1")).await.unwrap();
        let refused = api.create("n", &config_map("b", "1")).await;
        assert!(matches!(refused, Err(ApiError::Invalid { .. })), "{refused:?}");

        api.create("n", &config_map("b", "2")).await.unwrap();
        api.update(&config_map("a", "3")).await.unwrap();
        api.update(&config_map("b", "1")).await.unwrap();
        assert!(api.delete("n", "b", DeletionOptions::default()).await.unwrap());
        api.create("n", &config_map("c", "1")).await.unwrap();
    }
}
