//! GET of a collection with `watch`.

use std::time::Duration;

use rand::RngExt;

use crate::{
    answer::Answer,
    context::RequestContext,
    error::Result,
    read::version::{RequestedVersion, Shown, VersionMatch},
    request::WatchRequest,
    watch_stream::{Initial, WatchStream},
};

/// No watch lives longer than this, unless the operator lets all live so long.
const MAX: Duration = Duration::from_hours(24);

/// Starts a watch.
///
/// # Errors
/// 504 where initial events are asked for at a version that is not reached yet, 500 where one of them is
/// damaged. A version that is gone is reported in the stream.
pub async fn watch(cx: &RequestContext<'_>, request: WatchRequest<'_>) -> Result<Answer> {
    let (core, resource) = (cx.core, request.target.resource);
    let starts_anywhere = !matches!(request.version, RequestedVersion::At(_));
    let (initial, after) = if request.initial_events.unwrap_or(starts_anywhere) {
        let shown = Shown::of(request.version, Some(VersionMatch::NotOlderThan), false);
        let snapshot = shown.snapshot(core.objects(), resource).await?;
        (Some(Initial::of(&request, &snapshot).await?), snapshot.revision())
    } else {
        // Without initial events and without a version, the stream starts now.
        let after = match request.version {
            RequestedVersion::At(version) => version,
            version => Shown::of(version, None, false).snapshot(core.objects(), resource).await?.revision(),
        };
        (None, after)
    };
    let least = core.min_watch_time();
    // Spread, so that clients do not all reconnect at once.
    let timeout = request.timeout.unwrap_or_else(|| least.mul_f64(rand::rng().random_range(1.0..2.0)));
    let timeout = timeout.min(MAX.max(2 * least));
    Ok(Answer::Watch(Box::new(WatchStream::start(core, request, initial, after, timeout))))
}
