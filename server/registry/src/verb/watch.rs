//! GET of a collection with `watch`.

use std::{ops::Range, time::Duration};

use rand::RngExt;

use crate::{
    answer::Answer,
    context::RequestContext,
    error::Result,
    read::version::{Named, Shown, VersionMatch},
    request::WatchRequest,
    watch_stream::{Initial, WatchStream},
};

/// A watch without a timeout ends after a random time in this range, in seconds, so that clients do not all
/// reconnect at once.
const DEFAULT_SECONDS: Range<u64> = 1800..3600;
/// No watch lives longer than this, in seconds.
const MAX_SECONDS: u64 = DEFAULT_SECONDS.end * 24;

/// Starts a watch.
///
/// # Errors
/// 504 where initial events are asked for at a version that is not reached yet, 500 where one of them is
/// damaged. A version that is gone is reported in the stream.
pub async fn watch(cx: &RequestContext<'_>, request: WatchRequest<'_>) -> Result<Answer> {
    let (core, resource) = (cx.core, request.target.resource);
    let starts_anywhere = !matches!(request.version, Named::At(_));
    let (initial, after) = if request.initial_events.unwrap_or(starts_anywhere) {
        let shown = Shown::of(request.version, Some(VersionMatch::NotOlderThan), false);
        let snapshot = shown.snapshot(core.objects(), resource).await?;
        (Some(Initial::of(&request, &snapshot).await?), snapshot.revision())
    } else {
        // Without initial events and without a version, the stream starts now.
        let after = match request.version {
            Named::At(version) => version,
            version => Shown::of(version, None, false).snapshot(core.objects(), resource).await?.revision(),
        };
        (None, after)
    };
    let timeout =
        request.timeout.unwrap_or_else(|| Duration::from_secs(rand::rng().random_range(DEFAULT_SECONDS)));
    let timeout = timeout.min(Duration::from_secs(MAX_SECONDS));
    Ok(Answer::Watch(Box::new(WatchStream::start(core, request, initial, after, timeout))))
}
