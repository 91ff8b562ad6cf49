//! Starts audit, where the configuration asks for it, and opens its log again when that was moved away.

use std::sync::Arc;

use orch_audit::{
    auditor::Auditor,
    backend::{Backends, log::Log, webhook::Webhook},
    counters::Counters,
    policy,
};
use orch_config::{Config, start_error::StartError};
use orch_http::app::App;
use tokio::{signal::unix::Signal, sync::watch};

/// Reads the policy, opens the log and starts the webhook; nothing where nothing would be recorded.
pub fn start_audit(config: &Config, counters: &Arc<Counters>) -> Result<Option<Auditor>, StartError> {
    let audit = &config.audit;
    let Some(policy) = &audit.policy_file else {
        if audit.log.is_some() || audit.webhook.is_some() {
            tracing::warn!("nothing is audited without --audit-policy-file");
        }
        return Ok(None);
    };
    let policy = policy::read(policy, config.vocabulary, orch_meta::VOCABULARIES)
        .map_err(|error| StartError::caused("--audit-policy-file", &error))?;
    let log = audit.log.clone().map(|settings| Log::start(settings, counters));
    let log = log.transpose().map_err(|error| StartError::caused("--audit-log-path", &error))?;
    let webhook = match &audit.webhook {
        Some((file, settings)) => {
            let webhook = Webhook::of_kubeconfig(file, settings.clone(), counters);
            Some(webhook.map_err(|error| StartError::caused("--audit-webhook-config-file", &error))?)
        }
        None => None,
    };
    let backends = Backends::new(log, webhook);
    if backends.is_empty() {
        tracing::warn!(
            "nothing is audited: --audit-policy-file needs --audit-log-path or --audit-webhook-config-file"
        );
        return Ok(None);
    }
    Ok(Some(Auditor::new(policy, backends, Arc::clone(counters), config.vocabulary)))
}

/// Opens the log of audit again at SIGHUP, until the server stops.
pub async fn follow_audit_log(app: Arc<App>, mut hangup: Signal, mut stopping: watch::Receiver<bool>) {
    let Some(audit) = &app.audit else { return };
    let reopen = async {
        while hangup.recv().await.is_some() {
            audit.backends().reopen_log().await;
        }
    };
    tokio::select! {
        // An error means that the sender is gone, and the server with it.
        _ = stopping.wait_for(|stopping| *stopping) => {}
        // A log that is stalled does not keep the server from stopping.
        () = reopen => {}
    }
}
