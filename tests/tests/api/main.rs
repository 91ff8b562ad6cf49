//! Black-box tests over TLS on real sockets: what a client sees of a server. Each test has a server of its
//! own.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]
#![allow(clippy::similar_names, reason = "a list, a lost one and the last one are what tests talk about")]

mod access_matrix;
mod auth;
mod authorization_file;
mod bad_input;
mod bindings;
mod bootstrap_tokens;
mod crud;
mod daemon_sets;
mod data_loss;
mod deletion;
mod discovery;
mod documents;
mod evictions;
mod forms;
mod full_disk;
mod garbage;
mod gates;
mod health;
mod kinds;
mod large_work;
mod limits;
mod lists;
mod metrics;
mod namespaces;
mod openapi;
mod owners;
mod paging;
mod parts;
mod permissions;
mod priorities;
mod protobuf;
mod read_options;
mod restart;
mod roles;
mod server_metadata;
mod services;
mod shutdown;
mod start;
mod status;
mod strategic;
mod tokens;
mod unsafe_delete;
mod vocabularies;
mod warnings;
mod watch;
mod wire;
mod write_answers;
mod write_bodies;
mod writes;
mod yaml;
