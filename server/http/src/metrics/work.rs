//! What verbs tell about their work, counted.

use std::{collections::HashMap, ptr, time::Duration};

use orch_registry::{
    catalog::ServedResource,
    core::Core,
    meter::{Admission, Listed, Meter, Waited},
};
use orch_runtime::resource_def::Verb;
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

use super::{
    admission::AdmissionMetrics,
    labels::verb_label,
    registered,
    storage::{ResourceSeries, StorageMetrics},
};

/// Upper bounds of the time of comparisons, in seconds.
const BUCKETS: &[f64] = &[0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 5.0];

/// Counts the work of verbs. The handles of series are kept by resource, in a table that never changes.
pub(super) struct WorkMeter {
    storage: StorageMetrics,
    admission: AdmissionMetrics,
    /// Of updates that change nothing, and of others.
    comparisons: [Histogram; 2],
    own: IntCounterVec,
    /// By the address of the row in the resource table.
    resources: HashMap<usize, ResourceSeries>,
}

impl WorkMeter {
    /// For the resources and plugins of this core.
    pub(super) fn new(registry: &Registry, core: &Core) -> Self {
        let comparisons = HistogramOpts::new(
            "apiserver_request_timestamp_comparison_time",
            "Time that it took to see whether an update or a patch changes anything.",
        );
        let comparisons = HistogramVec::new(comparisons.buckets(BUCKETS.to_vec()), &["code_path"]);
        let comparisons = registered(registry, comparisons);
        let own = Opts::new("apiserver_selfrequest_total", "Requests of the server to itself.");
        let resources = core.catalog().resources().chain(core.catalog().stored_resources());
        WorkMeter {
            storage: StorageMetrics::new(registry),
            admission: AdmissionMetrics::new(registry, core.admission().names()),
            comparisons: ["equal_objects", "unequal_objects_fast"]
                .map(|path| comparisons.with_label_values(&[path])),
            own: registered(registry, IntCounterVec::new(own, &["verb", "resource", "subresource"])),
            resources: resources.map(|resource| (address(resource), ResourceSeries::of(resource))).collect(),
        }
    }

    /// Calls `with` with the series of a resource.
    fn with(&self, resource: &ServedResource, with: impl FnOnce(&StorageMetrics, &ResourceSeries)) {
        match self.resources.get(&address(resource)) {
            Some(series) => with(&self.storage, series),
            None => with(&self.storage, &ResourceSeries::default()),
        }
    }
}

fn address(resource: &ServedResource) -> usize {
    ptr::from_ref(resource.def).addr()
}

impl Meter for WorkMeter {
    fn committed(
        &self,
        resource: &ServedResource,
        operation: &'static str,
        took: Duration,
        is_committed: bool,
    ) {
        let seconds = took.as_secs_f64();
        self.with(resource, |storage, series| {
            storage.committed(series, resource, operation, seconds, is_committed);
        });
    }

    fn listed(&self, resource: &ServedResource, listed: Listed) {
        self.with(resource, |storage, series| storage.listed(series, resource, listed));
    }

    fn waited(&self, resource: &ServedResource, waited: Waited) {
        self.with(resource, |storage, series| storage.waited(series, resource, waited));
    }

    fn admitted(&self, admission: Admission, took: Duration) {
        self.admission.admitted(admission, took);
    }

    fn compared(&self, differs: bool, took: Duration) {
        self.comparisons[usize::from(differs)].observe(took.as_secs_f64());
    }

    fn served_itself(
        &self,
        resource: &ServedResource,
        subresource: &'static str,
        verb: Verb,
        is_apply: bool,
    ) {
        let verb = if is_apply { "APPLY" } else { verb_label(verb) };
        self.own.with_label_values(&[verb, resource.def.plural, subresource]).inc();
    }
}
