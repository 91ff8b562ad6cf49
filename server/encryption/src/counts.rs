//! How often values were sealed and opened, for the metrics of the server.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

/// What is counted together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    /// `secrets`, `leases.coordination.k8s.io`.
    pub resource: String,
    /// `to_storage` or `from_storage`.
    pub direction: &'static str,
    /// `k8s:enc:aescbc:v1:`, `identity`, or `unknown` where no provider fits.
    pub prefix: &'static str,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// All counts since the start. Only resources that the file names are counted.
#[derive(Debug, Default)]
pub struct Counts(Mutex<BTreeMap<Operation, u64>>);

impl Counts {
    /// The counts now.
    pub fn get(&self) -> BTreeMap<Operation, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self, operation: Operation) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(operation).or_default() += 1;
    }
}
