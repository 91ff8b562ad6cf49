//! What a kind costs in memory: a server of all kinds beside one of two, which is the same program.

use orch_tests::{Client, TestServer};
use serde_json::Value;

use super::{
    STARTS, process,
    report::{Report, Wanted, median},
};

/// Serves two kinds and nothing else.
const FEW: &str = "--runtime-config=api/all=false,v1/namespaces=true,v1/configmaps=true";

/// Memory by kind: at first, and when all documents have been read and every kind has been listed.
pub async fn memory(report: &mut Report) {
    let (mut idle, mut used) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let few = Looked::at(TestServer::options().flag(FEW).start().await).await;
        let all = Looked::at(TestServer::start().await).await;
        assert!(all.kinds > few.kinds, "the flag turns kinds off");
        let more = (all.kinds - few.kinds) as f64;
        idle.push((all.idle - few.idle) / more);
        used.push((all.used - few.used) / more);
    }
    report.kibibytes("memory of a kind, idle", median(&mut idle), Wanted::AtMost(100.0));
    report.kibibytes("memory of a kind, all documents read", median(&mut used), Wanted::AtMost(100.0));
}

/// What a server had in memory, in bytes.
struct Looked {
    kinds: usize,
    idle: f64,
    used: f64,
}

impl Looked {
    async fn at(server: TestServer) -> Self {
        let idle = process::resident_bytes(server.pid());
        let kinds = look_at_everything(&server.admin()).await;
        Looked { kinds, idle, used: process::resident_bytes(server.pid()) }
    }
}

/// Reads all documents, lists all kinds, and counts them.
async fn look_at_everything(admin: &Client) -> usize {
    let index = admin.get("/openapi/v3").await.expect(200);
    for document in index["paths"].as_object().expect("the index has paths").values() {
        admin.get(document["serverRelativeURL"].as_str().expect("a document has a URL")).await.expect(200);
    }
    let mut kinds = 0;
    for group_version in group_versions(admin).await {
        let resources = admin.get(&group_version).await.expect(200);
        let resources = resources["resources"].as_array().expect("a version has resources");
        for name in resources.iter().filter_map(|resource| resource["name"].as_str()) {
            if name.contains('/') {
                continue;
            }
            kinds += 1;
            // Some kinds cannot be listed: what matters is that they are asked.
            admin.get(&format!("{group_version}/{name}")).await;
        }
    }
    kinds
}

/// The paths of all versions of all groups.
async fn group_versions(admin: &Client) -> Vec<String> {
    let groups = admin.get("/apis").await.expect(200);
    let versions = groups["groups"].as_array().into_iter().flatten();
    let versions = versions.flat_map(|group| group["versions"].as_array().into_iter().flatten());
    let named = versions.filter_map(|version| version["groupVersion"].as_str());
    let named: Vec<String> = named.map(|name| format!("/apis/{name}")).collect();
    let core = admin.get("/api").await.expect(200);
    let core = core["versions"].as_array().into_iter().flatten().filter_map(Value::as_str);
    core.map(|version| format!("/api/{version}")).chain(named).collect()
}
