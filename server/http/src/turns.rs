//! Waiting for the seats of a request: for how long, and the answer of 429 if it does not get them.

mod width;

use std::{future::poll_fn, pin::Pin, time::Duration};

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use orch_auth::{
    authenticator::Authenticated,
    user::{GROUP_MASTERS, UserInfo},
};
use orch_flow::matching::{Target, What};
use orch_listener::Connection;
use orch_runtime::resource_def::Verb;

use crate::{
    app::App,
    fairness::{
        About, Entry, MaxInFlight, Placed, Refused, SeatOrPlace, Sharing, until_handed_over,
        until_initial_events,
    },
    limits::Peer,
    request::{
        RequestHead,
        info::{Names, Route},
    },
    response::{self, status::Terminated},
    timeline::Stage,
};

/// What a request got from priority and fairness.
#[derive(Default)]
pub struct Pass {
    /// Its seat or its place among the requests in flight, until it is answered. `None`: it counts
    /// as neither, as a watch without priority and fairness.
    pub kept: Option<SeatOrPlace>,
    /// Its flow schema and priority level.
    pub placed: Option<Placed>,
}

/// The longest time that a request waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// After how many seconds a client may try again where there is no fairness.
const RETRY_AFTER: u32 = 1;

/// Waits for the seats of a request whose caller is authenticated.
///
/// # Errors
/// The answer of 429 where it does not come.
pub async fn take(
    app: &App,
    connection: &Connection<Peer>,
    caller: &Authenticated,
    head: RequestHead<'_>,
) -> Result<Pass, Box<Response>> {
    let is_mutating = is_mutating(head);
    let fairness = match &app.sharing {
        Sharing::Fair(fairness) => fairness,
        Sharing::Plain(_) if is_watch(head) => return Ok(Pass::default()),
        Sharing::Plain(limits) => return plainly(limits, caller.user(), is_mutating),
    };
    let (user, path) = (caller.user(), head.parts.uri.path());
    let what = asked(&head.info.names, path);
    let Some(placed) = fairness.place(&connection.peer().remembered, user, what) else {
        return Ok(Pass::default());
    };
    let about = || about(&placed, user, head);
    let arrived = head.timeline.began(Stage::Turn);
    let width = width::of(app, head, placed.most_seats());
    let entered = match fairness.enter((&placed, what), arrived, width, about) {
        Entry::Runs(seat) => Ok(seat),
        Entry::Waits(waiting) => {
            let _queued = app.metrics.in_queue(is_mutating);
            Box::pin(waiting.wait(longest_wait(app, head))).await
        }
        Entry::Refused(refused) => Err(refused),
    };
    match entered {
        Ok(seat) => Ok(Pass { kept: Some(SeatOrPlace::Seat(seat)), placed: Some(placed) }),
        Err(Refused { retry_after }) => {
            let mut response = too_many(retry_after);
            placed.mark(response.headers_mut());
            Err(Box::new(response))
        }
    }
}

/// Answers a request in its turn. One that has to wait for something can be looked at meanwhile.
pub async fn in_sight(
    kept: &mut Option<SeatOrPlace>,
    placed: Option<&Placed>,
    caller: &Authenticated,
    head: RequestHead<'_>,
    mut answer: Pin<&mut impl Future<Output = Response>>,
) -> Response {
    poll_fn(|context| {
        let polled = answer.as_mut().poll(context);
        if polled.is_pending()
            && let (Some(SeatOrPlace::Seat(seat)), Some(placed)) = (&mut *kept, placed)
        {
            seat.list(|| about(placed, caller.user(), head));
        }
        polled
    })
    .await
}

/// Whether a request may change something.
pub fn is_mutating(head: RequestHead<'_>) -> bool {
    !matches!(head.parts.method.as_str(), "GET" | "HEAD" | "OPTIONS")
}

fn is_watch(head: RequestHead<'_>) -> bool {
    matches!(head.info.route, Route::Resource(Verb::Watch, _))
}

fn plainly(limits: &MaxInFlight, user: &UserInfo, is_mutating: bool) -> Result<Pass, Box<Response>> {
    match limits.enter(is_mutating) {
        // Who may do everything can still look after a server that is full.
        None if !user.in_group(GROUP_MASTERS) => Err(Box::new(too_many(RETRY_AFTER))),
        place => Ok(Pass { kept: place.map(SeatOrPlace::Place), placed: None }),
    }
}

/// The answer, which says where its request belonged, and keeps what that has until it is handed over.
pub fn answered(
    kept: Option<SeatOrPlace>,
    placed: Option<&Placed>,
    head: RequestHead<'_>,
    mut response: Response,
) -> Response {
    if let Some(placed) = placed {
        placed.mark(response.headers_mut());
    }
    match kept {
        None => response,
        Some(kept) if is_watch(head) && response::is_watch(response.status()) => {
            until_initial_events(response, kept)
        }
        Some(kept) => until_handed_over(response, kept, head.timeline.end(Stage::Handler)),
    }
}

/// A quarter of the time that the answer may take; of that of other requests for a watch, which has no end.
fn longest_wait(app: &App, head: RequestHead<'_>) -> Duration {
    let asked = if is_watch(head) { None } else { head.query.timeout().ok().flatten() };
    let deadline = asked.map_or(app.request_timeout, |asked| asked.min(app.request_timeout));
    (deadline / 4).min(LONGEST_WAIT)
}

/// What a request is about, for the dumps of `/debug/api_priority_and_fairness`.
fn about(placed: &Placed, user: &UserInfo, head: RequestHead<'_>) -> About {
    let (names, path) = (&head.info.names, head.parts.uri.path());
    About::new([
        placed.distinguisher(asked(names, path)),
        &user.name,
        &names.verb,
        path,
        &names.namespace,
        &names.name,
        &names.version,
        &names.resource,
        &names.subresource,
    ])
}

/// Verb and target, for the match of flow schemas.
fn asked<'a>(names: &'a Names<'_>, path: &'a str) -> What<'a> {
    let target = if names.is_resource {
        Target::Resource {
            group: &names.group,
            resource: &names.resource,
            subresource: &names.subresource,
            namespace: &names.namespace,
        }
    } else {
        Target::Path(path)
    };
    What { verb: &names.verb, target }
}

/// The answer of the reference, which is no Status. The server sends it to protect itself.
fn too_many(retry_after: u32) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::RETRY_AFTER, HeaderValue::from(retry_after)),
    ];
    let text = "Too many requests, please try again later.\n";
    let mut response = (StatusCode::TOO_MANY_REQUESTS, headers, text).into_response();
    response.extensions_mut().insert(Terminated);
    response
}
