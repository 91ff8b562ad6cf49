//! The rules behind the schema's formats.
