//! The two vocabularies of one binary.

use orch_tests::{
    TestServer,
    objects::{NAMESPACES, names},
};

#[tokio::test]
async fn each_vocabulary_has_its_own_names_and_only_those() {
    for (vocabulary, group, other, system) in [
        (
            "orch",
            "coordination.orch.io",
            "coordination.k8s.io",
            ["orch-node-lease", "orch-public", "orch-system"],
        ),
        (
            "kubernetes",
            "coordination.k8s.io",
            "coordination.orch.io",
            ["kube-node-lease", "kube-public", "kube-system"],
        ),
    ] {
        let server = TestServer::options().vocabulary(vocabulary).start().await;
        let admin = server.admin();
        let namespaces = admin.get(NAMESPACES).await.expect(200);
        assert_eq!(names(&namespaces)[1..], system);
        let leases = admin.get(&format!("/apis/{group}/v1/leases")).await.expect(200);
        assert_eq!(leases["apiVersion"], format!("{group}/v1"));
        assert_eq!(admin.get(&format!("/apis/{other}/v1/leases")).await.status, 404);
        let everything = [
            admin.get("/apis").await.text(),
            admin.get(&format!("/openapi/v3/apis/{group}/v1")).await.text(),
            admin.get("/openapi/v3/api/v1").await.text(),
            admin.get(NAMESPACES).await.text(),
        ];
        let foreign = if vocabulary == "orch" { "k8s.io" } else { "orch.io" };
        for text in everything {
            assert!(!text.contains(foreign), "{foreign} in the vocabulary {vocabulary}: {text}");
        }
    }
}
