//! Stores over a member of etcd.

use std::sync::atomic::{AtomicUsize, Ordering};

use orch_storage_etcd::EtcdConfig;

use crate::member::Member;

/// A prefix that no other test uses.
pub fn prefix() -> String {
    static USED: AtomicUsize = AtomicUsize::new(0);
    format!("/test-{}", USED.fetch_add(1, Ordering::Relaxed))
}

/// A store over a member. Its values have their revisions after the last `@`.
pub fn config(member: &Member, prefix: &str) -> EtcdConfig {
    let at_the_end = |value: &[u8]| value.iter().rposition(|byte| *byte == b'@').map(|at| at + 1);
    let servers = vec![member.url.clone()];
    EtcdConfig { prefix: prefix.to_owned(), ..EtcdConfig::new(servers, "orch", at_the_end) }
}
