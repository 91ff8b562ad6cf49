//! The stage **commit**: the store makes the write durable, if its conditions still hold.

use std::{sync::Arc, time::Instant};

use orch_machinery::meta::Meta;
use orch_storage::{Change, Object, Write};

use super::{
    attempt::Attempt,
    encode::{Encoded, taken},
    races::Races,
};
use crate::{
    answer::Answer,
    catalog::ServedResource,
    context::RequestContext,
    error::{ApiError, Result},
    fence,
    store_error::{self, Refused},
};

/// Commits what was encoded. `None` where another write came first and the stages must run again.
///
/// # Errors
/// 409 for a new object whose name is taken, and what the store says.
pub async fn commit_encoded(
    attempt: Attempt<'_>,
    encoded: Encoded,
    races: &mut Races<'_>,
) -> Result<Option<Answer>> {
    let Attempt { cx, target, .. } = attempt;
    let committed = match encoded {
        Encoded::Answer(answer) => return Ok(Some(answer)),
        Encoded::New { write, is_generated, generate_name } => {
            let name = Arc::clone(&write.key().name);
            match commit(cx, target.resource, write).await {
                // An update that would create the object runs again, and finds it.
                Err(Refused::Exists)
                    if target.name.is_empty() && !(is_generated && races.tries_another_name()) =>
                {
                    return Err(exists(attempt, &name, &generate_name));
                }
                committed => committed.map(Answer::Created),
            }
        }
        Encoded::State(write) => commit(cx, target.resource, write).await.map(Answer::Object),
        Encoded::Removal { write, answer } => commit(cx, target.resource, write).await.map(|_| answer),
    };
    match committed {
        Ok(answer) => Ok(Some(answer)),
        Err(Refused::Exists | Refused::Race) => Ok(None),
        Err(Refused::Error(error)) => Err(error),
    }
}

fn exists(attempt: Attempt<'_>, name: &str, generate_name: &str) -> ApiError {
    let Attempt { cx, target, .. } = attempt;
    match cx.core.objects().lookup(target.resource, &target.namespace, name) {
        Ok(existing) => {
            let is_deleting =
                existing.is_some_and(|existing| Meta::of(&existing.tree).deletion_timestamp().is_some());
            taken(target.resource, name, generate_name, is_deleting)
        }
        Err(error) => error,
    }
}

/// Commits a write.
///
/// # Errors
/// An error of the store, as a race or as an answer for the client.
pub async fn commit(
    cx: &RequestContext<'_>,
    resource: &ServedResource,
    write: impl Into<Write>,
) -> Result<Arc<Object>, Refused> {
    let mut write = write.into();
    if let Some(fence) = cx.fence {
        write = write.when(fence.condition()?);
    }
    let (began, operation) = (Instant::now(), operation(&write.change));
    let committed = cx.core.storage().commit(write).await;
    if let Some(meter) = cx.core.meter() {
        meter.committed(resource, operation, began.elapsed(), committed.is_ok());
    }
    match committed {
        Ok(committed) => Ok(committed.object),
        Err(error) if cx.fence.is_some_and(|fence| fence.has_ended(&error)) => Err(fence::not_held().into()),
        Err(error) => Err(store_error::refused(cx.core.objects(), resource, error)),
    }
}

/// As metrics name it.
fn operation(change: &Change) -> &'static str {
    match change {
        Change::Create { .. } => "create",
        Change::Replace { .. } | Change::Retire { .. } => "update",
        Change::Remove { .. } => "delete",
    }
}
