//! What somebody else removes from etcd, many keys at one revision, is told once and in order: by a server
//! that follows it, and by one that was cut off while etcd was compacted.

use http::Method;
use orch_tests::{
    TestServer,
    objects::{CONFIG_MAPS, config_map, names, version},
};

use crate::{
    gateway,
    member::Member,
    proxy::{Mode, Proxy},
    replicas::over,
    told::number,
};

/// More than one look of a watch takes, and more than revisions there were meanwhile.
const OBJECTS: usize = 200;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_remove_at_once_is_told() {
    let Some(member) = Member::start() else { return };
    let proxy = Proxy::start(&member.url).await;
    let direct = over(&member, "/foreign").start().await;
    let behind = TestServer::options().flag("--storage=etcd").flag("--etcd-prefix=/foreign");
    let behind = behind.flag(format!("--etcd-servers={}", proxy.url)).start().await;
    let made: Vec<String> = (0..OBJECTS).map(|index| format!("m{index:03}")).collect();
    for name in &made {
        direct.admin().post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    let from = version(&behind.admin().get(CONFIG_MAPS).await.expect(200)).to_owned();
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={from}");
    let watches = [direct.admin().watch(&path).await, behind.admin().watch(&path).await];

    proxy.cut_off().await;
    gateway::remove_below(&member, "/foreign/configmaps").await;
    let removal = gateway::revision(&member).await;
    gateway::compact(&member, removal).await;
    proxy.set(Mode::Open);
    let [mut direct_watch, mut behind_watch] = watches;
    let mut removed = Vec::new();
    for _ in 0..OBJECTS {
        let event = direct_watch.event().await;
        assert_eq!(event["type"], "DELETED", "{event}");
        let version = number(&event["object"]);
        assert!(version <= removal, "{version} is not there yet: etcd stands at {removal}");
        removed.push(orch_tests::objects::name(&event["object"]).to_owned());
    }
    removed.sort();
    assert_eq!(removed, made);
    // Nobody knows there when the objects went: its client has to list anew.
    assert_eq!(behind_watch.expect("ERROR").await["code"], 410);
    let listed = behind.admin().get(CONFIG_MAPS).await.expect(200);
    assert!(names(&listed).is_empty(), "{listed}");
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&listed));
    let after = direct.admin().post(CONFIG_MAPS, &config_map("after", "1")).await.expect(201);
    assert!(number(&after) > removal);
    for mut watch in [direct_watch, behind.admin().watch(&path).await] {
        assert_eq!(watch.expect("ADDED").await, after);
    }
    let listed = behind.admin().request(Method::GET, CONFIG_MAPS).send().await.expect(200);
    assert_eq!(names(&listed), ["after"]);
}
