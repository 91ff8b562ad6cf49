//! The values of the fields that a kind can be selected by, as its schema lists them.
//!
//! They are read once for each state of an object and kept with it (`Object::memo`): a list looks at those of
//! many objects, and every watch with a field selector at those of both states of an event.

use std::borrow::Cow;

use orch_runtime::{
    Tree,
    resource_def::ResourceDef,
    type_def::{Scalar, Shape, TypeDef},
};
use orch_storage::Object;

use crate::{
    catalog::ServedResource,
    error::{ApiError, Result},
    forms::Way,
    per_form::PerForm,
    stored,
};

/// The values of all selectable fields of an object, in the order of the schema; empty where it has none.
/// They are one text, because many objects have them in memory.
#[derive(Debug, Default)]
pub struct FieldValues {
    text: Box<str>,
    /// Where each value ends in the text.
    ends: Box<[usize]>,
}

impl FieldValues {
    /// Reads them from stored bytes.
    ///
    /// # Errors
    /// Why the bytes are not JSON, for the log.
    pub fn read(def: &ResourceDef, bytes: &[u8]) -> Result<Self, String> {
        let paths = || def.selectable_fields.iter().flat_map(|field| field.paths);
        let found = stored::values_at(bytes, &paths().copied().collect::<Vec<_>>())?;
        let mut texts = paths().zip(found).map(|(path, value)| text_of(def, path, value));
        let mut text = String::new();
        let mut ends = Vec::with_capacity(def.selectable_fields.len());
        for field in def.selectable_fields {
            let values: Vec<String> = texts.by_ref().take(field.paths.len()).collect();
            text.extend(values.iter().find(|value| !value.is_empty()).map(String::as_str));
            ends.push(text.len());
        }
        Ok(FieldValues { text: text.into(), ends: ends.into() })
    }

    /// Those of an object, read now or before.
    ///
    /// # Errors
    /// 500 where the object is damaged.
    pub fn of<'o>(resource: &ServedResource, object: &'o Object) -> Result<&'o Self> {
        struct Kept(Result<FieldValues, String>);
        let bytes = stored::bytes_of(resource, object)?;
        let kept = object.memo(|_| Kept(FieldValues::read(resource.def, bytes)));
        kept.0.as_ref().map_err(|error| -> ApiError { stored::unreadable(resource, object, error) })
    }

    /// The value of the field with this label: that of the first of its paths with a value. Empty where there
    /// is none.
    pub fn get(&self, def: &ResourceDef, label: &str) -> &str {
        let Some(number) = def.selectable_fields.iter().position(|field| field.label == label) else {
            return "";
        };
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }
}

/// The value of the field with this label in the form of the resource.
///
/// # Errors
/// 500 where the object is damaged.
pub fn value<'o>(resource: &ServedResource, object: &'o Object, label: &str) -> Result<Cow<'o, str>> {
    let stored = resource.stored();
    if resource.stored_as.is_none() {
        return Ok(FieldValues::of(stored, object)?.get(stored.def, label).into());
    }
    // Most fields have the same value in the stored form, which is read once for all.
    if let Some(label) = Way::between(resource.def, stored.def).path(label)
        && stored.def.selectable_fields.iter().any(|field| field.label == label)
    {
        return Ok(FieldValues::of(stored, object)?.get(stored.def, &label).into());
    }
    Ok(converted(resource, object)?.get(resource.def, label).into())
}

/// The values in the form of the resource, which are read once for each state of the object.
fn converted<'o>(resource: &ServedResource, object: &'o Object) -> Result<&'o FieldValues> {
    let bytes = stored::bytes_of(resource, object)?;
    let forms = object.memo(|_| PerForm::<Result<FieldValues, String>>::default());
    let values = forms.get_or_make(resource.def, || {
        let values = FieldValues::read(resource.def, bytes);
        object.memo_grows(values.as_ref().map_or(0, |values| values.text.len()));
        values
    });
    values.as_ref().map_err(|error| stored::unreadable(resource, object, error))
}

/// An absent boolean or number counts as false or 0.
fn text_of(def: &ResourceDef, path: &[&str], value: Option<Tree>) -> String {
    match value {
        Some(Tree::String(text)) => text,
        Some(other) => other.to_string(),
        None => zero_of(def.type_def, path).unwrap_or_default().to_owned(),
    }
}

fn zero_of(def: &'static TypeDef, path: &[&str]) -> Option<&'static str> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(def, |def, name| match def.field(name)?.shape {
        Shape::Object(inner) => Some(inner),
        _ => None,
    })?;
    match parent.field(last)?.shape {
        Shape::Scalar(Scalar::Boolean) => Some("false"),
        Shape::Scalar(Scalar::Int32 | Scalar::Int64) => Some("0"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use orch_storage::{Body, Change, Key, Storage};

    use super::{FieldValues, converted, value};
    use crate::catalog::Catalog;

    const POD: &str = r#"{"metadata":{"resourceVersion":""},"spec":{"nodeName":"n1","hostNetwork":true},"status":{"phase":"Running"}}"#;

    /// Every field that the schema lists, in one reading; that reading serves all who ask later.
    #[tokio::test]
    async fn values_are_read_once_for_each_state() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        let pods = catalog.resource("", "v1", "pods").unwrap();
        let storage = Storage::in_memory();
        let key = Key::new(pods.storage_name.clone(), "n", "p");
        let created = Change::Create { key, body: Body::new(POD.into(), POD.find("\"}").unwrap()) };
        let object = storage.commit(created).await.unwrap().object;

        let values = FieldValues::of(pods, &object).unwrap();
        for (label, expected) in [
            ("spec.nodeName", "n1"),
            ("spec.host", "n1"),
            ("spec.hostNetwork", "true"),
            ("status.phase", "Running"),
            ("status.podIP", ""),
            ("status.podIPs", ""),
            ("none", ""),
        ] {
            assert_eq!(values.get(pods.def, label), expected, "{label}");
        }
        assert!(std::ptr::eq(values, FieldValues::of(pods, &object).unwrap()), "read twice");
        assert!(FieldValues::read(pods.def, b"{").is_err());
        assert_eq!(FieldValues::read(pods.def, b"{}").unwrap().get(pods.def, "spec.hostNetwork"), "false");
    }

    #[tokio::test]
    async fn values_of_each_form_are_read_once() {
        let catalog = Catalog::new(&orch_meta::KUBERNETES, orch_api::registry().iter().copied());
        let [stored, other] =
            ["", "events.k8s.io"].map(|group| catalog.resource(group, "v1", "events").unwrap());
        let storage = Storage::in_memory();
        let text = r#"{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"n","resourceVersion":""},"involvedObject":{"name":"p"},"reportingComponent":"c"}"#;
        let key = Key::new(stored.storage_name.clone(), "n", "e");
        let created = Change::Create { key, body: Body::new(text.into(), text.find("\"},\"inv").unwrap()) };
        let object = storage.commit(created).await.unwrap().object;
        for (resource, label) in [(other, "reportingController"), (stored, "reportingComponent")] {
            let values = converted(resource, &object).unwrap();
            assert_eq!(values.get(resource.def, label), "c");
            assert!(std::ptr::eq(values, converted(resource, &object).unwrap()), "read twice");
        }
        assert_eq!(value(other, &object, "regarding.name").unwrap(), "p");
    }
}
