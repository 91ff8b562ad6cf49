//! The audit of HTTP requests: what the crate `orch-audit` records is read from requests and answers here.
//!
//! Without a policy nothing is made for a request but an empty [`RequestAudit`].

use std::{
    future::ready,
    net::IpAddr,
    str::FromStr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use axum::{body::Body, response::Response};
use futures_util::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header, request::Parts};
use http_body_util::BodyExt as _;
use orch_audit::{
    auditor::Auditor,
    event::{Event, ObjectRef, ResponseStatus, micro_time},
    policy::{self, Attributes, Level, ResourceTarget, Stage},
    record::Record,
};
use orch_auth::{authenticator::Authenticated, user::UserInfo};
use orch_listener::Connection;
use orch_machinery::{
    json::Limits,
    media_type::{JSON, without_parameters},
};
use orch_meta::meta::v1::{DELETE_OPTIONS_TYPE, Status};
use orch_registry::{
    answer::Answer,
    request::{Body as SentBody, Target},
};
use orch_runtime::{
    resource_def::{ResourceDef, Verb},
    vocabulary::Vocabulary,
};
use serde::Deserialize;

use crate::{
    app::App,
    large_work::LargeWork,
    limits::Peer,
    request::RequestHead,
    response::{self, Form, status},
};

/// The longest user agent that is recorded, in bytes.
const MAX_USER_AGENT: usize = 1024;

/// An answered object that is larger is not recorded, in bytes.
const MAX_OBJECT: usize = 10 * 1024 * 1024;

/// The audit of one request.
pub struct RequestAudit<'a> {
    auditor: Option<&'a Auditor>,
    audit_id: &'a HeaderValue,
    connection: &'a Connection<Peer>,
    /// Nothing before the policy was asked; then whether and what it records.
    record: OnceLock<Option<Arc<Record>>>,
}

impl<'a> RequestAudit<'a> {
    /// For a request with this id.
    pub fn new(app: &'a App, connection: &'a Connection<Peer>, audit_id: &'a HeaderValue) -> Self {
        RequestAudit { auditor: app.audit.as_ref(), audit_id, connection, record: OnceLock::new() }
    }

    /// The id of the request, in the log too.
    pub fn id(&self) -> &'a HeaderValue {
        self.audit_id
    }

    /// Whether anything is audited. Without it, the other functions do nothing.
    pub fn is_on(&self) -> bool {
        self.auditor.is_some()
    }

    /// The record of the request, once it has begun, where there is one.
    pub fn record(&self) -> Option<&Arc<Record>> {
        self.record.get().and_then(Option::as_ref)
    }

    /// Begins the record: it is known who makes the request.
    ///
    /// # Errors
    /// The answer where the request may not go on without a record, and none can be made.
    pub async fn received(&self, head: RequestHead<'_>, caller: &Authenticated) -> Result<(), Response> {
        let Some(auditor) = self.auditor else { return Ok(()) };
        let begin = || self.begin(auditor, head, Some(caller.user()));
        let Some(record) = self.record.get_or_init(begin) else { return Ok(()) };
        record.annotate("authentication", "method", caller.method());
        if let Some(seconds) = caller.stale_for() {
            let user = &caller.user().name;
            let text = format!("subject: {user}, seconds after warning threshold: {seconds}");
            record.annotate("authentication", "stale-token", text);
        }
        if record.received().await {
            return Ok(());
        }
        Err(status::unrecorded(&status::asked(&head.parts.uri)))
    }

    /// Records the end of the request: its answer is made, or that of a watch begins, which took so long. The
    /// record goes with the body of a watch.
    pub async fn answered(
        &self,
        head: RequestHead<'_>,
        response: Response,
        is_watch: bool,
        took: Duration,
    ) -> Response {
        let Some(auditor) = self.auditor else { return response };
        // Requests that were refused before anybody asked who makes them.
        let begin = || self.begin(auditor, head, None);
        let Some(record) = self.record.get_or_init(begin) else { return response };
        if !is_watch && let Some(stages) = head.timeline.slow(took) {
            const AREA: &str = "apiserver.latency";
            record.annotate(AREA, "total", format!("{took:?}"));
            for (stage, took) in stages {
                record.annotate(AREA, stage.name(), format!("{took:?}"));
            }
        }
        let code = response.status();
        if code == StatusCode::UNAUTHORIZED {
            record.annotate("authentication", "attempted", attempted(head.parts));
        }
        let status = match response.extensions().get::<Status>() {
            Some(answered) => {
                record.response_object(&status::json(answered));
                let quotes = !record.wants_requests() && may_quote(&head.parts.method, code);
                outcome(answered, code, quotes)
            }
            None => ResponseStatus::of_code(code.as_u16()),
        };
        if !(is_watch && response::is_watch(code)) {
            record.completed(status).await;
            return response;
        }
        record.started(status).await;
        let record = Arc::clone(record);
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                let _ended_with_the_body = &record;
                frame
            }))
        })
    }

    /// Records that answering the request failed with a panic.
    pub async fn panicked(&self, panic: &str) {
        if let Some(record) = self.record() {
            record.panicked(panic).await;
        }
    }

    fn begin(
        &self,
        auditor: &Auditor,
        head: RequestHead<'_>,
        user: Option<&Arc<UserInfo>>,
    ) -> Option<Arc<Record>> {
        let RequestHead { info, parts, .. } = head;
        let names = &info.names;
        let resource = ResourceTarget {
            group: &names.group,
            version: &names.version,
            resource: &names.resource,
            subresource: &names.subresource,
            namespace: &names.namespace,
            name: &names.name,
        };
        let target = if names.is_resource {
            policy::Target::Resource(resource)
        } else {
            policy::Target::Path(parts.uri.path())
        };
        let attributes = Attributes {
            user: user.map(|user| (user.name.as_str(), user.groups.as_slice())),
            verb: &names.verb,
            target,
        };
        auditor.begin(&attributes, |level| self.event(level, head, user))
    }

    fn event(&self, level: Level, head: RequestHead<'_>, user: Option<&Arc<UserInfo>>) -> Event {
        let RequestHead { info, parts, .. } = head;
        let names = &info.names;
        let received = micro_time(head.timeline.received());
        let object_ref = names.is_resource.then(|| ObjectRef {
            resource: names.resource.to_string(),
            namespace: names.namespace.to_string(),
            name: names.name.to_string(),
            api_group: names.group.to_string(),
            api_version: names.version.to_string(),
            subresource: names.subresource.to_string(),
            ..ObjectRef::default()
        });
        Event {
            level,
            audit_id: self.audit_id.to_str().unwrap_or_default().to_owned(),
            stage: Stage::RequestReceived,
            request_uri: parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned(),
            verb: names.verb.to_string(),
            user: user.map(Arc::clone),
            impersonated_user: None,
            forwarded_for: forwarded_for(&parts.headers, self.connection.peer_address().ip()),
            address: Arc::clone(Peer::shown_address(self.connection)),
            user_agent: user_agent(&head.user_agent()),
            object_ref,
            response_status: None,
            request_object: None,
            response_object: None,
            received,
            stage_time: received,
            annotations: Vec::new(),
        }
    }
}

/// Whether an error may quote the body: values that are wrong, or that are no JSON.
fn may_quote(method: &Method, code: StatusCode) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
        && matches!(
            code,
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::INTERNAL_SERVER_ERROR
        )
}

/// The outcome that a Status tells; without its texts where they quote what is not to be recorded.
fn outcome(status: &Status, code: StatusCode, quotes: bool) -> ResponseStatus {
    let code = code.as_u16();
    let mut status = Status { code: i32::from(code), ..status.clone() };
    if quotes {
        (status.message, status.details) = Default::default();
    }
    match serde_json::to_vec(&status) {
        Ok(text) => ResponseStatus { code, text: text.into() },
        Err(_) => ResponseStatus::of_code(code),
    }
}

/// The addresses of the client and of proxies, as headers name them, without that of the connection at the
/// end.
fn forwarded_for(headers: &HeaderMap, connection: IpAddr) -> Vec<String> {
    const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
    const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (forwarded, real) = (text(FORWARDED_FOR), text(REAL_IP));
    if forwarded.is_empty() && real.is_empty() {
        return Vec::new();
    }
    let address = |text: &str| IpAddr::from_str(text.trim()).ok();
    let mut addresses: Vec<IpAddr> = forwarded.split(',').filter_map(address).collect();
    if let Some(real) = address(real)
        && !addresses.contains(&real)
    {
        addresses.push(real);
    }
    if addresses.last() == Some(&connection) {
        addresses.pop();
    }
    addresses.iter().map(ToString::to_string).collect()
}

fn user_agent(text: &str) -> String {
    if text.len() <= MAX_USER_AGENT {
        return text.to_owned();
    }
    format!("{}...TRUNCATED", &text[..text.floor_char_boundary(MAX_USER_AGENT)])
}

/// The kind of credential that was refused.
fn attempted(parts: &Parts) -> &'static str {
    let given = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    match given.split(|byte| *byte == b' ').next().unwrap_or_default() {
        scheme if scheme.eq_ignore_ascii_case(b"bearer") => "bearer",
        scheme if scheme.eq_ignore_ascii_case(b"basic") => "basic",
        b"" => "none",
        _ => "unknown",
    }
}

/// Records that a request which is let in is for a deprecated kind.
pub fn deprecated(record: &Record, def: &ResourceDef) {
    record.annotate("", "deprecated", "true");
    if let Some(release) = def.lifecycle.removed {
        record.annotate("", "removed-release", release.to_string());
    }
}

/// Records that the request gets a credential with this id.
pub fn issued(record: &Record, vocabulary: &Vocabulary, id: &str) {
    record.annotate_in(vocabulary.label_domain, "authentication", "issued-credential-id", id.to_owned());
}

/// Records the body of a write.
pub fn sent(record: &Record, head: &RequestHead<'_>, verb: Verb, target: &Target<'_>, sent: &SentBody) {
    if sent.bytes.is_empty() {
        return;
    }
    if verb == Verb::Patch {
        // As it came; a configuration in YAML becomes a text.
        record.request_patch(&sent.bytes);
        return;
    }
    let media_type = without_parameters(head.header(header::CONTENT_TYPE));
    if media_type.is_empty() || media_type == JSON {
        refer(record, verb, &sent.bytes);
        record.request_object(&sent.bytes);
        return;
    }
    let def = match verb {
        Verb::Delete | Verb::DeleteCollection => &DELETE_OPTIONS_TYPE,
        _ => {
            let body = target.subresource.and_then(|subresource| subresource.body);
            body.map_or(target.resource.def.type_def, |body| body.type_def)
        }
    };
    // What cannot be read is refused, and the answer says why.
    if let Ok(read) = (sent.reader)(&sent.bytes, def, &Limits::default()) {
        let text = read.tree.to_string();
        refer(record, verb, text.as_bytes());
        record.request_object(text.as_bytes());
    }
}

/// Names the object that a body is about where the path does not.
fn refer(record: &Record, verb: Verb, text: &[u8]) {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Named {
        metadata: Metadata,
    }
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Metadata {
        namespace: String,
        name: String,
        uid: String,
        resource_version: String,
    }
    if !matches!(verb, Verb::Create | Verb::Update) {
        return;
    }
    // A body that is no object is refused, and the path says what it was for.
    let Named { metadata } = serde_json::from_slice(text).unwrap_or_default();
    record.refer(&metadata.namespace, &metadata.name, &metadata.uid, &metadata.resource_version);
}

/// Records the object that is answered, in the form that the client gets.
pub fn answering<'a>(
    record: &'a Record,
    app: &'a App,
    target: &Target<'_>,
    form: &'a Form,
    answer: &Answer,
    large_work: &'a LargeWork,
) -> BoxFuture<'a, ()> {
    if let Answer::Created(object) = answer {
        // A name that the server made stands in no request.
        record.refer(&object.key().namespace, &object.key().name, "", "");
    }
    match answer {
        Answer::List(list) if record.wants_responses() => {
            let list = list.clone();
            Box::pin(async move {
                let text = response::list_text(&app.core, form, list, large_work, MAX_OBJECT).await;
                record_text(record, text);
            })
        }
        _ => {
            if record.wants_responses() {
                record_text(record, response::json_text(&app.core, target, form, answer));
            }
            Box::pin(ready(()))
        }
    }
}

fn record_text(record: &Record, text: Option<Vec<u8>>) {
    match text {
        Some(text) if text.len() <= MAX_OBJECT => record.response_object(&text),
        Some(_) => record.annotate("audit", "truncated", "true"),
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_headers_name() {
        let connection: IpAddr = "192.0.2.9".parse().unwrap();
        for (forwarded, real, expected) in [
            ("", "", &[][..]),
            ("198.51.100.1, 198.51.100.2", "", &["198.51.100.1", "198.51.100.2"]),
            ("nonsense, ::1", "198.51.100.3", &["::1", "198.51.100.3"]),
            ("198.51.100.1", "198.51.100.1", &["198.51.100.1"]),
            ("192.0.2.9", "", &[]),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in [("x-forwarded-for", forwarded), ("x-real-ip", real)] {
                if !value.is_empty() {
                    headers.insert(name, HeaderValue::from_static(value));
                }
            }
            assert_eq!(forwarded_for(&headers, connection), expected, "{forwarded} {real}");
        }
    }

    #[test]
    fn long_user_agents_are_cut() {
        assert_eq!(user_agent(&"x".repeat(1024)).len(), 1024);
        assert_eq!(user_agent(&"x".repeat(1025)), format!("{}...TRUNCATED", "x".repeat(1024)));
        assert_eq!(user_agent(&"é".repeat(513)), format!("{}...TRUNCATED", "é".repeat(512)));
        assert_eq!(user_agent(&"€".repeat(513)), format!("{}...TRUNCATED", "€".repeat(341)));
    }
}
