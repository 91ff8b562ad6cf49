//! Values that the reference has written into etcd: JSON with its fields in any order, or protobuf in its
//! envelope. An object that is changed here is written in the form of this server, which the reference reads.

use std::{collections::HashMap, sync::Arc};

use orch_machinery::{
    body::{Reader, read_json, read_protobuf},
    json::Limits,
    meta,
};
use orch_registry::{
    catalog::{Catalog, ServedResource},
    stored,
};
use orch_storage::{Body, Key, ResourceName};
use orch_storage_etcd::OtherForms;

/// See the module.
#[derive(Debug)]
pub struct FormsOfReference {
    resources: HashMap<ResourceName, Arc<ServedResource>>,
}

impl FormsOfReference {
    /// Of the kinds that are served.
    pub fn of(catalog: &Catalog) -> Self {
        let resources = catalog.stored_resources();
        let resources = resources.map(|resource| (resource.storage_name.clone(), Arc::clone(resource)));
        Self { resources: resources.collect() }
    }
}

impl OtherForms for FormsOfReference {
    fn read(&self, key: &Key, value: &[u8]) -> Option<Body> {
        let resource = self.resources.get(&key.resource)?;
        let read: Reader = if value.starts_with(b"{") { read_json } else { read_protobuf };
        let tree = read(value, resource.def.type_def, &Limits::default()).ok()?.tree;
        // Fields of another version could have the same names or numbers, and mean something else.
        if tree["apiVersion"] != *resource.api_version || tree["kind"] != resource.def.kind {
            return None;
        }
        // In protobuf, fields are empty that are absent otherwise. Defaults are those of the reader.
        let mut object = (resource.def.from_tree)(tree).ok()?;
        object.set_defaults();
        let mut tree = object.to_tree().ok()?;
        meta::set_type(&mut tree, resource.def.kind, &resource.api_version);
        stored::encode_body(resource, &tree, None, false).ok()
    }
}
