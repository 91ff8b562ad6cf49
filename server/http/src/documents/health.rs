//! `/livez`, `/readyz` and `/healthz`: named checks that run when a probe asks.
//!
//! Parts of the server register their checks at start. A probe answers `ok`, or one line per check with
//! `?verbose` or where a check fails. Only the path of a single check shows the reason of a failure; it
//! is authorized separately.

use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};

mod outcomes;

use self::outcomes::Outcomes;
use crate::request::query::Query;

/// What a probe asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// `/livez`: whether the process should go on running.
    Live,
    /// `/readyz`: whether it should get requests.
    Ready,
    /// `/healthz`: the deprecated path from before there were two.
    Health,
}

impl Probe {
    /// Every probe.
    pub const ALL: &'static [Probe] = &[Probe::Live, Probe::Ready, Probe::Health];

    /// The path without its slash.
    pub fn name(self) -> &'static str {
        match self {
            Probe::Live => "livez",
            Probe::Ready => "readyz",
            Probe::Health => "healthz",
        }
    }
}

/// Whether a path is that of a probe, or of one of its checks.
pub fn is_probe(path: &str) -> bool {
    let path = path.strip_prefix('/').unwrap_or(path);
    let name = path.split('/').next().unwrap_or_default();
    Probe::ALL.iter().any(|probe| probe.name() == name)
}

/// All checks of one server; clones are one registry.
#[derive(Clone, Debug)]
pub struct Checks {
    entries: Arc<RwLock<Vec<Check>>>,
    outcomes: Outcomes,
    /// Until when `/livez` does not wait for steps of the start.
    patient_until: Instant,
}

/// A step of the start that probes wait for; see [`Checks::register_hook`].
#[derive(Clone, Debug)]
pub struct Hook {
    finished: Arc<AtomicBool>,
}

impl Hook {
    /// Lets the hook's check pass from now on.
    pub fn finish(&self) {
        self.finished.store(true, Ordering::Release);
    }
}

#[derive(Clone)]
struct Check {
    name: Arc<str>,
    probes: &'static [Probe],
    run: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
    /// Whether it is a step of the start.
    is_hook: bool,
    /// What is said behind `ok`, if anything.
    remark: Option<Arc<dyn Fn() -> String + Send + Sync>>,
}

impl fmt::Debug for Check {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Check")
            .field("name", &self.name)
            .field("probes", &self.probes)
            .finish_non_exhaustive()
    }
}

impl Checks {
    /// The check `ping` alone, which always passes. For so long after now, steps of the start that are not
    /// finished are no reason for `/livez` to fail.
    pub fn new(grace_period: Duration) -> Self {
        let (entries, outcomes) = (Arc::default(), Outcomes::new());
        let checks = Checks { entries, outcomes, patient_until: Instant::now() + grace_period };
        checks.register("ping", Probe::ALL, || Ok(()));
        checks
    }

    /// Adds a check to some probes; they list checks in the order of registration. `run` is called on the
    /// thread of the probe, so it looks at state and does not wait. Its error is shown to those who may ask
    /// for the single check. A name that is registered again is replaced in its place.
    pub fn register(
        &self,
        name: impl Into<Arc<str>>,
        probes: &'static [Probe],
        run: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.put(Check { name: name.into(), probes, run: Arc::new(run), is_hook: false, remark: None });
    }

    /// Adds a check with a remark behind it where it passes and the client asks for all lines. An empty
    /// remark is left out.
    pub fn register_remarked(
        &self,
        name: impl Into<Arc<str>>,
        probes: &'static [Probe],
        run: impl Fn() -> Result<(), String> + Send + Sync + 'static,
        remark: impl Fn() -> String + Send + Sync + 'static,
    ) {
        let (run, remark) = (Arc::new(run), Arc::new(remark));
        self.put(Check { name: name.into(), probes, run, is_hook: false, remark: Some(remark) });
    }

    fn put(&self, check: Check) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        match entries.iter_mut().find(|entry| entry.name == check.name) {
            Some(entry) => *entry = check,
            None => entries.push(check),
        }
    }

    /// Adds `poststarthook/<name>` to every probe; it fails until [`Hook::finish`] is called.
    pub fn register_hook(&self, name: &str) -> Hook {
        let hook = Hook { finished: Arc::default() };
        let finished = Arc::clone(&hook.finished);
        let run = move || {
            if finished.load(Ordering::Acquire) { Ok(()) } else { Err("not finished".to_owned()) }
        };
        let name = format!("poststarthook/{name}").into();
        self.put(Check { name, probes: Probe::ALL, run: Arc::new(run), is_hook: true, remark: None });
        hook
    }

    /// Every path that is answered, for the list of root paths.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        for probe in Probe::ALL {
            paths.push(format!("/{}", probe.name()));
            paths.extend(self.of(*probe).iter().map(|check| format!("/{}/{}", probe.name(), check.name)));
        }
        paths
    }

    /// Answers a probe or a single check; `None` where the path is neither.
    pub fn serve(&self, path: &str, query: &Query) -> Option<Response> {
        let path = path.strip_prefix('/')?;
        let (name, single) = path.split_once('/').map_or((path, None), |(name, check)| (name, Some(check)));
        let probe = *Probe::ALL.iter().find(|probe| probe.name() == name)?;
        let mut checks = self.of(probe);
        if probe == Probe::Live && Instant::now() < self.patient_until {
            for check in checks.iter_mut().filter(|check| check.is_hook) {
                check.run = Arc::new(|| Ok(()));
            }
        }
        for check in &mut checks {
            self.count_runs(probe, check);
        }
        match single {
            None => Some(answer_all(probe, &checks, query)),
            Some(single) => checks.iter().find(|check| *check.name == *single).map(answer_one),
        }
    }

    /// What checks have told until now, as text.
    ///
    /// # Errors
    /// Where it cannot be written as text.
    pub fn outcomes(&self) -> prometheus::Result<String> {
        self.outcomes.text()
    }

    fn count_runs(&self, probe: Probe, check: &mut Check) {
        let (outcomes, name, run) = (self.outcomes.clone(), Arc::clone(&check.name), Arc::clone(&check.run));
        check.run = Arc::new(move || {
            let outcome = run();
            outcomes.count(&name, probe, outcome.is_ok());
            outcome
        });
    }

    /// The probe's checks, copied so that none runs under the lock.
    fn of(&self, probe: Probe) -> Vec<Check> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().filter(|check| check.probes.contains(&probe)).cloned().collect()
    }
}

fn answer_one(check: &Check) -> Response {
    match (check.run)() {
        Ok(()) => plain(StatusCode::OK, "ok".to_owned()),
        Err(reason) => plain(StatusCode::INTERNAL_SERVER_ERROR, format!("internal server error: {reason}\n")),
    }
}

fn answer_all(probe: Probe, checks: &[Check], query: &Query) -> Response {
    let mut unmatched: BTreeSet<&str> = query.all("exclude").collect();
    let mut failed = Vec::new();
    let mut report = String::new();
    for check in checks {
        let name = &*check.name;
        let line = if query.all("exclude").any(|excluded| excluded == name) {
            unmatched.remove(name);
            format!("[+]{name} excluded: ok\n")
        } else if let Err(reason) = (check.run)() {
            failed.push(format!("{name}: {reason}"));
            format!("[-]{name} failed: reason withheld\n")
        } else if let Some(remark) = check.remark.as_ref().map(|it| it()).filter(|text| !text.is_empty()) {
            format!("[+]{name} ok: {remark}\n")
        } else {
            format!("[+]{name} ok\n")
        };
        report.push_str(&line);
    }
    if !unmatched.is_empty() {
        let names: Vec<String> = unmatched.iter().map(|name| format!("{name:?}")).collect();
        let _ = writeln!(
            report,
            "warn: some health checks cannot be excluded: no matches for {}",
            names.join(",")
        );
    }
    let name = probe.name();
    if !failed.is_empty() {
        tracing::warn!(probe = name, failed = failed.join("; "), "health check failed");
        let _ = writeln!(report, "{name} check failed");
        plain(StatusCode::INTERNAL_SERVER_ERROR, report)
    } else if query.get("verbose").is_some() {
        let _ = writeln!(report, "{name} check passed");
        plain(StatusCode::OK, report)
    } else {
        plain(StatusCode::OK, "ok".to_owned())
    }
}

fn plain(status: StatusCode, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, private")),
    ];
    (status, headers, Body::from(text)).into_response()
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    async fn ask(checks: &Checks, path: &str, query: &str) -> Option<(u16, String)> {
        let response = checks.serve(path, &Query::parse(Some(query)))?;
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Some((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    fn checks(draining: bool) -> Checks {
        let checks = Checks::new(Duration::ZERO);
        checks.register("log", Probe::ALL, || Ok(()));
        checks.register("shutdown", &[Probe::Ready], move || {
            if draining { Err("the process is stopping".to_owned()) } else { Ok(()) }
        });
        checks
    }

    #[tokio::test]
    async fn passing_checks() {
        let checks = checks(false);
        for (path, query, expected) in [
            ("/healthz", "", "ok"),
            ("/livez", "", "ok"),
            ("/readyz", "", "ok"),
            ("/livez", "verbose=true", "[+]ping ok\n[+]log ok\nlivez check passed\n"),
            ("/readyz", "verbose=1", "[+]ping ok\n[+]log ok\n[+]shutdown ok\nreadyz check passed\n"),
            ("/healthz", "verbose", "[+]ping ok\n[+]log ok\nhealthz check passed\n"),
            ("/readyz", "exclude=ping", "ok"),
            ("/livez", "exclude=ping&verbose=true", "[+]ping excluded: ok\n[+]log ok\nlivez check passed\n"),
            ("/livez", "exclude=none-such", "ok"),
            (
                "/livez",
                "exclude=none-such&exclude=b&verbose",
                "[+]ping ok\n[+]log ok\n\
                 warn: some health checks cannot be excluded: no matches for \"b\",\"none-such\"\n\
                 livez check passed\n",
            ),
            ("/livez/ping", "", "ok"),
            ("/readyz/ping", "", "ok"),
        ] {
            assert_eq!(ask(&checks, path, query).await, Some((200, expected.to_owned())), "{path}?{query}");
        }
    }

    #[tokio::test]
    async fn failing_checks_are_always_listed_and_can_be_excluded() {
        let checks = checks(true);
        let report = "[+]ping ok\n[+]log ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n";
        assert_eq!(ask(&checks, "/readyz", "").await, Some((500, report.to_owned())));
        assert_eq!(ask(&checks, "/readyz", "verbose").await, Some((500, report.to_owned())));
        assert_eq!(ask(&checks, "/readyz", "exclude=shutdown").await, Some((200, "ok".to_owned())));
        assert_eq!(ask(&checks, "/livez", "").await, Some((200, "ok".to_owned())));
        let single = "internal server error: the process is stopping\n";
        assert_eq!(ask(&checks, "/readyz/shutdown", "").await, Some((500, single.to_owned())));
    }

    #[tokio::test]
    async fn remarks_stand_behind_checks_that_pass() {
        let checks = Checks::new(Duration::ZERO);
        checks.register_remarked("data", &[Probe::Ready], || Ok(()), || "2 rows are damaged".to_owned());
        let report = "[+]ping ok\n[+]data ok: 2 rows are damaged\nreadyz check passed\n";
        assert_eq!(ask(&checks, "/readyz", "verbose").await, Some((200, report.to_owned())));
        assert_eq!(ask(&checks, "/readyz", "").await, Some((200, "ok".to_owned())));
        assert_eq!(ask(&checks, "/readyz/data", "").await, Some((200, "ok".to_owned())));
    }

    #[tokio::test]
    async fn other_paths_are_not_answered() {
        let checks = checks(false);
        for path in
            ["/livez/", "/livez/none-such", "/livez/shutdown", "/livezz", "/", "/readyz/ping/", "livez"]
        {
            assert_eq!(ask(&checks, path, "").await, None, "{path}");
        }
    }

    #[tokio::test]
    async fn hooks_fail_until_they_are_finished() {
        let checks = Checks::new(Duration::ZERO);
        let hook = checks.register_hook("rbac/bootstrap-roles");
        assert!(checks.paths().contains(&"/livez/poststarthook/rbac/bootstrap-roles".to_owned()));
        let (status, text) = ask(&checks, "/readyz/poststarthook/rbac/bootstrap-roles", "").await.unwrap();
        assert_eq!((status, text.as_str()), (500, "internal server error: not finished\n"));
        hook.finish();
        let text = ask(&checks, "/readyz", "verbose").await.unwrap().1;
        assert_eq!(text, "[+]ping ok\n[+]poststarthook/rbac/bootstrap-roles ok\nreadyz check passed\n");
    }

    #[tokio::test]
    async fn a_grace_period_keeps_only_livez_from_failing() {
        let checks = Checks::new(Duration::from_hours(1));
        checks.register_hook("slow");
        assert_eq!(ask(&checks, "/livez", "").await, Some((200, "ok".to_owned())));
        assert_eq!(ask(&checks, "/livez/poststarthook/slow", "").await, Some((200, "ok".to_owned())));
        for path in ["/readyz", "/healthz", "/readyz/poststarthook/slow"] {
            assert_eq!(ask(&checks, path, "").await.unwrap().0, 500, "{path}");
        }
    }

    #[test]
    fn a_name_is_held_by_one_check() {
        let checks = Checks::new(Duration::ZERO);
        checks.register("ping", &[Probe::Ready], || Ok(()));
        assert_eq!(checks.paths(), ["/livez", "/readyz", "/readyz/ping", "/healthz"]);
    }
}
