//! One event, and its texts.

mod json;
mod legacy;

use std::{
    borrow::Cow,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use orch_auth::user::UserInfo;
use orch_runtime::scalar::MicroTime;
use serde::Serialize;

use self::json::Members;
use crate::policy::{Level, Stage};

/// What is recorded of a request at one stage.
#[derive(Clone, Debug)]
pub struct Event {
    /// How much is recorded.
    pub level: Level,
    /// The id that the client got.
    pub audit_id: String,
    /// When this is.
    pub stage: Stage,
    /// Path and query.
    pub request_uri: String,
    /// `get`, `list` ...; for a path, the HTTP method in lower case.
    pub verb: String,
    /// The caller; `None` before authentication.
    pub user: Option<Arc<UserInfo>>,
    /// The impersonated user, if the caller impersonates one.
    pub impersonated_user: Option<Arc<UserInfo>>,
    /// Addresses of the client and of proxies, from the headers of the request; most requests have none.
    pub forwarded_for: Vec<String>,
    /// The address of the connection.
    pub address: Arc<str>,
    /// What the client calls itself.
    pub user_agent: String,
    /// What the request is about; absent for paths outside the API.
    pub object_ref: Option<ObjectRef>,
    /// The outcome.
    pub response_status: Option<ResponseStatus>,
    /// The JSON text of what was sent.
    pub request_object: Option<Bytes>,
    /// The JSON text of what was answered.
    pub response_object: Option<Bytes>,
    /// When the request came.
    pub received: MicroTime,
    /// When the stage was reached.
    pub stage_time: MicroTime,
    /// In the order in which they became known.
    pub annotations: Vec<Annotation>,
}

/// An annotation of an event. Its key is `<area>.<suffix>/<name>`, or `<suffix>/<name>` where
/// the area is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The part of the server that knows it.
    pub area: &'static str,
    /// What the groups of the vocabulary end with, or the domain of its labels.
    pub suffix: &'static str,
    /// What it is.
    pub name: &'static str,
    /// Its value.
    pub value: Cow<'static, str>,
}

/// What a request is about. Parts that do not apply are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectRef {
    /// The plural name.
    pub resource: String,
    /// Of the object.
    pub namespace: String,
    /// Of the object.
    pub name: String,
    /// As the client names it.
    pub uid: String,
    /// Empty for the core group.
    pub api_group: String,
    /// `v1` ...
    pub api_version: String,
    /// As the client names it.
    pub resource_version: String,
    /// `status`, `scale` ...
    pub subresource: String,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseStatus {
    /// The HTTP code.
    pub code: u16,
    /// The JSON text of a `Status` with that code, without its kind and version.
    pub text: Bytes,
}

impl ResponseStatus {
    /// An outcome of which only the code is known.
    pub fn of_code(code: u16) -> Self {
        // That of nearly all requests.
        const FINE: Bytes = Bytes::from_static(br#"{"metadata":{},"code":200}"#);
        let text = if code == 200 { FINE } else { format!(r#"{{"metadata":{{}},"code":{code}}}"#).into() };
        ResponseStatus { code, text }
    }

    /// The same with a text. `status` is `Success` or `Failure`; `reason` may be empty.
    pub(crate) fn told(code: u16, status: &'static str, message: &str, reason: &'static str) -> Self {
        #[derive(Serialize)]
        struct Told<'a> {
            metadata: Empty,
            status: &'static str,
            message: &'a str,
            #[serde(skip_serializing_if = "str::is_empty")]
            reason: &'static str,
            code: u16,
        }
        #[derive(Serialize)]
        struct Empty {}
        let told = Told { metadata: Empty {}, status, message, reason, code };
        let text = serde_json::to_vec(&told).expect("texts and numbers have a JSON form");
        ResponseStatus { code, text: text.into() }
    }
}

impl Event {
    /// The JSON text without kind and version, as in a list of events.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.size());
        let mut members = Members::open(&mut text);
        self.write(&mut members);
        members.close();
        text
    }

    /// The whole JSON text of an event in this version, as a line of a log.
    pub fn line(&self, api_version: &str) -> Vec<u8> {
        let mut line = Vec::with_capacity(self.size());
        let mut members = Members::open(&mut line);
        members.text("kind", "Event");
        members.text("apiVersion", api_version);
        self.write(&mut members);
        members.close();
        line.push(b'\n');
        line
    }

    /// Adds all members, in the order of the reference.
    fn write(&self, members: &mut Members<'_>) {
        members.text("level", self.level.name());
        members.text("auditID", &self.audit_id);
        members.text("stage", self.stage.name());
        members.text("requestURI", &self.request_uri);
        members.text("verb", &self.verb);
        members.object("user", |members| {
            if let Some(user) = &self.user {
                write_user(user, members);
            }
        });
        if let Some(user) = &self.impersonated_user {
            members.object("impersonatedUser", |members| write_user(user, members));
        }
        members.texts("sourceIPs", self.forwarded_for.iter().map(String::as_str).chain([&*self.address]));
        members.some_text("userAgent", &self.user_agent);
        if let Some(object) = &self.object_ref {
            members.object("objectRef", |members| object.write(members));
        }
        members.some_json("responseStatus", self.response_status.as_ref().map(|status| &*status.text));
        members.some_json("requestObject", self.request_object.as_deref());
        members.some_json("responseObject", self.response_object.as_deref());
        members.shown("requestReceivedTimestamp", self.received);
        members.shown("stageTimestamp", self.stage_time);
        if !self.annotations.is_empty() {
            members.object("annotations", |members| {
                for Annotation { area, suffix, name, value } in &self.annotations {
                    let dot = if area.is_empty() { "" } else { "." };
                    members.text_of(&[area, dot, suffix, "/", name], value);
                }
            });
        }
    }

    /// The line of the older log format, which is for people.
    pub fn legacy_line(&self) -> Vec<u8> {
        legacy::line(self)
    }

    /// About how long the text is.
    fn size(&self) -> usize {
        const REST: usize = 1024;
        let object = |object: &Option<Bytes>| object.as_ref().map_or(0, Bytes::len);
        let texts = self.request_uri.len() + self.user_agent.len();
        object(&self.request_object) + object(&self.response_object) + texts + REST
    }
}

fn write_user(user: &UserInfo, members: &mut Members<'_>) {
    members.some_text("username", &user.name);
    members.some_text("uid", &user.uid);
    members.some_texts("groups", &user.groups);
    members.some_lists("extra", &user.extra);
}

impl ObjectRef {
    fn write(&self, members: &mut Members<'_>) {
        members.some_text("resource", &self.resource);
        members.some_text("namespace", &self.namespace);
        members.some_text("name", &self.name);
        members.some_text("uid", &self.uid);
        members.some_text("apiGroup", &self.api_group);
        members.some_text("apiVersion", &self.api_version);
        members.some_text("resourceVersion", &self.resource_version);
        members.some_text("subresource", &self.subresource);
    }
}

/// A time as events have it.
pub fn micro_time(time: SystemTime) -> MicroTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    MicroTime::from_unix_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// An event with every member.
    pub fn full() -> Event {
        let user = |name: &str| {
            Some(Arc::new(UserInfo {
                name: name.to_owned(),
                uid: "7".to_owned(),
                groups: vec!["devs".to_owned()],
                extra: [("team".to_owned(), vec!["a".to_owned()])].into(),
            }))
        };
        Event {
            level: Level::RequestResponse,
            audit_id: "0f1e".to_owned(),
            stage: Stage::ResponseComplete,
            request_uri: "/api/v1/namespaces/n/configmaps?a=\"b\"".to_owned(),
            verb: "create".to_owned(),
            user: user("bob"),
            impersonated_user: user("ann"),
            forwarded_for: vec!["192.0.2.1".to_owned()],
            address: "::1".into(),
            user_agent: "test/1".to_owned(),
            object_ref: Some(ObjectRef {
                resource: "configmaps".to_owned(),
                namespace: "n".to_owned(),
                name: "a".to_owned(),
                api_version: "v1".to_owned(),
                ..ObjectRef::default()
            }),
            response_status: Some(ResponseStatus::of_code(201)),
            request_object: Some(r#"{"a":1}"#.into()),
            response_object: Some(r#"{"b":[]}"#.into()),
            received: MicroTime::from_unix_micros(1),
            stage_time: MicroTime::from_unix_micros(2_000_000),
            annotations: [("a", "v"), ("", "w")]
                .map(|(area, value)| Annotation {
                    area,
                    suffix: "example.io",
                    name: "k",
                    value: value.into(),
                })
                .to_vec(),
        }
    }

    #[test]
    fn members_stand_in_the_order_of_the_reference() {
        let line = String::from_utf8(full().line("audit.example.io/v1")).unwrap();
        assert_eq!(
            line,
            concat!(
                r#"{"kind":"Event","apiVersion":"audit.example.io/v1","level":"RequestResponse","auditID":"0f1e","#,
                r#""stage":"ResponseComplete","requestURI":"/api/v1/namespaces/n/configmaps?a=\"b\"","#,
                r#""verb":"create","user":{"username":"bob","uid":"7","groups":["devs"],"extra":{"team":["a"]}},"#,
                r#""impersonatedUser":{"username":"ann","uid":"7","groups":["devs"],"extra":{"team":["a"]}},"#,
                r#""sourceIPs":["192.0.2.1","::1"],"userAgent":"test/1","objectRef":{"resource":"configmaps","#,
                r#""namespace":"n","name":"a","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":201},"#,
                r#""requestObject":{"a":1},"responseObject":{"b":[]},"#,
                r#""requestReceivedTimestamp":"1970-01-01T00:00:00.000001Z","#,
                r#""stageTimestamp":"1970-01-01T00:00:02.000000Z","annotations":{"a.example.io/k":"v","example.io/k":"w"}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let event = Event {
            user: None,
            impersonated_user: None,
            forwarded_for: Vec::new(),
            user_agent: String::new(),
            object_ref: None,
            response_status: None,
            request_object: None,
            response_object: None,
            annotations: Vec::new(),
            ..full()
        };
        let value: Value = serde_json::from_slice(&event.text()).unwrap();
        assert_eq!(
            value,
            json!({
                "level": "RequestResponse", "auditID": "0f1e", "stage": "ResponseComplete",
                "requestURI": "/api/v1/namespaces/n/configmaps?a=\"b\"", "verb": "create", "user": {},
                "sourceIPs": ["::1"],
                "requestReceivedTimestamp": "1970-01-01T00:00:00.000001Z",
                "stageTimestamp": "1970-01-01T00:00:02.000000Z",
            })
        );
    }

    #[test]
    fn statuses_are_those_of_clients_without_kind_and_version() {
        let told = ResponseStatus::told(500, "Failure", "a \"panic\"", "InternalError");
        let text = std::str::from_utf8(&told.text).unwrap();
        let expected = r#"{"metadata":{},"status":"Failure","message":"a \"panic\"","reason":"InternalError","code":500}"#;
        assert_eq!(text, expected);
    }
}
