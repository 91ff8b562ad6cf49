//! Replays the recorded conversations of `traces/` in the `kubernetes` vocabulary.
//!
//! `traces/waiting.txt` lists the steps that do not match yet; see there. After a change that lets steps
//! pass, or to see why steps differ: `ORCH_TRACES_REWRITE=1 cargo test -p orch-tests --test traces` writes
//! the list anew.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use orch_tests::{
    TestServer,
    replay::{
        Player, Trace, Verdict,
        waiting::{self, Waiting},
    },
};

/// How many traces are played at a time. They do not disturb each other, but for those of [`ALONE`].
const SIDE_BY_SIDE: usize = 16;

/// Traces that play on a server of their own, and the flags it needs.
const ALONE: &[(&str, &[&str])] = &[
    ("access-review-selectors", &["--feature-gates=AuthorizeWithSelectors=true"]),
    ("cluster-info", &[]),
    // Gives a user rights in the whole server while others are told theirs.
    ("impersonation", &[]),
    // Forgets history as soon as it can.
    ("expired-versions", &["--history-retention=1ms"]),
];

/// The longest wait, retry and watch of steps that are known to fail.
const PATIENCE_WITH_FAILING: Duration = Duration::from_millis(300);

/// The same where nothing is known yet.
const PATIENCE_WITH_ALL: Duration = Duration::from_secs(3);

/// What the list of passing traces in the description stands behind.
const MARK: &str = "<!-- passing: kept by the test -->";

/// The header of the list.
const ABOUT_THE_LIST: &str = "\
# Steps that do not match the recorded answers yet: <trace>/<step>: <reason>.
# The test `traces` fails on a step that differs and is not listed, and on a listed step that matches. Steps that wait for
# managedFields match in all other fields. To write the list anew:
#   ORCH_TRACES_REWRITE=1 cargo test -p orch-tests --test traces
";

#[tokio::test(flavor = "multi_thread")]
async fn recorded_answers_are_given_again() {
    let rewrite = std::env::var_os("ORCH_TRACES_REWRITE").is_some();
    let traces = Trace::read_all(&directory());
    let (list, patience) = if rewrite {
        (Waiting::all(&traces), PATIENCE_WITH_ALL)
    } else {
        (Waiting::read(&list_path()), PATIENCE_WITH_FAILING)
    };
    let server = server(&[]).await;

    let mut in_turn: Vec<&Trace> = traces.iter().collect();
    // Those with the longest pauses first: they must not be what the test waits for at the end.
    in_turn.sort_by(|a, b| b.pauses().total_cmp(&a.pauses()));
    let played = stream::iter(in_turn).map(|trace| play(trace, &server, &list, patience));
    let mut played: Vec<Played> = played.buffer_unordered(SIDE_BY_SIDE).collect().await;
    played.sort_by(|a, b| a.trace.cmp(&b.trace));

    let steps: usize = traces.iter().map(|trace| trace.steps.len()).sum();
    let waiting: usize = played.iter().map(|played| played.lines.lines().count()).sum();
    println!("{} traces, {steps} steps, {waiting} of them wait", traces.len());
    for (trace, played) in traces.iter().zip(&played) {
        println!(
            "{}: {} of {}",
            trace.name,
            trace.steps.len() - played.lines.lines().count(),
            trace.steps.len()
        );
    }
    let passing: Vec<&str> =
        played.iter().filter(|played| played.lines.is_empty()).map(|played| played.trace.as_str()).collect();
    let readme = std::fs::read_to_string(readme_path()).expect("the traces are described");
    let (about, listed) = readme.split_once(MARK).expect("the description has a list");
    let list_of_passing = format!("\n\n{}\n", passing.join(", "));
    if rewrite {
        std::fs::write(readme_path(), format!("{about}{MARK}{list_of_passing}"))
            .expect("the list can be written");
        let lines: String = played.into_iter().map(|played| played.lines).collect();
        std::fs::write(list_path(), format!("{ABOUT_THE_LIST}{lines}")).expect("the list can be written");
        return;
    }
    let complaints: Vec<String> = list
        .strangers(&traces)
        .into_iter()
        .chain(played.into_iter().flat_map(|played| played.complaints))
        .collect();
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    assert_eq!(listed, list_of_passing, "README.md names other traces as passing");
}

/// How a trace went.
struct Played {
    /// Its name.
    trace: String,
    /// Its lines of the list.
    lines: String,
    /// What is wrong with the list.
    complaints: Vec<String>,
}

async fn play(trace: &Trace, shared: &TestServer, list: &Waiting, patience: Duration) -> Played {
    let own = match ALONE.iter().find(|(name, _)| *name == trace.name) {
        Some((_, flags)) => Some(server(flags).await),
        None => None,
    };
    let player = Player { server: own.as_ref().unwrap_or(shared), patience_with_failing: patience };
    let outcomes = player.play(trace, |step| list.reason(&trace.name, &step.id).is_some()).await;
    for outcome in &outcomes {
        if let Verdict::Differs(differences) = &outcome.verdict {
            println!("{}/{}:\n    {}", trace.name, outcome.step.id, differences.join("\n    "));
        }
    }
    Played {
        trace: trace.name.clone(),
        lines: waiting::lines(trace, &outcomes),
        complaints: list.complaints(trace, &outcomes),
    }
}

async fn server(flags: &[&str]) -> TestServer {
    let options = TestServer::options()
        .vocabulary("kubernetes")
        .flag("--anonymous-auth=true")
        .flag("--enable-bootstrap-token-auth")
        .flag("--controllers=*,bootstrap-signer-controller,token-cleaner-controller");
    flags.iter().fold(options, |options, flag| options.flag(*flag)).start().await
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("traces")
}

fn list_path() -> PathBuf {
    directory().join("waiting.txt")
}

fn readme_path() -> PathBuf {
    directory().join("README.md")
}
