//! The bytes of a stored object in another form than the one that it is stored in.
//!
//! They are made once for each state of an object, and kept with it. A state that is replaced takes its
//! copies into the history, where they count.

use std::sync::OnceLock;

use bytes::Bytes;
use orch_machinery::json::encode::encode;
use orch_runtime::resource_def::ResourceDef;
use orch_storage::Object;

use super::{tree_of_bytes, version_of};
use crate::{catalog::ServedResource, conversion};

/// The bytes in one form, and those in others. There are a few forms in practice.
struct Kept {
    def: &'static ResourceDef,
    bytes: Result<Bytes, String>,
    others: Others,
}

#[derive(Default)]
struct Others(OnceLock<Box<Kept>>);

/// The bytes of a state of an object in the form of `resource`.
///
/// # Errors
/// Why there are none, for the log.
pub(super) fn bytes_of<'o>(resource: &ServedResource, object: &'o Object) -> Result<&'o Bytes, &'o str> {
    let mut others = object.memo(|_| Others::default());
    loop {
        let kept = others.0.get_or_init(|| Box::new(Kept::of(resource, object)));
        if std::ptr::eq(kept.def, resource.def) {
            return kept.bytes.as_ref().map_err(String::as_str);
        }
        others = &kept.others;
    }
}

impl Kept {
    fn of(resource: &ServedResource, object: &Object) -> Self {
        let stored = object.value().map_err(ToString::to_string);
        let bytes = stored.and_then(|stored| convert(resource, stored));
        object.memo_grows(bytes.as_ref().map_or(0, Bytes::len));
        Kept { def: resource.def, bytes, others: Others::default() }
    }
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
    use orch_machinery::json::Limits;
    use orch_machinery::json::decode::decode;
    use orch_storage::{Body, Change};

    use crate::{behaviour::Behaviours, client::Client, objects::key, stored, test_core};

    const GROUP: &str = "flowcontrol.apiserver.k8s.io";
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
}
