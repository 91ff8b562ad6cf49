//! Methods, paths and queries: what is authorized is what is dispatched.
//!
//! The input is a request line: `GET /api/v1/pods?watch=1`.

use std::sync::LazyLock;

use http::Method;
use orch_api::KUBERNETES;
use orch_apiserver::request::{
    info::{RequestInfo, Route},
    listing,
    query::Query,
};
use orch_registry::{behaviour::Behaviours, catalog::Catalog};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let tables = orch_api::registry().iter().copied();
    Catalog::of_served(&KUBERNETES, tables, &Behaviours::default(), |_| true)
});

pub fn run(input: &[u8]) {
    let Ok(line) = str::from_utf8(input) else { return };
    let (method, target) = line.split_once(' ').unwrap_or(("GET", line));
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let Ok(method) = method.parse::<Method>() else { return };
    let query = Query::parse(query);
    let info = RequestInfo::parse(&CATALOG, &method, path, &query);
    if let Route::Resource(verb, target) = &info.route {
        let names = &info.names;
        assert_eq!(names.verb, verb.as_str(), "{line}");
        assert_eq!(names.resource, target.resource.def.plural, "{line}");
        let _ = (listing::list(&query, target.clone()), listing::watch(&query, target.clone(), true));
    }
    let _ = (query.timeout(), query.integer("limit"), listing::version(&query));
}
