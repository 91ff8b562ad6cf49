//! Admission plugins and controllers that operators turn off, and races that nothing may lose: creates
//! against the deletion of their namespace, and services that want the same address.

use std::time::Duration;

use orch_tests::{
    TestServer,
    objects::{NAMESPACES, config_map, name, namespace},
};
use serde_json::{Value, json};

#[tokio::test]
async fn an_admission_plugin_that_is_off_refuses_nothing_and_adds_nothing() {
    let flag = "--disable-admission-plugins=NamespaceLifecycle,DefaultTolerationSeconds";
    let server = TestServer::options().flag(flag).start().await;
    let admin = server.admin();
    admin.post("/api/v1/namespaces/missing/configmaps", &config_map("a", "1")).await.expect(201);
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    let created = admin.post("/api/v1/namespaces/default/pods", &pod).await.expect(201);
    assert_eq!(created["spec"]["tolerations"], Value::Null);
    assert_eq!(created["spec"]["priority"], 0, "the others are on");
}

#[tokio::test]
async fn a_controller_that_is_off_does_nothing() {
    let server = TestServer::options().flag("--controllers=*,-namespace").start().await;
    let admin = server.admin();
    admin.post(NAMESPACES, &namespace("doomed")).await.expect(201);
    let inside = "/api/v1/namespaces/doomed/configmaps";
    admin.post(inside, &config_map("a", "1")).await.expect(201);
    admin.delete(&format!("{NAMESPACES}/doomed")).await.expect(200);
    let ready = admin.get("/readyz?verbose").await.text();
    assert!(ready.contains("controller/system-namespaces ok"), "{ready}");
    assert!(!ready.contains("controller/namespace ok"), "{ready}");
    // The other controller that looks at namespaces still works; by then this one would have, too.
    admin.delete(&format!("{NAMESPACES}/orch-node-lease")).await.expect(200);
    tokio::time::sleep(Duration::from_secs(1)).await;
    admin.get(&format!("{inside}/a")).await.expect(200);
    let left = admin.get(&format!("{NAMESPACES}/doomed")).await.expect(200);
    assert_eq!(left["status"]["phase"], "Terminating");
}

/// Whatever was created before its namespace went is deleted with it, and nothing is created afterwards.
#[tokio::test]
async fn no_object_is_left_behind_in_a_namespace_that_goes() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for round in 0..10 {
        let doomed = format!("doomed-{round}");
        admin.post(NAMESPACES, &namespace(&doomed)).await.expect(201);
        let inside = format!("/api/v1/namespaces/{doomed}/configmaps");
        let creates = (0..8).map(|writer| {
            let (admin, inside) = (admin.clone(), inside.clone());
            tokio::spawn(async move {
                let mut made = 0;
                for index in 0..200 {
                    let answer = admin.post(&inside, &config_map(&format!("m{writer}-{index}"), "1")).await;
                    match answer.status {
                        201 => made += 1,
                        403 | 404 => return made,
                        _ => panic!("{answer:?}"),
                    }
                }
                made
            })
        });
        let creates: Vec<_> = creates.collect();
        tokio::time::sleep(Duration::from_millis(5 * round)).await;
        admin.delete(&format!("{NAMESPACES}/{doomed}")).await.expect(200);
        for create in creates {
            create.await.unwrap();
        }
        let path = format!("{NAMESPACES}/{doomed}");
        let gone = async {
            while admin.get(&path).await.status != 404 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), gone).await.expect("the namespace goes");
        let left = admin.get("/api/v1/configmaps").await.expect(200);
        let left: Vec<&str> = left["items"].as_array().unwrap().iter().map(name).collect();
        assert!(left.is_empty(), "{left:?} are left in {doomed}");
    }
}

/// A network of 8 addresses has five to give. Twenty services at once get them, each its own, and the rest
/// are refused.
#[tokio::test]
async fn the_last_address_goes_to_one_service() {
    let server = TestServer::options().flag("--service-cluster-ip-range=10.0.0.0/29").start().await;
    let services = "/api/v1/namespaces/default/services";
    let attempts = (0..20).map(|index| {
        let admin = server.admin();
        tokio::spawn(async move {
            let service = json!({
                "apiVersion": "v1", "kind": "Service", "metadata": {"name": format!("s{index}")},
                "spec": {"ports": [{"port": 80}]},
            });
            let answer = admin.post(services, &service).await;
            match answer.status {
                201 => Some(answer.json()["spec"]["clusterIP"].as_str().unwrap().to_owned()),
                500 if answer.text().contains("range is full") => None,
                _ => panic!("{answer:?}"),
            }
        })
    });
    let mut addresses = Vec::new();
    for attempt in attempts.collect::<Vec<_>>() {
        addresses.extend(attempt.await.unwrap());
    }
    addresses.sort();
    assert_eq!(addresses, ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6"]);
}
