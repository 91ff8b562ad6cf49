//! Plans of daemon sets, from nodes and pods in memory.

use std::sync::Arc;

use orch_api::apps::v1::{DaemonSetStatus, DaemonSetUpdateStrategy};
use orch_runtime::scalar::Time;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, from_value, json};

use super::{
    placement::Placement::{self, Gone, Leaves, Runs, Stays},
    plan::plan,
    state::{HASH_LABEL, NodeState, Plan, Rules, Strategy, sort},
    status::observed,
    view::{OwnedView, Phase, PodView, Readiness},
};

const NOW: i64 = 1_000_000;

fn rules(strategy: Value) -> Rules {
    let strategy: DaemonSetUpdateStrategy = from_value(strategy).unwrap();
    Rules {
        hash: "new".to_owned(),
        twins: vec!["twin".to_owned()],
        min_ready_seconds: 0,
        strategy: Strategy::of(&strategy),
        now: Time::from_unix_seconds(NOW),
    }
}

fn rolling(max_unavailable: &Value, max_surge: &Value) -> Rules {
    rules(json!({"type": "RollingUpdate", "rollingUpdate": {
        "maxUnavailable": max_unavailable, "maxSurge": max_surge,
    }}))
}

/// A pod as a word tells it: `old` or `new`, then what is unusual about it.
fn pod(text: &str, number: usize) -> Arc<PodView> {
    let words: Vec<&str> = text.split('-').collect();
    let is = |word: &str| words.contains(&word);
    let readiness = if is("unready") {
        Readiness::NotReady
    } else {
        let seconds = if is("fresh") { 0 } else { 100 };
        Readiness::Ready(Some(Time::from_unix_seconds(NOW - seconds)))
    };
    let phase = match (is("failed"), is("succeeded")) {
        (true, _) => Phase::Failed,
        (_, true) => Phase::Succeeded,
        _ => Phase::Live,
    };
    Arc::new(PodView {
        name: text.into(),
        owned: OwnedView {
            labels: [(HASH_LABEL.to_owned(), words[0].to_owned())].into(),
            is_terminating: is("going"),
            ..OwnedView::default()
        },
        is_bound: !is("unbound"),
        readiness: if phase == Phase::Live { readiness } else { Readiness::NotReady },
        phase,
        created: Time::from_unix_seconds(NOW + number as i64),
        is_forced: is("forced"),
        ..PodView::default()
    })
}

/// Nodes `0`, `1` and so on, with pods.
fn nodes(nodes: &[(Placement, &[&str])]) -> Vec<NodeState> {
    let node = |(number, (placement, pods)): (usize, &(Placement, &[&str]))| {
        let mut pods: Vec<_> = pods.iter().enumerate().map(|(number, text)| pod(text, number)).collect();
        sort(&mut pods);
        NodeState { name: number.to_string().into(), placement: *placement, pods }
    };
    nodes.iter().enumerate().map(node).collect()
}

/// What a plan does, in words: `+1` makes a pod on node 1, `-old Extra` deletes that one.
fn shown(plan: &Plan) -> Vec<String> {
    let created = plan.create.iter().map(|node| format!("+{node}"));
    let deleted = plan.delete.iter().map(|(pod, why)| format!("-{} {why:?}", pod.name));
    created.chain(deleted).collect()
}

fn planned(placed: &[(Placement, &[&str])], rules: &Rules) -> Vec<String> {
    shown(&plan(&nodes(placed), rules, |_| None))
}

#[test]
fn every_node_gets_its_pod_and_no_other() {
    let (plain, surge) = (rolling(&json!(1), &json!(0)), rolling(&json!(0), &json!(1)));
    for (placement, pods, without_surge, with_surge) in [
        (Runs, &[][..], &["+0"][..], &["+0"][..]),
        (Runs, &["new"], &[], &[]),
        (Runs, &["new", "new-second"], &["-new-second Extra"], &["-new-second Extra"]),
        (Runs, &["new-unbound", "new"], &["-new-unbound Extra"], &["-new-unbound Extra"]),
        // A pod that is going keeps its place, unless there may be two.
        (Runs, &["new-going"], &[], &["+0"]),
        (Runs, &["new-failed"], &["-new-failed Failed"], &["+0", "-new-failed Failed"]),
        (Runs, &["new-succeeded"], &["-new-succeeded Succeeded"], &["+0", "-new-succeeded Succeeded"]),
        (Stays, &[], &[], &[]),
        (Stays, &["new"], &[], &[]),
        (Stays, &["new", "new-second"], &["-new-second Extra"], &["-new-second Extra"]),
        (Leaves, &["new", "old-going"], &["-new Misplaced"], &["-new Misplaced"]),
        (Gone, &["new"], &["-new NodeGone"], &["-new NodeGone"]),
        (Gone, &["new-going"], &["-new-going NodeGone"], &["-new-going NodeGone"]),
        (Gone, &["new-going-forced"], &[], &[]),
    ] {
        assert_eq!(planned(&[(placement, pods)], &plain), without_surge, "{placement:?} {pods:?}");
        assert_eq!(planned(&[(placement, pods)], &surge), with_surge, "{placement:?} {pods:?}");
    }
}

#[test]
fn a_failed_pod_waits_before_it_is_replaced() {
    for rules in [rolling(&json!(1), &json!(0)), rolling(&json!(0), &json!(1))] {
        let found = plan(&nodes(&[(Runs, &["new-failed"])]), &rules, |node| (node == "0").then_some(7));
        assert_eq!((shown(&found), found.again_in), (Vec::new(), Some(7)));
    }
}

#[test]
fn old_pods_go_while_few_enough_nodes_are_without() {
    const OLD: (Placement, &[&str]) = (Runs, &["old"]);
    const NEW: (Placement, &[&str]) = (Runs, &["new"]);
    const WAITING: (Placement, &[&str]) = (Runs, &["new-unready"]);
    const GOING: (Placement, &[&str]) = (Runs, &["old-going"]);
    const BROKEN: (Placement, &[&str]) = (Runs, &["old-unready"]);
    const STAYING: (Placement, &[&str]) = (Stays, &["old"]);
    let out = "-old Outdated";
    for (max_unavailable, placed, expected) in [
        (json!(1), &[OLD, OLD, OLD][..], &[out][..]),
        (json!(2), &[OLD, OLD, OLD], &[out, out]),
        (json!(2), &[OLD, WAITING, OLD], &[out]),
        (json!(2), &[OLD, GOING, OLD], &[out]),
        (json!(1), &[OLD, WAITING, OLD], &[]),
        (json!(1), &[OLD, NEW, NEW], &[out]),
        (json!(1), &[NEW, (Runs, &["twin"])], &[]),
        // One that serves nobody goes at once, and counts.
        (json!(1), &[BROKEN, OLD, OLD], &["-old-unready Outdated"]),
        (json!(2), &[BROKEN, OLD, OLD], &["-old-unready Outdated", out]),
        (json!(1), &[BROKEN, BROKEN, WAITING], &["-old-unready Outdated", "-old-unready Outdated"]),
        // Percentages are rounded up.
        (json!("1%"), &[OLD, OLD, OLD], &[out]),
        (json!("34%"), &[OLD, OLD, OLD], &[out, out]),
        (json!("100%"), &[OLD, OLD, OLD], &[out, out, out]),
        // None would be no progress.
        (json!(0), &[OLD, OLD, OLD], &[out]),
        // Where no pod will come again, one goes only within the limit.
        (json!(1), &[STAYING, OLD], &[out]),
        (json!(1), &[STAYING, WAITING], &[]),
        // Nodes that run none do not count.
        (json!("50%"), &[OLD, OLD, (Leaves, &[])], &[out]),
    ] {
        let rules = rolling(&max_unavailable, &json!(0));
        assert_eq!(planned(placed, &rules), expected, "{:?} {placed:?}", rules.strategy);
    }
    assert!(planned(&[OLD, OLD], &rules(json!({"type": "OnDelete"}))).is_empty());
    assert_eq!(planned(&[OLD, OLD], &rules(json!({}))), [out], "one by default");
}

#[test]
fn new_pods_start_beside_old_ones_up_to_the_limit() {
    const OLD: (Placement, &[&str]) = (Runs, &["old"]);
    const NEW: (Placement, &[&str]) = (Runs, &["new"]);
    const SURGING: (Placement, &[&str]) = (Runs, &["old", "new-unready"]);
    const BROKEN: (Placement, &[&str]) = (Runs, &["old-unready"]);
    for (max_surge, placed, expected) in [
        (json!(1), &[OLD, OLD, OLD][..], &["+0"][..]),
        (json!(2), &[OLD, OLD, OLD], &["+0", "+1"]),
        (json!("34%"), &[OLD, OLD, OLD], &["+0", "+1"]),
        (json!(1), &[SURGING, OLD], &[]),
        (json!(2), &[SURGING, OLD], &["+1"]),
        // The new one is available: the old one is marked deleted.
        (json!(1), &[(Runs, &["old", "new"]), OLD], &["-old Outdated"]),
        // The old one is not available: the updated pod is created whatever the limit.
        (json!(1), &[SURGING, BROKEN, BROKEN], &["+1", "+2"]),
        (json!(1), &[(Runs, &["old-unready", "new-unready"])], &["-old-unready Outdated"]),
        (json!(1), &[NEW, NEW], &[]),
        // An old pod that is being deleted is not counted.
        (json!(1), &[(Runs, &["old-going", "new-unready"]), OLD], &["+1"]),
        // Where the pod only stays, the old one goes when there are enough others.
        (json!(1), &[(Stays, &["old"]), NEW], &["-old Outdated"]),
        (json!(1), &[(Stays, &["old"]), (Runs, &["new-unready"])], &[]),
        (json!(1), &[(Stays, &["old-unready"]), NEW], &["-old-unready Outdated"]),
    ] {
        let rules = rolling(&json!(0), &max_surge);
        assert_eq!(planned(placed, &rules), expected, "{:?} {placed:?}", rules.strategy);
    }
}

#[test]
fn pods_count_when_they_have_been_ready_for_long_enough() {
    let mut plain = rolling(&json!(1), &json!(0));
    plain.min_ready_seconds = 30;
    let found = plan(&nodes(&[(Runs, &["new-fresh"]), (Runs, &["old"])]), &plain, |_| None);
    assert_eq!((shown(&found), found.again_in), (Vec::new(), Some(31)));
    let mut surge = rolling(&json!(0), &json!(1));
    surge.min_ready_seconds = 30;
    let placed = nodes(&[(Runs, &["old", "new-fresh"])]);
    assert_eq!(shown(&plan(&placed, &surge, |_| None)), [""; 0]);
    surge.min_ready_seconds = 10;
    surge.now = Time::from_unix_seconds(NOW + 11);
    assert_eq!(shown(&plan(&placed, &surge, |_| None)), ["-old Outdated"]);
}

#[test]
fn the_status_counts_nodes() {
    let before = DaemonSetStatus { collision_count: Some(2), ..DaemonSetStatus::default() };
    let mut rules = rolling(&json!(1), &json!(0));
    rules.min_ready_seconds = 30;
    let placed = nodes(&[
        (Runs, &["new"]),
        (Runs, &["new-fresh"]),
        (Runs, &["old", "new-unready"]),
        (Runs, &["old-unready"]),
        (Runs, &[]),
        (Stays, &["new"]),
        (Leaves, &["new"]),
        (Leaves, &[]),
        (Gone, &["new"]),
    ]);
    let expected = DaemonSetStatus {
        desired_number_scheduled: 5,
        current_number_scheduled: 4,
        number_misscheduled: 2,
        number_ready: 3,
        number_available: 2,
        number_unavailable: 3,
        updated_number_scheduled: 2,
        observed_generation: 4,
        collision_count: Some(2),
        ..DaemonSetStatus::default()
    };
    assert_eq!(observed(&before, 4, &placed, &rules), expected);
}

/// Random fleets: whatever pods and nodes do, no plan breaks the limits, and when they calm down every node
/// ends with one pod of the newest template.
#[test]
fn random_fleets_stay_within_the_limits() {
    let seed =
        std::env::var("ORCH_TEST_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(rand::random());
    println!("ORCH_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    for _ in 0..60 {
        let surge = random.random_range(0..4_usize);
        let unavailable = if surge == 0 { random.random_range(1..4_usize) } else { 0 };
        let size = random.random_range(1..20_usize);
        let rules = rolling(&json!(unavailable), &json!(surge));
        let mut fleet = nodes(&vec![(Runs, &["old"][..]); size]);
        let (mut made, mut joined) = (0, size);
        for step in 0.. {
            assert!(step < 1_000, "the rollout of {size} nodes ends: {fleet:?}");
            let found = plan(&fleet, &rules, |_| None);
            let serving = |fleet: &[NodeState]| {
                let serves = |pod: &Arc<PodView>| !pod.owned.is_terminating && rules.is_available(pod);
                let there = fleet.iter().filter(|node| node.placement == Runs);
                there.filter(|node| node.pods.iter().any(serves)).count()
            };
            let size = fleet.iter().filter(|node| node.placement == Runs).count();
            let before = serving(&fleet);
            carry_out(&mut fleet, &found, &mut made);
            let after = serving(&fleet);
            let (limit, lost) = (size - unavailable.min(size), before - after);
            assert!(lost == 0 || after >= limit, "{before} -> {after} of {size}, at least {limit}");
            let is_beside = |node: &NodeState| {
                let live: Vec<_> = node.pods.iter().filter(|pod| !pod.owned.is_terminating).collect();
                assert!(live.len() <= if surge > 0 { 2 } else { 1 }, "{node:?}");
                live.len() == 2 && live.iter().any(|pod| !rules.is_updated(pod) && rules.is_available(pod))
            };
            let beside: Vec<&NodeState> = fleet.iter().filter(|node| is_beside(node)).collect();
            // Beyond the limit there may be more only where the old pod was not available.
            let starts = beside.iter().any(|node| found.create.contains(&node.name));
            assert!(!starts || beside.len() <= surge, "{beside:?}");
            let is_calm = step > 150;
            come_and_go(&mut fleet, &mut joined, is_calm, &mut random);
            for node in &mut fleet {
                happen(node, is_calm, &mut random);
            }
            let is_right = |pod: &PodView| rules.is_updated(pod) && rules.is_available(pod);
            let is_done = |node: &NodeState| matches!(node.pods.as_slice(), [pod] if is_right(pod));
            if fleet.iter().all(is_done) {
                break;
            }
        }
    }
}

/// Nodes join and are removed. One that is removed stays in the fleet until its pods are gone.
fn come_and_go(fleet: &mut Vec<NodeState>, joined: &mut usize, is_calm: bool, random: &mut StdRng) {
    fleet.retain(|node| node.placement == Runs || !node.pods.is_empty());
    if is_calm {
        return;
    }
    if random.random_bool(0.05) {
        fleet.push(NodeState { name: joined.to_string().into(), placement: Runs, pods: Vec::new() });
        *joined += 1;
    }
    let there = fleet.iter().filter(|node| node.placement == Runs).count();
    if there > 1 && random.random_bool(0.05) {
        let number = random.random_range(0..fleet.len());
        fleet[number].placement = Gone;
    }
}

/// What kubelets and people do: pods go, become ready, stop being ready, fail, and are removed.
fn happen(node: &mut NodeState, is_calm: bool, random: &mut StdRng) {
    node.pods.retain(|pod| !(pod.owned.is_terminating && random.random_bool(0.5)));
    node.pods.retain(|_| is_calm || !random.random_bool(0.02));
    for pod in node.pods.iter_mut().filter(|pod| pod.phase == Phase::Live) {
        if !is_calm && random.random_bool(0.02) {
            let (phase, readiness) = (Phase::Failed, Readiness::NotReady);
            *pod = Arc::new(PodView { phase, readiness, ..PodView::clone(pod) });
            continue;
        }
        let is_ready =
            if is_calm { random.random_bool(0.9) || pod.is_ready() } else { random.random_bool(0.8) };
        let readiness = if is_ready { Readiness::Ready(None) } else { Readiness::NotReady };
        *pod = Arc::new(PodView { readiness, ..PodView::clone(pod) });
    }
}

fn carry_out(fleet: &mut [NodeState], plan: &Plan, made: &mut usize) {
    for name in &plan.create {
        let node = fleet.iter_mut().find(|node| node.name == *name).expect("the node exists");
        *made += 1;
        let new = pod("new-unready", *made);
        node.pods.push(Arc::new(PodView { name: format!("made-{made}").into(), ..PodView::clone(&new) }));
        sort(&mut node.pods);
    }
    for (deleted, _) in &plan.delete {
        for pod in fleet.iter_mut().flat_map(|node| &mut node.pods).filter(|pod| Arc::ptr_eq(pod, deleted)) {
            let owned = OwnedView { is_terminating: true, ..pod.owned.clone() };
            *pod = Arc::new(PodView { owned, ..PodView::clone(pod) });
        }
    }
}
