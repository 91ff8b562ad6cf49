//! Parts of objects and lists that are answers themselves: the metadata of an object, the metadata of a list.

use orch_runtime::{Tree, type_def::TypeDef};

use crate::json::encode::encode_part;

/// The metadata of a list or a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListMeta<'a> {
    /// The revision of the store at which the list was made.
    pub resource_version: &'a str,
    /// The token with which a client asks for the next page; empty on the last page.
    pub continue_token: &'a str,
    /// The number of items on the following pages, if it is known.
    pub remaining_item_count: Option<u64>,
}

impl ListMeta<'_> {
    /// Writes the metadata as a JSON object without empty fields.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut separator = b'{';
        for (name, text) in [("resourceVersion", self.resource_version), ("continue", self.continue_token)] {
            if !text.is_empty() {
                out.push(separator);
                separator = b',';
                write_json(name, out);
                out.push(b':');
                write_json(text, out);
            }
        }
        if let Some(count) = self.remaining_item_count.filter(|count| *count > 0) {
            out.push(separator);
            separator = b',';
            out.extend_from_slice(format!("\"remainingItemCount\":{count}").as_bytes());
        }
        if separator == b'{' {
            out.push(b'{');
        }
        out.push(b'}');
    }
}

/// Writes the metadata of an object as an object of kind `PartialObjectMetadata` in the given version.
pub fn write_partial_object(tree: &Tree, def: &'static TypeDef, api_version: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"kind":"PartialObjectMetadata","apiVersion":"#);
    write_json(api_version, out);
    out.extend_from_slice(br#","metadata":"#);
    match (tree.get("metadata"), def.field("metadata")) {
        (Some(metadata), Some(field)) => encode_part(metadata, &field.shape, out),
        _ => out.extend_from_slice(b"{}"),
    }
    out.push(b'}');
}

fn write_json(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::BAG;

    #[test]
    fn list_metadata_leaves_out_what_is_empty() {
        let write = |meta: ListMeta<'_>| {
            let mut out = Vec::new();
            meta.write(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(write(ListMeta::default()), "{}");
        let page = ListMeta { resource_version: "7", continue_token: "a\"b", remaining_item_count: Some(3) };
        assert_eq!(write(page), r#"{"resourceVersion":"7","continue":"a\"b","remainingItemCount":3}"#);
        let rest = ListMeta { remaining_item_count: Some(2), ..ListMeta::default() };
        assert_eq!(write(rest), r#"{"remainingItemCount":2}"#);
    }

    #[test]
    fn an_objects_metadata_stands_alone() {
        let mut out = Vec::new();
        let tree = json!({"kind": "Bag", "metadata": {"uid": "u", "name": "a"}, "data": {"k": "v"}});
        write_partial_object(&tree, &BAG, "meta.example.io/v1", &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            concat!(
                r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.example.io/v1","#,
                r#""metadata":{"name":"a","uid":"u"}}"#,
            )
        );
        let mut out = Vec::new();
        write_partial_object(&json!({}), &BAG, "v", &mut out);
        assert!(out.ends_with(br#""metadata":{}}"#));
    }
}
