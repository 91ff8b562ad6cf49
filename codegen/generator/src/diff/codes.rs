//! The names of breaking changes: `B1..` of kinds, `B2..` of fields, `B3..` of versions, `B4..` of what is
//! beside the schema. A name is never given to another change. [`crate::explain`] says what each means.

macro_rules! codes {
    ($( $name:ident = $id:literal, )*) => {
        $( #[doc = concat!("`", $id, "`.")] pub const $name: &str = $id; )*

        /// Every one of them.
        pub const ALL: &[&str] = &[$( $name, )*];
    };
}

codes! {
    KIND_REMOVED = "B101",
    SCOPE = "B102",
    PLURAL = "B103",
    NAME_LOST = "B104",
    VERB_LOST = "B105",
    SUBRESOURCE = "B106",
    NAME_FORMAT = "B107",
    SELECTOR_LOST = "B108",
    BEHAVIOUR = "B109",
    PROTOBUF_LOST = "B110",
    CONVERSION = "B111",
    FIELD_REMOVED = "B201",
    NOW_REQUIRED = "B202",
    NEW_REQUIRED = "B203",
    TYPE = "B204",
    VALUES = "B205",
    BOUNDS = "B206",
    FORMAT = "B207",
    DEFAULT = "B208",
    TAG = "B209",
    TAG_REUSED = "B210",
    MERGE = "B211",
    PATCH = "B212",
    IMMUTABLE = "B213",
    NULL = "B214",
    GATED = "B215",
    RULE = "B216",
    WRITTEN = "B217",
    KEYWORD = "B218",
    STORAGE_EARLY = "B301",
    STORED_GONE = "B302",
    LESS_STABLE = "B303",
    STABLE_REMOVED = "B304",
    REMOVED_EARLY = "B305",
    NOT_SERVED = "B306",
    OVERDUE = "B307",
    HISTORY = "B308",
    PREFERRED_EARLY = "B309",
    ELEMENT_REMOVED = "B401",
    STAGE = "B402",
    BACKDATED = "B403",
}
