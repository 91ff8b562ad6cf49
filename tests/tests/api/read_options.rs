//! The parameters of reads: which are refused, with which message, which of several faults is told first, and
//! what correct ones mean.

use std::time::Duration;

use http::Method;
use orch_tests::{
    Client, TestServer,
    objects::{CONFIG_MAPS, config_map, labelled, name, names, namespace, version},
};
use serde_json::{Value, json};

/// A version that no store of a test reaches.
const FUTURE: u64 = 900_000_000_000;

#[tokio::test]
async fn wrong_parameters_are_refused_with_their_messages() {
    let server = TestServer::options().vocabulary("kubernetes").start().await;
    let admin = server.admin();
    let options =
        |message: &str| (422, "Invalid", format!("ListOptions.meta.k8s.io \"\" is invalid: {message}"));
    let bad = |message: &str| (400, "BadRequest", message.to_owned());
    let unless_version = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided";
    let when_continued =
        "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";
    let not_for_lists = "sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list";
    let needs_match = "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
    let needs_events = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
    let other_match =
        "resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"";
    let in_list = "labelSelector=a%20in%20b";
    let no_list = "unable to parse requirement: found 'b' expected: '('";
    let no_field = "\"data.k\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
    for (query, (code, reason, message)) in [
        ("resourceVersionMatch=Exact", options(unless_version)),
        ("resourceVersionMatch=NotOlderThan", options(unless_version)),
        ("resourceVersionMatch=Exact&resourceVersion=1&continue=x", options(when_continued)),
        ("resourceVersionMatch=Exact&continue=x", options(&format!("[{unless_version}, {when_continued}]"))),
        (
            "resourceVersionMatch=x&resourceVersion=1",
            options(
                "resourceVersionMatch: Unsupported value: \"x\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
            ),
        ),
        (
            "resourceVersionMatch=Exact&resourceVersion=0",
            options(
                "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            ),
        ),
        ("sendInitialEvents=true", options(not_for_lists)),
        ("sendInitialEvents=false", options(not_for_lists)),
        (
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            options(&format!("[{unless_version}, {not_for_lists}]")),
        ),
        ("watch=1&continue=x", options(when_continued)),
        ("watch=1&continue=x&resourceVersion=0", options(when_continued)),
        ("limit=x", bad("strconv.ParseInt: parsing \"x\": invalid syntax")),
        ("limit=", bad("strconv.ParseInt: parsing \"\": invalid syntax")),
        ("limit=%E2%80%8B", bad(r#"strconv.ParseInt: parsing "\u200b": invalid syntax"#)),
        (
            "timeoutSeconds=9223372036854775808",
            bad("strconv.ParseInt: parsing \"9223372036854775808\": value out of range"),
        ),
        ("watch=1&sendInitialEvents=true", options(needs_match)),
        ("watch=1&sendInitialEvents=false", options(needs_match)),
        (
            "watch=1&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1",
            options(&format!(
                "[{needs_match}, resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"]"
            )),
        ),
        ("watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1", options(needs_events)),
        (
            "watch=1&resourceVersionMatch=Exact&resourceVersion=1&continue=x",
            options(&format!("[{needs_events}, {other_match}, {when_continued}]")),
        ),
        (
            "resourceVersion=1&continue=x",
            bad("invalid continue token: continue key is not valid: illegal base64 data at input byte 0"),
        ),
        (in_list, bad(no_list)),
        ("watch=1&labelSelector=a%20in%20b", bad(no_list)),
        ("fieldSelector=a", bad("invalid selector: 'a'; can't understand 'a'")),
        ("fieldSelector=data.k%3D1", bad(no_field)),
        ("watch=1&fieldSelector=data.k!%3D1", bad(no_field)),
        // What cannot be read is told before what makes no sense, and that before what the kind does not
        // have.
        (&format!("{in_list}&fieldSelector=a"), bad(no_list)),
        (&format!("{in_list}&resourceVersionMatch=Exact"), bad(no_list)),
        ("fieldSelector=a&resourceVersionMatch=Exact", bad("invalid selector: 'a'; can't understand 'a'")),
        ("fieldSelector=data.k%3D1&resourceVersionMatch=Exact", options(unless_version)),
        ("fieldSelector=data.k%3D1&resourceVersion=x", bad(no_field)),
    ] {
        let answer = admin.get(&format!("{CONFIG_MAPS}?{query}")).await;
        assert_eq!(answer.status, code, "{query}: {answer:?}");
        assert_eq!(answer.refused(code, reason), message, "{query}");
    }
}

#[tokio::test]
async fn malformed_numbers_and_durations_are_refused() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for query in
        ["limit=x", "limit=", "limit=1.5", "timeoutSeconds=x", "timeoutSeconds=", "watch=1&timeoutSeconds=x"]
    {
        admin.get(&format!("{CONFIG_MAPS}?{query}")).await.refused(400, "BadRequest");
    }
    let fault = r#"resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax"#;
    let match_exact = "?resourceVersion=x&resourceVersionMatch=Exact";
    for query in ["?resourceVersion=x", match_exact, "?resourceVersion=x&limit=1", "/a?resourceVersion=x"] {
        let message = admin.get(&format!("{CONFIG_MAPS}{query}")).await.refused(400, "BadRequest");
        assert_eq!(message, format!("invalid resource version: {fault}"), "{query}");
    }
    let watched = admin.get(&format!("{CONFIG_MAPS}?watch=1&resourceVersion=x")).await;
    watched.refused(422, "Invalid");
    let details = &watched.json()["details"];
    assert_eq!(details["kind"], "configmaps");
    assert_eq!(details["causes"][0]["field"], "resourceVersion");
    assert!(watched.text().contains(&fault.replace('"', "\\\"")), "{}", watched.text());
    let message = admin.get(&format!("{CONFIG_MAPS}?timeout=x")).await.refused(400, "BadRequest");
    assert!(message.starts_with("invalid timeout specified in the request URL - "), "{message}");
    // A watch ignores the parameter `timeout`.
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&timeout=x&timeoutSeconds=1")).await;
    watch.expect_end().await;
    // A negative limit counts as no limit.
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    assert_eq!(names(&admin.get(&format!("{CONFIG_MAPS}?limit=-1")).await.expect(200)), ["a"]);
}

#[tokio::test]
async fn a_client_may_wait_for_less_time_than_the_server_would() {
    let server = TestServer::start().await;
    let path = format!("{CONFIG_MAPS}?resourceVersion={FUTURE}&timeout=50ms");
    let message = server.admin().get(&path).await.refused(504, "Timeout");
    assert!(message.contains("request did not complete within the allotted timeout"), "{message}");
}

/// The versions of three writes, the state of the middle one being `a` and `b`.
async fn history(admin: &Client) -> [String; 3] {
    let first = admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let second = admin.post(CONFIG_MAPS, &config_map("b", "1")).await.expect(201);
    let third = admin.post(CONFIG_MAPS, &config_map("c", "1")).await.expect(201);
    [first, second, third].map(|object| version(&object).to_owned())
}

fn token(list: &Value) -> &str {
    list["metadata"]["continue"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn every_cell_of_the_table_of_versions() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let [first, second, third] = history(&admin).await;
    let page = admin.get(&format!("{CONFIG_MAPS}?limit=1&resourceVersion={second}")).await.expect(200);
    let token = token(&page);
    let (all, two, one) = (vec!["a", "b", "c"], vec!["a", "b"], vec!["a"]);
    for (query, expected, at) in [
        (String::new(), all.clone(), &third),
        ("resourceVersion=".to_owned(), all.clone(), &third),
        ("resourceVersion=0".to_owned(), all.clone(), &third),
        (format!("resourceVersion={first}"), all.clone(), &third),
        ("limit=2".to_owned(), two.clone(), &third),
        ("limit=2&resourceVersion=0".to_owned(), all.clone(), &third),
        (format!("limit=5&resourceVersion={second}"), two.clone(), &second),
        (format!("limit=1&resourceVersion={second}"), one.clone(), &second),
        (format!("continue={token}"), vec!["b"], &second),
        (format!("limit=1&continue={token}&resourceVersion=0"), vec!["b"], &second),
        (format!("resourceVersion={first}&resourceVersionMatch=Exact"), one.clone(), &first),
        (format!("limit=1&resourceVersion={second}&resourceVersionMatch=Exact"), one, &second),
        ("resourceVersion=0&resourceVersionMatch=NotOlderThan".to_owned(), all.clone(), &third),
        (format!("resourceVersion={first}&resourceVersionMatch=NotOlderThan"), all, &third),
        (format!("limit=2&resourceVersion={first}&resourceVersionMatch=NotOlderThan"), two, &third),
    ] {
        let list = admin.get(&format!("{CONFIG_MAPS}?{query}")).await.expect(200);
        assert_eq!((names(&list), version(&list)), (expected, at.as_str()), "{query}");
    }
    let item = format!("{CONFIG_MAPS}/a");
    for query in [
        String::new(),
        "resourceVersion=0".to_owned(),
        format!("resourceVersion={first}"),
        format!("resourceVersion={third}"),
    ] {
        let object = admin.get(&format!("{item}?{query}")).await.expect(200);
        assert_eq!(version(&object), first, "{query}");
    }
    // A get has no match.
    admin.get(&format!("{item}?resourceVersionMatch=Exact")).await.expect(200);
}

#[tokio::test]
async fn a_version_that_is_still_to_come_is_waited_for_a_while() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let [_, _, third] = history(&admin).await;
    let asked = [
        format!("{CONFIG_MAPS}/a?resourceVersion={FUTURE}"),
        format!("{CONFIG_MAPS}?resourceVersion={FUTURE}"),
        format!("{CONFIG_MAPS}?resourceVersion={FUTURE}&limit=1"),
        format!("{CONFIG_MAPS}?resourceVersion={FUTURE}&resourceVersionMatch=Exact"),
        format!(
            "{CONFIG_MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion={FUTURE}"
        ),
    ];
    let answers = asked.iter().map(|path| async { server.admin().get(path).await });
    for answer in futures_util::future::join_all(answers).await {
        let message = answer.refused(504, "Timeout");
        assert_eq!(message, format!("Timeout: Too large resource version: {FUTURE}, current: {third}"));
        assert_eq!(answer.header("retry-after"), "1");
        let details = &answer.json()["details"];
        let cause = json!({"reason": "ResourceVersionTooLarge", "message": "Too large resource version"});
        assert_eq!((&details["causes"], &details["retryAfterSeconds"]), (&json!([cause]), &json!(1)));
    }
    // One that comes in time is answered.
    let next = third.parse::<u64>().unwrap() + 1;
    let path = format!("{CONFIG_MAPS}?resourceVersion={next}");
    let (list, _) = tokio::join!(admin.get(&path), async {
        server.admin().post(CONFIG_MAPS, &config_map("d", "1")).await.expect(201)
    });
    assert_eq!(names(&list.expect(200)), ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn a_watch_path_that_names_an_object_agrees_with_its_selector() {
    let server = TestServer::start().await;
    let admin = server.admin();
    history(&admin).await;
    let path = "/api/v1/watch/namespaces/default/configmaps";
    for (path, expected) in [
        (format!("{path}?timeoutSeconds=1"), vec!["a", "b", "c"]),
        (format!("{path}/b?timeoutSeconds=1"), vec!["b"]),
        (format!("{path}/b?timeoutSeconds=1&fieldSelector=metadata.name%3Db"), vec!["b"]),
        (format!("{path}?timeoutSeconds=1&fieldSelector=metadata.name%3Db"), vec!["b"]),
        ("/api/v1/watch/configmaps?timeoutSeconds=1".to_owned(), vec!["a", "b", "c"]),
        ("/api/v1/watch/namespaces/default?timeoutSeconds=1".to_owned(), vec!["default"]),
    ] {
        let mut watch = admin.watch(&path).await;
        for expected in expected {
            assert_eq!(name(&watch.expect("ADDED").await), expected, "{path}");
        }
        watch.expect_end().await;
    }
    for selector in ["metadata.name%3Da", "metadata.name!%3Da", "metadata.namespace%3Ddefault"] {
        let answer = admin.get(&format!("{path}/b?fieldSelector={selector}")).await;
        let message = answer.refused(400, "BadRequest");
        assert_eq!(message, "fieldSelector metadata.name doesn't match requested name", "{selector}");
    }
}

#[tokio::test]
async fn fields_that_are_left_out_are_selected_by_what_they_mean() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for (name, unschedulable) in [("closed", true), ("open", false)] {
        let node = json!({"metadata": {"name": name}, "spec": {"unschedulable": unschedulable}});
        admin.post("/api/v1/nodes", &node).await.expect(201);
    }
    for (selector, expected) in [
        ("spec.unschedulable%3Dtrue", vec!["closed"]),
        ("spec.unschedulable%3Dfalse", vec!["open"]),
        ("spec.unschedulable!%3Dtrue", vec!["open"]),
        ("spec.unschedulable!%3Dfalse", vec!["closed"]),
        ("spec.unschedulable%3D", vec![]),
    ] {
        let list = admin.get(&format!("/api/v1/nodes?fieldSelector={selector}")).await.expect(200);
        assert_eq!(names(&list), expected, "{selector}");
    }
    let message =
        admin.get("/api/v1/nodes?fieldSelector=metadata.namespace%3Da").await.refused(400, "BadRequest");
    assert_eq!(message, "field label not supported: metadata.namespace");
}

/// Lists over all namespaces are in the order of `<namespace>/<name>`, and pages and watches too.
#[tokio::test]
async fn namespaces_are_ordered_as_in_paths() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for namespace_name in ["n", "n-a", "n0"] {
        admin.post("/api/v1/namespaces", &namespace(namespace_name)).await.expect(201);
        let object = labelled(&format!("of-{namespace_name}"), json!({"mine": "yes"}));
        admin.post(&format!("/api/v1/namespaces/{namespace_name}/configmaps"), &object).await.expect(201);
    }
    let expected = ["of-n-a", "of-n", "of-n0"];
    let path = "/api/v1/configmaps?labelSelector=mine";
    assert_eq!(names(&admin.get(path).await.expect(200)), expected);
    let mut paged = Vec::new();
    let mut page = admin.get(&format!("{path}&limit=1")).await.expect(200);
    loop {
        paged.extend(names(&page).into_iter().map(str::to_owned));
        if token(&page).is_empty() {
            break;
        }
        page = admin.get(&format!("{path}&limit=1&continue={}", token(&page))).await.expect(200);
    }
    assert_eq!(paged, expected);
    let mut watch = admin.watch(&format!("{path}&watch=1")).await;
    for expected in expected {
        assert_eq!(name(&watch.expect("ADDED").await), expected);
    }
    let of_n = admin.get("/api/v1/namespaces/n/configmaps?labelSelector=mine").await.expect(200);
    assert_eq!(names(&of_n), ["of-n"]);
}

#[tokio::test]
async fn indentation_is_for_those_who_want_it() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    let item = format!("{CONFIG_MAPS}/a");
    let missing = format!("{CONFIG_MAPS}/none");
    for (query, agent, accept, indented) in [
        ("", "client/1", "application/json", false),
        ("?pretty=true", "client/1", "application/json", true),
        ("?pretty=1", "client/1", "application/json", true),
        ("?pretty", "client/1", "application/json", false),
        ("?pretty=false", "curl/8", "application/json", false),
        ("?pretty=0", "curl/8", "application/json", false),
        ("", "curl/8", "application/json", true),
        ("", "Wget/1", "*/*", true),
        ("", "Mozilla/5.0 (X11)", "*/*", true),
        ("", "client/1", "application/json;pretty=1", true),
    ] {
        for path in [&item, CONFIG_MAPS, &missing] {
            let request = admin.request(Method::GET, &format!("{path}{query}"));
            let answer = request.header("user-agent", agent).header("accept", accept).send().await;
            let starts = answer.text().starts_with("{\n  \"kind\"");
            assert_eq!(starts, indented, "{path}{query} {agent} {accept}: {answer:?}");
            let same = admin.get(path).await.json();
            assert_eq!(answer.json()["kind"], same["kind"]);
        }
    }
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&pretty=true")).await;
    assert_eq!(name(&watch.expect("ADDED").await), "a", "events stay on one line each");
}

#[tokio::test]
async fn bookmarks_come_before_the_end_and_only_to_those_who_asked() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let [_, _, third] = history(&admin).await;
    let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={third}&timeoutSeconds=3");
    let mut plain = admin.watch(&path).await;
    let mut marked = admin.watch(&format!("{path}&allowWatchBookmarks=true")).await;
    let elsewhere = admin.post("/api/v1/namespaces", &namespace("elsewhere")).await.expect(201);
    let bookmark = marked.expect("BOOKMARK").await;
    assert_eq!((&bookmark["kind"], &bookmark["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
    assert_eq!(bookmark["metadata"]["annotations"], Value::Null);
    let told: u64 = version(&bookmark).parse().unwrap();
    assert!(told >= version(&elsewhere).parse().unwrap(), "it tells of all that was nothing to this watch");
    marked.expect_end().await;
    plain.expect_end().await;
}

#[tokio::test]
async fn a_watch_of_a_version_to_come_waits_for_what_is_after_it() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let [_, _, third] = history(&admin).await;
    let from = third.parse::<u64>().unwrap() + 1;
    let mut watch = admin.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={from}")).await;
    for name in ["d", "e"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    assert_eq!(name(&watch.expect("ADDED").await), "e", "not d, which has the version itself");
}

#[tokio::test]
async fn compression_says_what_it_depends_on() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("large", &"0123456789".repeat(20_000))).await.expect(201);
    admin.post(CONFIG_MAPS, &config_map("small", "1")).await.expect(201);
    for (path, compressed) in [
        (CONFIG_MAPS, true),
        (&format!("{CONFIG_MAPS}/large"), true),
        (&format!("{CONFIG_MAPS}/small"), false),
    ] {
        let answer = admin.request(Method::GET, path).header("accept-encoding", "gzip").send().await;
        assert_eq!(answer.header("content-encoding"), if compressed { "gzip" } else { "" }, "{path}");
        assert_eq!(answer.header("vary"), if compressed { "Accept-Encoding" } else { "" }, "{path}");
    }
    let request =
        admin.request(Method::GET, &format!("{CONFIG_MAPS}?watch=1")).header("accept-encoding", "gzip");
    let mut watch = request.patience(Duration::from_secs(10)).watch().await.unwrap();
    assert_eq!(name(&watch.expect("ADDED").await), "large", "events are not compressed");
}

#[tokio::test]
async fn pairs_that_cannot_be_decoded_do_not_count() {
    let server = TestServer::start().await;
    let admin = server.admin();
    for name in ["a", "b"] {
        admin.post(CONFIG_MAPS, &config_map(name, "1")).await.expect(201);
    }
    for (query, expected) in [
        ("limit=1", 1),
        ("limit=1;x", 2),
        ("limit=%zz", 2),
        ("limit=x%2", 2),
        ("labelSelector=%zz&limit=1", 1),
        ("fieldSelector=%25", 400),
    ] {
        let answer = admin.get(&format!("{CONFIG_MAPS}?{query}")).await;
        let got = if answer.status == 200 { names(&answer.json()).len() } else { answer.status.into() };
        assert_eq!(got, expected, "{query}");
    }
}

#[tokio::test]
async fn only_what_says_yes_indents_an_answer() {
    let server = TestServer::start().await;
    let admin = server.admin();
    admin.post(CONFIG_MAPS, &config_map("a", "1")).await.expect(201);
    for (value, is_indented) in [
        ("true", true),
        ("1", true),
        ("t", true),
        ("True", true),
        ("", false),
        ("yes", false),
        ("false", false),
        ("0", false),
    ] {
        let answer = admin.get(&format!("{CONFIG_MAPS}/a?pretty={value}")).await;
        answer.expect(200);
        assert_eq!(answer.text().starts_with("{\n"), is_indented, "{value}");
    }
    let message = admin.get(&format!("{CONFIG_MAPS}/a?export=true")).await.refused(400, "BadRequest");
    assert_eq!(message, "the export parameter, deprecated since v1.14, is no longer supported");
    admin.get(&format!("{CONFIG_MAPS}/a?export=false")).await.expect(200);
}
