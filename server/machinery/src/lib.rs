//! Pure algorithms over a tree and a type table: media types, codecs, selectors, patches, field ownership,
//! content negotiation, tables.
//!
//! An object is a [`Tree`](orch_runtime::Tree); its type is a static
//! [`TypeDef`](orch_runtime::type_def::TypeDef). Each algorithm is written once and serves all kinds. Nothing
//! in this crate does IO, names a kind or spells a product word.
//!
//! Every tree that this crate makes is at most [`json::MAX_DEPTH`] levels deep, whether it was decoded,
//! patched or merged. The recursive functions rely on that.

pub mod apply;
pub mod body;
pub mod cbor;
pub mod fieldset;
pub mod gated;
pub mod json;
pub mod list_item;
pub mod managed_fields;
pub mod media_type;
pub mod meta;
pub mod negotiate;
pub mod nullable;
pub mod partial;
pub mod patch;
pub mod protobuf;
pub mod scalars;
pub mod selector;
pub mod table;
pub mod tree;
pub mod yaml;

#[cfg(test)]
mod fixture;
