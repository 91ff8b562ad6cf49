//! Servers over one etcd. Where etcd is missing, the tests print SKIPPED.

#[path = "../../../server/storage-etcd/tests/etcd/member.rs"]
mod member;
mod replicas;
