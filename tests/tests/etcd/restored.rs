//! An etcd that was restored from a copy has lost writes that were answered. What its servers have in memory
//! is wrong from then on, so they end, and begin anew.

use orch_tests::objects::{CONFIG_MAPS, config_map, names};

use crate::{member::Member, replicas::over};

/// More writes than are lost.
const MORE: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_ends_where_etcd_has_lost_writes() {
    // Whether others have made as many writes by the time that the server looks.
    for is_passed in [false, true] {
        let Some(mut member) = Member::start() else { return };
        let mut server = over(&member, "/restored").start().await;
        server.admin().post(CONFIG_MAPS, &config_map("kept", "1")).await.expect(201);
        let copy = tempfile::tempdir().expect("a temporary directory can be made");
        member.copied(copy.path(), false);
        for name in ["lost-1", "lost-2", "lost-3"] {
            server.admin().post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
        }

        server.pause(true).await;
        member.copied(copy.path(), true);
        if is_passed {
            let mut other = over(&member, "/restored").start().await;
            for number in 0..MORE {
                let map = config_map(&format!("new-{number}"), "1");
                other.admin().post(CONFIG_MAPS, &map).await.expect(201);
            }
            other.stop().await;
        }
        server.pause(false).await;
        assert_eq!(server.exited().await.code(), Some(1), "{}", server.log());
        let told = "the server cannot go on: etcd has lost writes that were answered";
        assert!(server.log().contains(told), "{}", server.log());

        server.restart().await;
        let answer = server.admin().get(CONFIG_MAPS).await.expect(200);
        let listed = names(&answer);
        assert_eq!(listed.len(), if is_passed { MORE + 1 } else { 1 }, "{listed:?}");
        assert!(listed.iter().all(|name| !name.starts_with("lost")), "{listed:?}");
    }
}

/// Where nothing is lost, a server goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_goes_on_where_etcd_was_only_away() {
    let Some(mut member) = Member::start() else { return };
    let server = over(&member, "/away").start().await;
    for round in ["a", "b", "c"] {
        server.admin().post(CONFIG_MAPS, &config_map(round, "1")).await.expect(201);
        member.kill();
        member.restart();
        // The watch begins anew before this is answered.
        server.admin().get(CONFIG_MAPS).await.expect(200);
    }
    assert!(server.is_running());
    assert_eq!(names(&server.admin().get(CONFIG_MAPS).await.expect(200)), ["a", "b", "c"]);
}
