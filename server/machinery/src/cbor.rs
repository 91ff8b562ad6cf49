//! CBOR (RFC 8949), read and written by type tables in the profile of the reference server.
//!
//! A document begins with the tag of self-described CBOR, which need not be there when it is read. Texts and
//! names are byte strings; bytes are byte strings with tag 22, which says that they are base64 elsewhere.
//! Integers and floating point numbers have their shortest form, lists and maps have lengths, and the entries
//! of a map are in the order of their encoded names. Times are texts.
//!
//! When it is read, names and texts may be text strings too, and lengths may be left out. Bytes without a tag
//! are the text that JSON has. Refused are names that a map has twice, names that are no texts, numbers that
//! JSON has not (not a number, infinity, beyond 64 bits), undefined and other simple values. Other tags are
//! ignored. The result is the same tree as from JSON.

mod decode;
mod encode;
mod fault;
mod head;

pub use self::{
    decode::{decode, decode_any, is_null},
    encode::{ListFrame, encode, encode_any, item, list_frame, watch_event},
};

/// The tag of self-described CBOR (RFC 8949 section 3.4.6), by which documents are recognized.
pub const SELF_DESCRIBED: &[u8] = &[0xd9, 0xd9, 0xf7];

/// The most items of a list, and entries of a map.
const MAX_ITEMS: usize = 1024;

/// The deepest nesting of lists, maps and tags.
const MAX_LEVELS: usize = 64;

/// The tags that have a meaning (RFC 8949 section 3.4).
mod tag {
    pub const TIME_TEXT: u64 = 0;
    pub const TIME_NUMBER: u64 = 1;
    pub const UNSIGNED_BIGNUM: u64 = 2;
    pub const NEGATIVE_BIGNUM: u64 = 3;
    pub const BASE64_URL: u64 = 21;
    pub const BASE64: u64 = 22;
    pub const BASE16: u64 = 23;
}

#[cfg(test)]
mod tests;
