//! A server that is put together: what runs beside the requests, and how it ends.

use std::{sync::Arc, time::Duration};

use orch_auth::authorizer::Authorizer;
use orch_config::start_error::StartError;
use orch_controllers::{leadership::Leadership, replica::Replica, runner::Runner};
use orch_http::{app::App, documents::health::Hook, shutdown::Steps};
use tokio::{sync::watch, task::JoinSet, time::timeout};

use super::follower::Follower;
use crate::bootstrap::Site;

/// How long the first requests wait for controllers.
const CONTROLLER_PATIENCE: Duration = Duration::from_secs(2);

/// How long the end of the server waits for audit events that are not delivered yet.
const AUDIT_PATIENCE: Duration = Duration::from_secs(3);

/// How long it waits for spans.
const TRACE_PATIENCE: Duration = Duration::from_secs(1);

/// A server that is put together, without what brings it requests.
pub(crate) struct Parts {
    pub app: Arc<App>,
    pub site: Site,
    /// Where other servers may have the same store: which of them this is.
    pub replica: Option<Replica>,
    pub controllers: Runner,
    /// Follow the files that are read again while the server runs, and review open watches.
    pub followers: Vec<Follower>,
    /// Probes wait for it.
    pub informers: Hook,
    /// Is finished when priority levels lend each other seats, under priority and fairness.
    pub lending: Option<Hook>,
    pub shutdown: Steps,
    /// Becomes true when the server is to stop.
    pub told: watch::Receiver<bool>,
    /// Tells all parts to stop.
    pub stop: watch::Sender<bool>,
}

impl Parts {
    /// Runs the controllers and everything else that the server does by itself, while `answering` answers
    /// requests. That ends when its second argument becomes true.
    pub(crate) async fn run(
        self,
        answering: impl AsyncFnOnce(Arc<App>, watch::Receiver<bool>),
    ) -> Result<(), StartError> {
        let Parts { app, site, replica, controllers, followers, informers, lending, shutdown, told, stop } =
            self;
        let (mut tasks, stopping) = (JoinSet::new(), stop.subscribe());
        for follower in followers {
            tasks.spawn(follower.run(stopping.clone()));
        }
        if let Some(fairness) = app.sharing.fairness() {
            tasks.spawn(Arc::clone(fairness).adjust(stopping.clone()));
        }
        lending.iter().for_each(Hook::finish);
        tasks.spawn({
            let app = Arc::clone(&app);
            async move { shutdown.lead(told, &app.draining, || app.metrics.count_in_flight(), stop).await }
        });
        let leadership = replica.as_ref().map(|replica| Leadership::of(replica.holder.as_str()));
        if let Some(replica) = replica {
            tasks.spawn(replica.announce(Arc::clone(&app.core)));
        }
        let monitor = controllers.monitor();
        let authorizer: Arc<dyn Authorizer> = app.access.authorization.clone();
        tasks.spawn(controllers.start(&app.core, &authorizer, leadership.as_ref()).ended());
        informers.finish();
        // The first caller finds a server that is ready. One that does not become so says why at `/readyz`.
        let _ = timeout(CONTROLLER_PATIENCE, monitor.all_watch()).await;
        let lost = tokio::select! {
            () = Box::pin(answering(Arc::clone(&app), stopping)) => None,
            // Each further answer would be wrong: nothing is finished, and only what happened is recorded.
            why = app.core.storage().lost() => Some(why),
        };
        if let Some(why) = &lost {
            tracing::error!(%why, "the server ends, so that a start reads everything anew");
            tasks.abort_all();
        }
        while tasks.join_next().await.is_some() {}
        close(&app, site, lost).await
    }
}

/// Delivers what was recorded of requests, and closes the store, unless it is `lost`.
async fn close(app: &App, site: Site, lost: Option<Arc<str>>) -> Result<(), StartError> {
    if let Some(audit) = &app.audit {
        audit.backends().flush(AUDIT_PATIENCE).await;
    }
    if let Some(tracer) = &app.tracer {
        tracer.flush(TRACE_PATIENCE).await;
    }
    if let Some(why) = lost {
        return Err(StartError::Runtime(format!("the server cannot go on: {why}")));
    }
    let closed = app.core.storage().shutdown().await;
    // From here on another process can use the data directory.
    drop(site);
    closed.map_err(|error| StartError::Runtime(format!("cannot close the store: {error}")))
}
