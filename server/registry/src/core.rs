//! What every verb works on: the objects, the time, the feature gates, admission and the key of continue
//! tokens.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use orch_runtime::{scalar::Time, vocabulary::Vocabulary};
use orch_storage::{Clock, Storage};
use tokio::sync::watch;

use crate::{
    admission::{AdmissionChain, AdmissionRequest},
    catalog::Catalog,
    continue_token::TokenKey,
    error::Result,
    feature_gates::FeatureGates,
    meter::{Meter, Step},
    objects::Objects,
};

/// One value that all requests and controllers of a server share.
pub struct Core {
    objects: Objects,
    clock: Arc<dyn Clock>,
    gates: FeatureGates,
    admission: AdmissionChain,
    continue_key: TokenKey,
    stopping: watch::Receiver<bool>,
    min_watch_time: Duration,
    meter: OnceLock<Box<dyn Meter>>,
}

/// How long a watch lives at least, where neither the client nor the operator says.
const MIN_WATCH_TIME: Duration = Duration::from_mins(30);

impl Core {
    /// `stopping` becomes true when the server starts to shut down; watches end then.
    pub fn new(
        objects: Objects,
        clock: Arc<dyn Clock>,
        gates: FeatureGates,
        admission: AdmissionChain,
        continue_key: TokenKey,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let min_watch_time = MIN_WATCH_TIME;
        let meter = OnceLock::new();
        Core { objects, clock, gates, admission, continue_key, stopping, min_watch_time, meter }
    }

    /// The same, where a watch lives at least so long if the client does not say how long.
    #[must_use]
    pub fn with_min_watch_time(self, min_watch_time: Duration) -> Self {
        Core { min_watch_time, ..self }
    }

    /// How long a watch lives at least, where the client does not say.
    pub fn min_watch_time(&self) -> Duration {
        self.min_watch_time
    }

    /// The stored objects.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// What is served.
    pub fn catalog(&self) -> &Arc<Catalog> {
        self.objects.catalog()
    }

    /// Where objects are stored.
    pub fn storage(&self) -> &Storage {
        self.objects.storage()
    }

    /// The product words in force.
    pub fn vocabulary(&self) -> &'static Vocabulary {
        self.catalog().vocabulary
    }

    /// Tells the time.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// The time, in whole seconds, as it goes into objects.
    pub fn now(&self) -> Time {
        Time::from_unix_seconds((self.clock.now().0 / 1000).cast_signed())
    }

    /// Which features are on.
    pub fn gates(&self) -> &FeatureGates {
        &self.gates
    }

    /// The admission plugins that are on.
    pub fn admission(&self) -> &AdmissionChain {
        &self.admission
    }

    /// Lets every admission plugin change an object or judge it.
    ///
    /// # Errors
    /// Of the first plugin that refuses.
    pub(crate) async fn admit(&self, step: Step, request: &mut AdmissionRequest<'_>) -> Result<()> {
        self.admission.ask(step, request, self.meter()).await
    }

    /// Seals the positions of paged lists.
    pub fn continue_key(&self) -> &TokenKey {
        &self.continue_key
    }

    /// Tells this meter about the work of verbs from now on. Only the first one is told.
    pub fn measure(&self, meter: impl Meter + 'static) {
        // There is one server around a core, and it has one set of metrics.
        let _ = self.meter.set(Box::new(meter));
    }

    /// Who is told about the work of verbs.
    pub(crate) fn meter(&self) -> Option<&dyn Meter> {
        self.meter.get().map(AsRef::as_ref)
    }

    /// Becomes true when the server starts to shut down.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.clone()
    }
}
