//! Where things are in etcd.
//!
//! An object is at `<prefix>/<resource>/<namespace>/<name>`, or at `<prefix>/<resource>/<name>` where it has
//! no namespace. The names of the API stand there as they are. A part that is empty, or has a `/` or a `%` in
//! it, is escaped, so that no name reaches another key.
//!
//! What belongs to the store itself begins with a `%` that escapes nothing:
//!
//! | key | what it holds |
//! |---|---|
//! | `%cluster` | the identity of the data, and its vocabulary |
//! | `%writes` | the newest write, see [`crate::journal`] |
//! | `%claims/<resource>` | changes with every write that gives an object of the resource a new term |
//! | `%compaction` | when history was compacted last |
//! | `%shared/<name>` | what servers share beside objects, see [`crate::shared_value`] |

use std::borrow::Cow;

use orch_storage::{Key, ResourceName};
use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};

/// What a part of a key must not have in it.
const ESCAPED: &AsciiSet = &AsciiSet::EMPTY.add(b'/').add(b'%');

/// A part that is empty.
const EMPTY: &str = "%";

const CLUSTER: &str = "%cluster";
const WRITES: &str = "%writes";
const CLAIMS: &str = "%claims";
const COMPACTION: &str = "%compaction";
const SHARED: &str = "%shared";

/// All keys below one prefix.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    /// With the slash.
    prefix: String,
}

/// What a key is about.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Object(Key),
    Claims(ResourceName),
    Writes,
    /// Something else of the store, or of nobody here.
    Other,
}

impl Keys {
    /// Of `/registry`, for example.
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: format!("/{}/", prefix.trim_matches('/')) }
    }

    /// The first key, and the one after the last.
    pub(crate) fn all(&self) -> (Vec<u8>, Vec<u8>) {
        let first = self.prefix.clone().into_bytes();
        let mut end = first.clone();
        if let Some(slash) = end.last_mut() {
            *slash += 1;
        }
        (first, end)
    }

    pub(crate) fn object(&self, key: &Key) -> Vec<u8> {
        let mut text = format!("{}{}/", self.prefix, escape(key.resource.as_str()));
        if !key.namespace.is_empty() {
            text.push_str(&escape(&key.namespace));
            text.push('/');
        }
        text.push_str(&escape(&key.name));
        text.into_bytes()
    }

    /// What the keys of the store itself begin with.
    pub(crate) fn own_begin(&self) -> Vec<u8> {
        self.own("%")
    }

    pub(crate) fn cluster(&self) -> Vec<u8> {
        self.own(CLUSTER)
    }

    pub(crate) fn writes(&self) -> Vec<u8> {
        self.own(WRITES)
    }

    pub(crate) fn compaction(&self) -> Vec<u8> {
        self.own(COMPACTION)
    }

    /// Of something that servers share.
    pub(crate) fn shared(&self, name: &str) -> Vec<u8> {
        format!("{}{SHARED}/{}", self.prefix, escape(name)).into_bytes()
    }

    pub(crate) fn claims(&self, resource: &ResourceName) -> Vec<u8> {
        format!("{}{CLAIMS}/{}", self.prefix, escape(resource.as_str())).into_bytes()
    }

    /// What a key of the prefix is about.
    pub(crate) fn place(&self, key: &[u8]) -> Place {
        let text = str::from_utf8(key).ok().and_then(|text| text.strip_prefix(&self.prefix));
        text.and_then(place).unwrap_or(Place::Other)
    }

    fn own(&self, name: &str) -> Vec<u8> {
        format!("{}{name}", self.prefix).into_bytes()
    }
}

fn place(text: &str) -> Option<Place> {
    let mut parts = text.split('/');
    let (resource, second, third) = (parts.next()?, parts.next(), parts.next());
    if parts.next().is_some() {
        return None;
    }
    Some(match (resource, second, third) {
        (WRITES, None, None) => Place::Writes,
        (CLAIMS, Some(resource), None) => Place::Claims(ResourceName::new(unescape(resource)?)),
        (resource, Some(name), None) => object(resource, "", &unescape(name)?)?,
        (resource, Some(namespace), Some(name)) => object(resource, &unescape(namespace)?, &unescape(name)?)?,
        _ => return None,
    })
}

fn object(resource: &str, namespace: &str, name: &str) -> Option<Place> {
    let resource = unescape(resource)?;
    Some(Place::Object(Key::new(ResourceName::new(resource), namespace, name)))
}

fn escape(part: &str) -> Cow<'_, str> {
    if part.is_empty() { Cow::Borrowed(EMPTY) } else { utf8_percent_encode(part, ESCAPED).into() }
}

/// `None` for what [`escape`] never writes.
fn unescape(part: &str) -> Option<Cow<'_, str>> {
    let text = if part == EMPTY { Cow::Borrowed("") } else { percent_decode_str(part).decode_utf8().ok()? };
    (escape(&text) == part).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(resource: &str, namespace: &str, name: &str) -> Key {
        Key::new(ResourceName::new(resource), namespace, name)
    }

    #[test]
    fn names_stand_as_they_are() {
        let keys = Keys::new("/registry/");
        for (key, want) in [
            (key("configmaps", "default", "a"), "/registry/configmaps/default/a"),
            (key("namespaces", "", "default"), "/registry/namespaces/default"),
            (key("roles.rbac", "ns", "system:a"), "/registry/roles.rbac/ns/system:a"),
            (key("pods/log", "a%2fb", ""), "/registry/pods%2Flog/a%252fb/%"),
            (key("pods", "", ""), "/registry/pods/%"),
            (key("", "%", "/"), "/registry/%/%25/%2F"),
        ] {
            let text = keys.object(&key);
            assert_eq!(String::from_utf8_lossy(&text), want);
            assert_eq!(keys.place(&text), Place::Object(key));
        }
    }

    #[test]
    fn nobody_writes_what_belongs_to_the_store() {
        let keys = Keys::new("registry");
        assert_eq!(keys.place(&keys.writes()), Place::Writes);
        let pods = ResourceName::new("pods");
        assert_eq!(keys.place(&keys.claims(&pods)), Place::Claims(pods));
        for own in [keys.cluster(), keys.compaction()] {
            assert_eq!(keys.place(&own), Place::Other);
        }
        for other in
            ["/registry/pods", "/registry/pods/a/b/c", "/registry/%zz/a", "/registry/a%2f/b", "/other/pods/a"]
        {
            assert_eq!(keys.place(other.as_bytes()), Place::Other, "{other}");
        }
        assert_eq!(keys.all(), (b"/registry/".to_vec(), b"/registry0".to_vec()));
    }
}
