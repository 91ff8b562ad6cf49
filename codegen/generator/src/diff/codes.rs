//! The names of breaking changes: `B1..` of kinds, `B2..` of fields, `B3..` of versions, `B4..` of what is
//! beside the schema. A name is never given to another change.

use crate::diagnostic::Code;

macro_rules! codes {
    ($( $name:ident = $id:literal: $title:literal, )*) => {
        $( #[doc = $title] pub static $name: Code = Code { id: $id, title: $title }; )*

        /// Every one of them.
        pub static ALL: &[&Code] = &[$( &$name, )*];
    };
}

codes! {
    KIND_REMOVED = "B101": "a kind is removed before its time",
    SCOPE = "B102": "the scope of a kind changed",
    PLURAL = "B103": "the name of a kind in URLs changed",
    NAME_LOST = "B104": "a short name, singular name or category is lost",
    VERB_LOST = "B105": "a verb is lost",
    SUBRESOURCE = "B106": "a subresource is lost or has another body",
    NAME_FORMAT = "B107": "fewer names are allowed for objects",
    SELECTOR_LOST = "B108": "a field selector is lost",
    BEHAVIOUR = "B109": "a kind answers writes in another way",
    PROTOBUF_LOST = "B110": "a type has no protobuf form any more",
    FIELD_REMOVED = "B201": "a field is removed",
    NOW_REQUIRED = "B202": "an optional field became required",
    NEW_REQUIRED = "B203": "a new field is required",
    TYPE = "B204": "a value has another type",
    VALUES = "B205": "a value of an enum is lost",
    BOUNDS = "B206": "a bound is narrower",
    FORMAT = "B207": "a text has to match another pattern or format",
    DEFAULT = "B208": "a default changed",
    TAG = "B209": "the protobuf tag of a field changed",
    TAG_REUSED = "B210": "a protobuf tag is used for another field",
    MERGE = "B211": "server-side apply merges a value in another way",
    PATCH = "B212": "a strategic merge patch merges a value in another way",
    IMMUTABLE = "B213": "a field cannot change any more",
    NULL = "B214": "null is no value any more",
    GATED = "B215": "a field or gate is off by default",
    RULE = "B216": "a rule is added or changed",
    WRITTEN = "B217": "a field is written in another way",
    KEYWORD = "B218": "a keyword changed whose meaning is not compared",
    STORAGE_EARLY = "B301": "objects are stored in a version that the last release does not know",
    STORED_GONE = "B302": "a version in which objects are stored is gone",
    LESS_STABLE = "B303": "the replacement is less stable",
    STABLE_REMOVED = "B304": "a stable version is removed within a major release",
    REMOVED_EARLY = "B305": "a beta version is removed too early",
    NOT_SERVED = "B306": "a version is not served by default any more",
    OVERDUE = "B307": "a beta version stays for too long",
    HISTORY = "B308": "what has been announced is taken back or made earlier",
}
