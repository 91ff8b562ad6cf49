//! Credentials that a program makes: exec plugins, in the versions `v1` and `v1beta1` of
//! `client.authentication.<suffix>`, with the words of each vocabulary.
//!
//! A plugin is found by what its kubeconfig entry says. All clients of a process that are configured alike
//! share one, because its credentials count until the end of the process, and because its user may have to
//! answer a question for each run.

mod answer;
mod command;
mod definition;

use std::{
    collections::BTreeMap,
    io::{self, IsTerminal},
    sync::{Arc, Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use kube::config::ExecConfig;
use serde_json::Value;

use crate::{cache::Cache, error::Error};
use definition::Definition;

/// The plugins of this process, by their definition.
static PLUGINS: Mutex<BTreeMap<String, Arc<Cache>>> = Mutex::new(BTreeMap::new());

/// The plugin of this entry; `cluster` is what it is told about the server, where it asks for that.
///
/// # Errors
/// What is wrong with the entry.
pub fn plugin(
    config: &ExecConfig,
    cluster: impl FnOnce(&Definition) -> Result<Value, Error>,
) -> Result<Arc<Cache>, Error> {
    let mut definition = Definition::new(config)?;
    if config.provide_cluster_info {
        definition.cluster = Some(cluster(&definition)?);
    }
    // Nothing panics while it holds the lock.
    let mut plugins = PLUGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let key = format!("{definition:?}");
    let plugin = plugins.entry(key).or_insert_with(|| {
        let name = definition.command.clone();
        let definition = Arc::new(definition);
        let run = move || {
            let definition = Arc::clone(&definition);
            let run: futures_util::future::BoxFuture<'static, _> =
                Box::pin(async move { command::run(&definition, io::stdin().is_terminal()).await });
            run
        };
        Arc::new(Cache::new(&name, Box::new(run), Box::new(now)))
    });
    Ok(Arc::clone(plugin))
}

/// Seconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
