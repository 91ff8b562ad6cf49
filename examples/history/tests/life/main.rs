//! The life of a kind in running servers: through all releases on one data directory, in two versions at the
//! same time, and while servers of two releases are exchanged.

#![allow(clippy::unwrap_used, reason = "a panic is the report of a test")]

mod manifests;
#[allow(dead_code, reason = "other tests restart and pause it")]
#[path = "../../../../server/storage-etcd/tests/etcd/member.rs"]
mod member;
mod migration;
mod program;
mod releases;
mod rolling;
mod versions;
