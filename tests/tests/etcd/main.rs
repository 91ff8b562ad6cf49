//! Servers over one etcd. Where etcd is missing, the tests print SKIPPED.

mod clock;
mod gateway;
mod leaders;
mod leaving;
mod linear;
#[path = "../../../server/storage-etcd/tests/etcd/member.rs"]
mod member;
mod migrate;
mod outbox;
#[path = "../../../server/storage-etcd/tests/etcd/proxy.rs"]
mod proxy;
mod reference;
mod refusals;
mod replicas;
mod restored;
mod resync;
mod secured;
mod told;
mod walkthrough;
