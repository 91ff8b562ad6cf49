//! The bytes of a stored object in another form than the one that it is stored in.
//!
//! They are made once for each state of an object, and kept with it. A state that is replaced takes its
//! copies into the history, where they count.

use bytes::Bytes;
use orch_machinery::json::encode::encode;
use orch_storage::Object;

use super::{tree_of_bytes, version_of};
use crate::{catalog::ServedResource, conversion, per_form::PerForm};

/// The bytes of a state of an object in the form of `resource`.
///
/// # Errors
/// Why there are none, for the log.
pub(super) fn bytes_of<'o>(resource: &ServedResource, object: &'o Object) -> Result<&'o Bytes, &'o str> {
    let forms = object.memo(|_| PerForm::<Result<Bytes, String>>::default());
    let bytes = forms.get_or_make(resource.def, || {
        let stored = object.value().map_err(ToString::to_string);
        let bytes = stored.and_then(|stored| convert(resource, stored));
        object.memo_grows(bytes.as_ref().map_or(0, Bytes::len));
        bytes
    });
    bytes.as_ref().map_err(String::as_str)
}

/// Stored bytes in the form of `resource`.
///
/// # Errors
/// Why there are none, for the log.
pub(super) fn convert(resource: &ServedResource, stored: &[u8]) -> Result<Bytes, String> {
    let form = resource.forms.iter().find(|form| stored.starts_with(form.prefix.as_bytes()));
    let form = form.ok_or_else(|| {
        let version = version_of(stored).unwrap_or("no version");
        format!(
            "it is stored in {version}, which this program does not know: one that does has to migrate it"
        )
    })?;
    let tree = tree_of_bytes(form.def, stored)?;
    let tree = conversion::convert(form.def, resource, tree).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    encode(&tree, resource.def.type_def, &mut text);
    text.push(b'\n');
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use orch_machinery::json::Limits;
    use orch_machinery::json::decode::decode;
    use orch_storage::{Body, Change};
    use serde_json::json;

    use crate::{
        behaviour::Behaviours,
        catalog::ServedResource,
        client::Client,
        objects::key,
        options::DeletionOptions,
        stored, test_core,
        watch_stream::{self, ChangeType},
    };

    const GROUP: &str = "flowcontrol.apiserver.k8s.io";
    const PLURAL: &str = "prioritylevelconfigurations";
    const OLD: &str = r#"{"kind":"PriorityLevelConfiguration","apiVersion":"flowcontrol.apiserver.k8s.io/v1beta2","metadata":{"name":"l","uid":"u","resourceVersion":""},"spec":{"type":"Limited","limited":{"assuredConcurrencyShares":7,"limitResponse":{"type":"Reject"},"lendablePercent":0}},"status":{}}
"#;

    /// An object that an older build has stored, when another version was the stored one.
    #[tokio::test]
    async fn objects_in_an_old_version_are_read_and_written_anew() {
        let client = Client::new(test_core::core(&Behaviours::default()), "test");
        let catalog = client.core().catalog();
        let [v1, v1beta3, v1beta2] = ["v1", "v1beta3", "v1beta2"]
            .map(|version| catalog.resource(GROUP, version, "prioritylevelconfigurations").unwrap());
        let body = Body::new(OLD.into(), OLD.find("\"},\"spec").unwrap());
        let created = Change::Create { key: key(v1, "", "l"), body };
        let object = client.core().storage().commit(created).await.unwrap().object;
        for (resource, name) in [(v1, "nominal"), (v1beta3, "nominal"), (v1beta2, "assured"), (v1, "nominal")]
        {
            let bytes = stored::bytes_of(resource, &object).unwrap();
            let tree = decode(bytes, resource.def.type_def, &Limits::default()).unwrap().tree;
            assert_eq!(tree["apiVersion"], resource.api_version.as_str());
            assert_eq!(tree["spec"]["limited"][format!("{name}ConcurrencyShares")], 7);
            let again = stored::bytes_of(resource, &object).unwrap();
            assert!(std::ptr::eq(bytes, again), "they are made once");
            assert!(stored::list_item(resource, &object).unwrap().starts_with(b"\"metadata\":"));
        }
        assert!(std::ptr::eq(stored::bytes_of(v1beta2, &object).unwrap(), object.value().unwrap()));
        assert!(!stored::is_in_storage_version(v1beta2, &object).unwrap());

        // A write that changes nothing stores it in the version in which the server writes now.
        let read = stored::tree_of(v1, &object).unwrap();
        let written = client.update(v1, "", read).await.unwrap().expect("it stays");
        assert!(stored::is_in_storage_version(v1, &written).unwrap());
        let same = client.update(v1, "", stored::tree_of(v1, &written).unwrap()).await.unwrap();
        assert_eq!(same.expect("it stays").revision(), written.revision());
    }

    /// Readers have states that were replaced or deleted meanwhile: what they make of them is history too.
    #[tokio::test]
    async fn copies_of_departed_states_count_as_history() {
        let client = Client::new(test_core::core(&Behaviours::default()), "test");
        let catalog = client.core().catalog();
        let [v1, v1beta3] =
            ["v1", "v1beta3"].map(|version| catalog.resource(GROUP, version, PLURAL).unwrap());
        let storage = client.core().storage();
        let held = || storage.history().state_bytes;
        let tree = decode(OLD.as_bytes(), v1beta2(&client).def.type_def, &Limits::default()).unwrap().tree;
        let first = client.create(v1beta2(&client), "", tree).await.unwrap();
        let mut watch = client.watch(v1, first.revision()).unwrap();
        let mut changed = stored::tree_of(v1, &first).unwrap();
        changed["metadata"]["labels"] = json!({"a": "b"});
        let second = client.update(v1, "", changed).await.unwrap().expect("it stays");
        assert!(client.delete(v1, "", "l", DeletionOptions::default()).await.unwrap());
        let events = watch.take().unwrap();
        let [update, removal] = &events[..] else { panic!("{events:?}") };

        let mut before = held();
        for state in [&first, &second, removal.object()] {
            let copy = stored::bytes_of(v1beta3, state).unwrap();
            let tree = decode(copy, v1beta3.def.type_def, &Limits::default()).unwrap().tree;
            assert_eq!(tree["apiVersion"], v1beta3.api_version.as_str());
            before += copy.len() as u64;
            assert_eq!(held(), before, "of {state:?}");
            assert!(std::ptr::eq(copy, stored::bytes_of(v1beta3, state).unwrap()), "it is made once");
            assert_eq!(held(), before);
        }

        // Where an object leaves a selection, watches see the state before under the version of the change.
        let frames = storage.history().frame_bytes;
        let mut shown = 0;
        for resource in [v1, v1beta3, v1] {
            let state = watch_stream::state(resource, ChangeType::Deleted, update).unwrap();
            let tree = decode(&state, resource.def.type_def, &Limits::default()).unwrap().tree;
            assert_eq!(tree["apiVersion"], resource.api_version.as_str());
            assert_eq!(tree["metadata"]["resourceVersion"], update.revision().to_string());
            assert_eq!(tree["metadata"].get("labels"), None, "it is the state before");
            shown += if shown == 0 || resource.def.version == "v1beta3" { state.len() as u64 } else { 0 };
        }
        assert_eq!(storage.history().frame_bytes, frames + shown, "once for each version");

        storage.compact(storage.current_revision()).await.unwrap();
        drop(events);
        assert_eq!((held(), storage.history().frame_bytes), (0, 0));
    }

    fn v1beta2(client: &Client) -> &Arc<ServedResource> {
        client.core().catalog().resource(GROUP, "v1beta2", PLURAL).unwrap()
    }
}
