//! The mode Webhook over TLS: what another server is asked about requests, what its answers mean, how often
//! it is asked, and what happens while it is slow, wrong or gone.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use orch_tests::{Client, TestServer, objects::CONFIG_MAPS, server::ServerOptions};
use serde_json::{Value, json};

use crate::{
    remote::{Remote, Reply, Seen, Site},
    watch_ends::ends,
};

const REVIEWS: &str = "/apis/authorization.orch.io/v1/subjectaccessreviews";
const BINDINGS: &str = "/apis/rbac.authorization.orch.io/v1/namespaces/default/rolebindings";

/// How a webhook answers.
type Conduct = fn(&Seen) -> Reply;

/// Allows what `bob` does, denies what `carol` does, and has no opinion on others.
fn judge(seen: &Seen) -> Reply {
    let mut review: Value = serde_json::from_str(&seen.body).unwrap();
    review["status"] = match review["spec"]["user"].as_str().unwrap() {
        "bob" => json!({"allowed": true, "reason": "bob may"}),
        "carol" => json!({"allowed": false, "denied": true, "reason": "carol may not"}),
        _ => json!({"allowed": false, "reason": "who is that"}),
    };
    Reply::Answer(200, review.to_string())
}

/// Flags by which the webhook decides first, and then roles.
fn by_flags(kubeconfig: &Path) -> ServerOptions {
    TestServer::options()
        .flag("--authorization-mode=Webhook,RBAC")
        .flag(format!("--authorization-webhook-config-file={}", kubeconfig.display()))
}

/// A file by which they do.
fn by_file(folder: &Path, kubeconfig: &Path, policy: &str) -> ServerOptions {
    let text = format!(
        "apiVersion: apiserver.config.orch.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n\
         - type: Webhook\n  name: hook\n  webhook:\n    timeout: 2s\n    authorizedTTL: 1ms\n    \
         unauthorizedTTL: 1ms\n    subjectAccessReviewVersion: v1\n    \
         matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: {policy}\n    \
         connectionInfo: {{type: KubeConfigFile, kubeConfigFile: '{}'}}\n- {{type: RBAC, name: roles}}\n",
        kubeconfig.display()
    );
    let file: PathBuf = folder.join("authorizers.yaml");
    fs::write(&file, text).unwrap();
    TestServer::options().flag(format!("--authorization-config={}", file.display()))
}

/// Lets users read in the namespace `default`, by a role.
async fn bind(admin: &Client, users: &[&str]) {
    let subjects: Vec<Value> = users.iter().map(|user| json!({"kind": "User", "name": user})).collect();
    let binding = json!({
        "metadata": {"name": "readers"}, "subjects": subjects,
        "roleRef": {"kind": "ClusterRole", "name": "view"},
    });
    admin.post(BINDINGS, &binding).await.expect(201);
}

/// What was asked about config maps for a user. The server's own controllers are asked about too.
fn asked(webhook: &Remote, user: &str) -> Vec<Value> {
    let reviews = webhook.seen().into_iter().map(|seen| serde_json::from_str::<Value>(&seen.body).unwrap());
    let is_about = |review: &Value| {
        let spec = &review["spec"];
        spec["user"] == user && spec["resourceAttributes"]["resource"] == "configmaps"
    };
    reviews.filter(is_about).collect()
}

#[tokio::test]
async fn a_webhook_allows_denies_or_leaves_it_to_others() {
    for (version, groups) in [("v1", "groups"), ("v1beta1", "group")] {
        let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
        let webhook = site.start(judge).await;
        let file = site.kubeconfig(folder.path(), "/authorize?a=b", "token: own-token");
        let options = by_flags(&file).flag(format!("--authorization-webhook-version={version}"));
        let server = options.flag("--log-level=debug").start().await;
        bind(&server.admin(), &["carol", "dave"]).await;
        server.user("bob").get(CONFIG_MAPS).await.expect(200);
        let message = server.user("carol").get(CONFIG_MAPS).await.refused(403, "Forbidden");
        assert!(message.ends_with(": carol may not"), "{message}");
        // Roles decide where the webhook does not.
        server.user("dave").get(CONFIG_MAPS).await.expect(200);
        let message = server.user("dave").delete(&format!("{CONFIG_MAPS}/a")).await.refused(403, "Forbidden");
        assert!(message.contains("who is that"), "{message}");

        let review = asked(&webhook, "bob").pop().unwrap();
        assert_eq!(review["apiVersion"], format!("authorization.orch.io/{version}"));
        assert_eq!(review["kind"], "SubjectAccessReview");
        assert_eq!(
            review["spec"],
            json!({
                "user": "bob", "uid": "bob", groups: ["devs", "system:authenticated"],
                "resourceAttributes": {
                    "verb": "list", "version": "v1", "resource": "configmaps", "namespace": "default",
                },
            })
        );
        let seen = webhook.seen().pop().unwrap();
        assert_eq!((&*seen.path, &*seen.authorization), ("/authorize", "Bearer own-token"));
        // A review that names no version asks about all.
        let attributes = json!({"verb": "patch", "resource": "configmaps", "namespace": "default"});
        let question = json!({"spec": {"user": "bob", "resourceAttributes": attributes}});
        server.admin().post(REVIEWS, &question).await.expect(201);
        let review = asked(&webhook, "bob").pop().unwrap();
        let attributes = &review["spec"]["resourceAttributes"];
        assert_eq!((&attributes["verb"], &attributes["version"]), (&json!("patch"), &json!("*")));
        assert!(!server.log().contains("own-token"), "a token in the log");
    }
}

#[tokio::test]
async fn answers_are_kept_as_long_as_the_flags_say() {
    for (allowed, refused, long_kept) in [("3s", "1ms", "bob"), ("1ms", "3s", "carol")] {
        let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
        let webhook = site.start(judge).await;
        let file = site.kubeconfig(folder.path(), "/authorize", "");
        let server = by_flags(&file)
            .flag(format!("--authorization-webhook-cache-authorized-ttl={allowed}"))
            .flag(format!("--authorization-webhook-cache-unauthorized-ttl={refused}"))
            .start()
            .await;
        let start = Instant::now();
        for _ in 0..5 {
            server.user("bob").get(CONFIG_MAPS).await.expect(200);
            server.user("carol").get(CONFIG_MAPS).await.refused(403, "Forbidden");
        }
        let most = 1 + start.elapsed().as_secs() as usize / 3 + 1;
        for user in ["bob", "carol"] {
            let count = asked(&webhook, user).len();
            let is_right = if user == long_kept { (1..=most).contains(&count) } else { count == 5 };
            assert!(is_right, "{user}: {count}, where answers are kept for {allowed} and {refused}");
        }
        tokio::time::sleep(Duration::from_millis(3100)).await;
        let before = asked(&webhook, long_kept).len();
        drop(server.user(long_kept).get(CONFIG_MAPS).await);
        assert_eq!(asked(&webhook, long_kept).len(), before + 1);
    }
}

/// Asks for something that the webhook has not been asked about before.
struct Questions<'s> {
    server: &'s TestServer,
    count: usize,
}

impl Questions<'_> {
    async fn get(&mut self, user: &str) -> orch_tests::client::Answer {
        self.count += 1;
        let path = format!("{CONFIG_MAPS}?fieldSelector=metadata.name%3Dn{}", self.count);
        self.server.user(user).get(&path).await
    }

    /// The status of a review about a user.
    async fn review(&mut self, user: &str) -> Value {
        self.count += 1;
        let name = format!("n{}", self.count);
        let attributes = json!({"verb": "get", "resource": "secrets", "namespace": "default", "name": name});
        let review = json!({"spec": {"user": user, "resourceAttributes": attributes}});
        self.server.admin().post(REVIEWS, &review).await.expect(201)["status"].clone()
    }
}

#[tokio::test]
async fn the_policy_decides_while_the_webhook_fails() {
    for policy in ["NoOpinion", "Deny"] {
        let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
        let conduct: Arc<Mutex<Conduct>> = Arc::new(Mutex::new(judge));
        let follows = Arc::clone(&conduct);
        let answer = move |seen: &Seen| {
            let conduct = *follows.lock().unwrap();
            conduct(seen)
        };
        let file = site.kubeconfig(folder.path(), "/authorize", "");
        let server = by_file(folder.path(), &file, policy).start().await;
        bind(&server.admin(), &["carol"]).await;
        let mut questions = Questions { server: &server, count: 0 };
        // Nobody listens yet. After some attempts the webhook is not called for a while.
        failing(&mut questions, policy, &["cannot connect", "cannot be reached"]).await;
        let _webhook = site.start(answer).await;
        for (reply, why) in [
            ((|_| Reply::Answer(403, "secret detail".to_owned())) as Conduct, "answered 403"),
            (|_| Reply::Answer(302, String::new()), "answered 302"),
            (|_| Reply::Redirect("http://127.0.0.1:1/".to_owned()), "answered 307"),
            (|_| Reply::Answer(200, "secret detail".to_owned()), "is no review"),
            (
                |_| Reply::Answer(200, r#"{"kind": "Pod", "apiVersion": "v1", "status": {}}"#.to_owned()),
                "another kind or version",
            ),
            (|_| Reply::Answer(200, " ".repeat(2_000_000)), "larger than 1048576 bytes"),
            (|_| Reply::Nothing, "no answer within 2s"),
        ] {
            *conduct.lock().unwrap() = judge;
            recovered(&mut questions).await;
            *conduct.lock().unwrap() = reply;
            failing(&mut questions, policy, &[why]).await;
        }
        *conduct.lock().unwrap() = judge;
        recovered(&mut questions).await;
        assert!(!server.log().contains("secret detail"), "an answer in the log");
    }
}

/// Whoever has a role is let in where the webhook has no opinion, and others are told what went wrong: one of
/// some texts.
async fn failing(questions: &mut Questions<'_>, policy: &str, whys: &[&str]) {
    let (stranger, reader) = (questions.get("bob").await, questions.get("carol").await);
    let status = questions.review("bob").await;
    questions.server.admin().get(CONFIG_MAPS).await.expect(200);
    let is_told = |text: &str| whys.iter().any(|why| text.contains(why)) && !text.contains("secret detail");
    if policy == "Deny" {
        stranger.refused(403, "Forbidden");
        reader.refused(403, "Forbidden");
        assert!(!stranger.text().contains("secret detail"), "{}", stranger.text());
        assert_eq!(status, json!({"allowed": false, "denied": true}), "{whys:?}");
        // The server writes its log a moment after it answers.
        let start = Instant::now();
        while !is_told(&questions.server.log()) {
            let log = questions.server.log();
            assert!(start.elapsed() < Duration::from_secs(30), "{whys:?} is not in {log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        return;
    }
    assert_eq!((stranger.status, stranger.header("content-type")), (500, "text/plain; charset=utf-8"));
    assert!(is_told(&stranger.text()), "{whys:?} is not in {}", stranger.text());
    reader.expect(200);
    assert_eq!((&status["allowed"], status.get("denied")), (&json!(false), None), "{status}");
    assert!(is_told(status["evaluationError"].as_str().unwrap()), "{whys:?} is not in {status}");
}

/// After failures the webhook is not called for a while.
async fn recovered(questions: &mut Questions<'_>) {
    let start = Instant::now();
    while questions.get("bob").await.status != 200 {
        assert!(start.elapsed() < Duration::from_secs(30), "{}", questions.server.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Certificates are renewed in place: the server shows the new one without a restart.
#[tokio::test]
async fn a_renewed_certificate_is_shown_to_the_webhook() {
    for is_by_file in [false, true] {
        let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
        let first = site.issue(folder.path());
        let user = "client-certificate: caller.pem, client-key: caller.key";
        let file = site.kubeconfig(folder.path(), "/authorize", user);
        let webhook = site.start(judge).await;
        let options = if is_by_file { by_file(folder.path(), &file, "Deny") } else { by_flags(&file) };
        let server = options.start().await;
        let mut questions = Questions { server: &server, count: 0 };
        questions.get("bob").await.expect(200);
        assert_eq!(webhook.seen().pop().unwrap().certificate, first.to_vec());
        let renewed = site.issue(folder.path());
        let start = Instant::now();
        loop {
            questions.get("bob").await.expect(200);
            if webhook.seen().pop().unwrap().certificate == renewed.to_vec() {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(30), "the webhook is shown the old certificate");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

/// Whoever has watches that take long to judge keeps no other watch open.
#[tokio::test]
async fn a_slow_webhook_keeps_nobody_elses_watch_open() {
    let (site, folder) = (Site::new().await, tempfile::tempdir().unwrap());
    let is_slow = Arc::new(AtomicBool::new(false));
    let follows = Arc::clone(&is_slow);
    let _webhook = site
        .start(move |seen| {
            let hangs = follows.load(Relaxed) && seen.body.contains(r#""user":"bob""#);
            if hangs { Reply::Nothing } else { judge(seen) }
        })
        .await;
    let file = site.kubeconfig(folder.path(), "/authorize", "");
    let server = by_file(folder.path(), &file, "NoOpinion").start().await;
    bind(&server.admin(), &["dave"]).await;
    let bob = server.user("bob");
    let path = |n: usize| format!("{CONFIG_MAPS}?watch=1&fieldSelector=metadata.name%3Dn{n}");
    let _slow = join_all((0..200).map(async |n| bob.watch(&path(n)).await)).await;
    let watch = server.user("dave").watch(&format!("{CONFIG_MAPS}?watch=1")).await;
    is_slow.store(true, Relaxed);
    // Now all watches are judged, which takes two seconds for each of those of bob.
    server
        .admin()
        .post(
            BINDINGS,
            &json!({
                "metadata": {"name": "news"}, "roleRef": {"kind": "ClusterRole", "name": "view"},
            }),
        )
        .await
        .expect(201);
    tokio::time::sleep(Duration::from_secs(2)).await;
    server.admin().delete(&format!("{BINDINGS}/readers")).await.expect(200);
    ends(watch).await;
}
