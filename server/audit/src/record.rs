//! The record of one request: what becomes known of it, and an event at each stage.
//!
//! A record that is dropped before it was completed belongs to a request whose client is gone, or to a watch
//! that has ended. Its last event is made then.

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use bytes::Bytes;
use orch_auth::user::UserInfo;

use crate::{
    backend::Backends,
    counters::Counters,
    event::{Annotation, Event, ResponseStatus, micro_time},
    object,
    policy::{Level, Stage, Verdict},
};

/// What happened where nothing was answered.
const CLOSED_EARLY: &str = "Connection closed early";

/// See the module.
#[derive(Debug)]
pub struct Record {
    verdict: Verdict,
    backends: Arc<Backends>,
    counters: Arc<Counters>,
    suffix: &'static str,
    /// What is known; nothing once the request is complete. Behind a pointer, because it is large.
    known: Mutex<Option<Box<Event>>>,
}

impl Record {
    pub(crate) fn new(
        verdict: Verdict,
        event: Event,
        backends: Arc<Backends>,
        counters: Arc<Counters>,
        suffix: &'static str,
    ) -> Self {
        Record { verdict, backends, counters, suffix, known: Mutex::new(Some(Box::new(event))) }
    }

    /// Whether objects that clients send are recorded.
    pub fn wants_requests(&self) -> bool {
        self.verdict.level >= Level::Request
    }

    /// Whether objects that are answered are recorded.
    pub fn wants_responses(&self) -> bool {
        self.verdict.level >= Level::RequestResponse
    }

    /// Adds an [`Annotation`] whose key has the suffix of groups. The first value of a key stays.
    pub fn annotate(&self, area: &'static str, name: &'static str, value: impl Into<Cow<'static, str>>) {
        self.annotate_in(self.suffix, area, name, value);
    }

    /// The same with another suffix.
    pub fn annotate_in(
        &self,
        suffix: &'static str,
        area: &'static str,
        name: &'static str,
        value: impl Into<Cow<'static, str>>,
    ) {
        self.note(|Event { annotations, .. }| {
            if !annotations.iter().any(|known| known.area == area && known.name == name) {
                annotations.push(Annotation { area, suffix, name, value: value.into() });
            }
        });
    }

    /// As whom the request is made.
    pub fn impersonated(&self, user: Arc<UserInfo>) {
        self.note(|event| event.impersonated_user = Some(user));
    }

    /// Names the object where the path does not: what is empty so far gets these values.
    pub fn refer(&self, namespace: &str, name: &str, uid: &str, resource_version: &str) {
        self.note(|event| {
            let Some(of) = &mut event.object_ref else { return };
            for (part, value) in [
                (&mut of.namespace, namespace),
                (&mut of.name, name),
                (&mut of.uid, uid),
                (&mut of.resource_version, resource_version),
            ] {
                if part.is_empty() {
                    value.clone_into(part);
                }
            }
        });
    }

    /// The object that was sent, as JSON text.
    pub fn request_object(&self, text: &[u8]) {
        if self.wants_requests() {
            let text = self.without_what_is_omitted(object::one_line(text));
            self.note(|event| event.request_object = Some(text));
        }
    }

    /// The patch that was sent, as it came.
    pub fn request_patch(&self, text: &[u8]) {
        if self.wants_requests() {
            self.note(|event| event.request_object = Some(object::one_line(text)));
        }
    }

    /// The object that is answered, as JSON text without line breaks.
    pub fn response_object(&self, text: &[u8]) {
        if self.wants_responses() {
            let text = self.without_what_is_omitted(Bytes::copy_from_slice(text.trim_ascii_end()));
            self.note(|event| event.response_object = Some(text));
        }
    }

    fn without_what_is_omitted(&self, text: Bytes) -> Bytes {
        if self.verdict.omits_managed_fields { object::without_managed_fields(text) } else { text }
    }

    /// The caller is known. Returns whether the request may go on.
    pub async fn received(&self) -> bool {
        let is_taken = self.reach(Stage::RequestReceived, None).await;
        if !is_taken {
            self.counters.refused();
        }
        is_taken
    }

    /// The head of the answer of a watch is made.
    pub async fn started(&self, status: ResponseStatus) {
        self.reach(Stage::ResponseStarted, Some(status)).await;
    }

    /// The answer is made. Nothing is recorded of the request after that.
    pub async fn completed(&self, status: ResponseStatus) {
        self.reach(Stage::ResponseComplete, Some(status)).await;
    }

    /// The server failed instead of answering. Nothing is recorded of the request after that.
    pub async fn panicked(&self, panic: &str) {
        let message = format!("APIServer panic'd: {panic}");
        let status = ResponseStatus::told(500, "Failure", &message, "InternalError");
        self.reach(Stage::Panic, Some(status)).await;
    }

    /// Hands on the event of a stage. Returns whether the request may go on.
    async fn reach(&self, stage: Stage, outcome: Option<ResponseStatus>) -> bool {
        if !self.backends.is_waited_for() {
            self.with_event(stage, outcome, |event| self.backends.post(event));
            return true;
        }
        let Some(event) = self.with_event(stage, outcome, Event::clone) else { return true };
        // A future on its own: it holds a call of the webhook, and requests hold this one.
        Box::pin(self.backends.process(&event)).await
    }

    /// Calls `f` with the event of a stage, unless the stage is not recorded, or the request is complete.
    fn with_event<R>(
        &self,
        stage: Stage,
        outcome: Option<ResponseStatus>,
        f: impl FnOnce(&Event) -> R,
    ) -> Option<R> {
        let mut known = self.locked();
        let event = known.as_mut()?;
        if outcome.is_some() {
            event.response_status = outcome;
        }
        let is_recorded = !self.verdict.omitted.contains(stage);
        let result = is_recorded.then(|| {
            self.counters.made();
            event.stage = stage;
            event.stage_time = micro_time(SystemTime::now());
            f(event)
        });
        if matches!(stage, Stage::ResponseComplete | Stage::Panic) {
            *known = None;
        }
        result
    }

    /// Changes what is known, while the request is not complete.
    fn note(&self, change: impl FnOnce(&mut Event)) {
        if let Some(event) = self.locked().as_mut() {
            change(event);
        }
    }

    /// A panic elsewhere leaves the state usable.
    fn locked(&self) -> MutexGuard<'_, Option<Box<Event>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let is_answered = match self.locked().as_ref() {
            Some(event) => event.response_status.is_some(),
            None => return,
        };
        let closed = || ResponseStatus::told(200, "Success", CLOSED_EARLY, "");
        let status = (!is_answered).then(closed);
        self.with_event(Stage::ResponseComplete, status, |event| self.backends.post(event));
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        backend::{
            Mode,
            log::{Format, Log, Output, Rotation, Settings},
        },
        event::{ObjectRef, tests::full},
        policy::Stages,
    };

    /// A record whose events go to a file.
    fn record(path: &Path, level: Level, omitted: Stages) -> Record {
        let settings = Settings {
            mode: Mode::Blocking,
            output: Output::File(
                path.to_owned(),
                Rotation { max_size: 1 << 20, max_age: None, max_backups: None, compress: false },
            ),
            format: Format::Json,
            buffer: 100,
            max_batch: 10,
            truncation: None,
            api_version: "audit.example.io/v1".to_owned(),
        };
        let counters = Arc::default();
        let log = Log::start(settings, &counters).unwrap();
        let event = Event {
            level,
            object_ref: Some(ObjectRef { resource: "configmaps".to_owned(), ..ObjectRef::default() }),
            impersonated_user: None,
            request_object: None,
            response_object: None,
            response_status: None,
            annotations: Vec::new(),
            ..full()
        };
        let verdict = Verdict { level, omitted, omits_managed_fields: true };
        Record::new(verdict, event, Arc::new(Backends::new(Some(log), None)), counters, "example.io")
    }

    async fn events(path: &Path, backends: &Backends) -> Vec<Value> {
        backends.flush(std::time::Duration::from_secs(10)).await;
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[tokio::test]
    async fn each_stage_shows_what_is_known_then() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let record = record(&path, Level::RequestResponse, Stages::default());
        let backends = Arc::clone(&record.backends);
        assert!(record.received().await);
        record.annotate("authorization", "decision", "allow");
        record.annotate("authorization", "decision", "forbid");
        record.annotate("", "deprecated", "true");
        record.refer("n", "a", "", "7");
        record.refer("other", "other", "u", "");
        record.request_object(b"{\n\"metadata\": {\"managedFields\": []}}");
        record.response_object(b"{\"metadata\":{\"managedFields\":[]}}\n");
        record.completed(ResponseStatus::of_code(201)).await;
        record.completed(ResponseStatus::of_code(500)).await;
        drop(record);
        let events = events(&path, &backends).await;
        let stages: Vec<&Value> = events.iter().map(|event| &event["stage"]).collect();
        assert_eq!(stages, ["RequestReceived", "ResponseComplete"]);
        assert_eq!(events[0].get("annotations"), None);
        assert_eq!(events[0].get("responseStatus"), None);
        let last = &events[1];
        let annotations =
            json!({"authorization.example.io/decision": "allow", "example.io/deprecated": "true"});
        assert_eq!(last["annotations"], annotations);
        let object = json!({"resource": "configmaps", "namespace": "n", "name": "a", "uid": "u",
                            "resourceVersion": "7"});
        assert_eq!(last["objectRef"], object);
        assert_eq!(last["responseStatus"], json!({"metadata": {}, "code": 201}));
        assert_eq!(last["requestObject"], json!({"metadata": {}}));
        assert_eq!(last["responseObject"], json!({"metadata": {}}));
    }

    #[tokio::test]
    async fn objects_are_recorded_by_level_and_stages_by_policy() {
        for (level, request, response) in [
            (Level::Metadata, false, false),
            (Level::Request, true, false),
            (Level::RequestResponse, true, true),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("log");
            let record = record(&path, level, [Stage::RequestReceived].into_iter().collect());
            let backends = Arc::clone(&record.backends);
            assert!(record.received().await);
            record.request_patch(b"[1]");
            record.response_object(b"{}");
            record.completed(ResponseStatus::of_code(200)).await;
            let events = events(&path, &backends).await;
            assert_eq!(events.len(), 1);
            assert_eq!(events[0].get("requestObject").is_some(), request, "{level:?}");
            assert_eq!(events[0].get("responseObject").is_some(), response, "{level:?}");
        }
    }

    #[tokio::test]
    async fn a_request_that_ends_without_an_answer_is_recorded() {
        for (is_started, message) in [(false, json!(CLOSED_EARLY)), (true, Value::Null)] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("log");
            let record = record(&path, Level::Metadata, Stages::default());
            let backends = Arc::clone(&record.backends);
            record.received().await;
            if is_started {
                record.started(ResponseStatus::of_code(200)).await;
            }
            drop(record);
            let events = events(&path, &backends).await;
            assert_eq!(events.len(), 2 + usize::from(is_started));
            let last = events.last().unwrap();
            assert_eq!(last["stage"], "ResponseComplete");
            assert_eq!(last["responseStatus"]["code"], 200);
            assert_eq!(last["responseStatus"]["message"], message);
        }
    }

    #[tokio::test]
    async fn a_panic_is_a_stage_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let record = record(&path, Level::Metadata, Stages::default());
        let backends = Arc::clone(&record.backends);
        record.received().await;
        record.panicked("no luck").await;
        drop(record);
        let events = events(&path, &backends).await;
        assert_eq!(events.len(), 2);
        assert_eq!(events[1]["stage"], "Panic");
        let status = json!({"metadata": {}, "status": "Failure", "message": "APIServer panic'd: no luck",
                            "reason": "InternalError", "code": 500});
        assert_eq!(events[1]["responseStatus"], status);
    }
}
