//! How many seats a request takes: by the objects that a list reads, or by the watches that get the event of
//! a change.

use orch_flow::width::Width;
use orch_runtime::resource_def::Verb;
use orch_storage::Scope;

use crate::{
    app::App,
    request::{RequestHead, info::Route, query::Query},
};

/// The seats of a request, at a level that lets one have `most`.
pub(super) fn of(app: &App, head: RequestHead<'_>, most: u32) -> Width {
    let Route::Resource(verb, target) = &head.info.route else { return Width::ONE };
    let (storage, name) = (app.core.storage(), &target.resource.storage_name);
    match verb {
        Verb::Get => Width::ONE,
        _ if !target.resource.def.stored => Width::ONE,
        Verb::List | Verb::Watch => {
            let is_watch = *verb == Verb::Watch;
            let lists = !is_watch || head.query.flag("sendInitialEvents");
            if !lists || !head.info.names.name.is_empty() {
                return Width::ONE;
            }
            // Those of all namespaces, as in the reference.
            let stored = storage.snapshot(name).count(&Scope::All) as u64;
            Width::of_list(objects(head.query, is_watch, stored), most)
        }
        // An operation, such as making a token, has no event by itself.
        Verb::Create if target.subresource.is_some() => Width::ONE,
        _ => Width::of_change(storage.told_of(name, &target.namespace, &target.name) as u64, most),
    }
}

/// How many objects a list reads, of those that are stored of its resource, by the rules of the reference: it
/// answers some lists from a cache, which reads all of them, and others from its storage.
fn objects(query: &Query, is_watch: bool, stored: u64) -> u64 {
    let limit = query.text("limit").parse::<u64>().unwrap_or(0);
    let is_page = limit > 0 && query.text("resourceVersion") != "0";
    let is_exact = !matches!(query.text("resourceVersionMatch"), "" | "NotOlderThan");
    let is_from_cache = is_watch || !(is_page || is_exact || !query.text("continue").is_empty());
    if is_from_cache {
        return stored;
    }
    let limit = if limit == 0 { stored } else { limit.min(stored) };
    if query.text("labelSelector").is_empty() && query.text("fieldSelector").is_empty() {
        2 * limit
    } else {
        stored + limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_what_they_read_in_the_reference() {
        for (query, expected) in [
            // From the cache: all objects.
            ("", 1000),
            ("labelSelector=a%3Db", 1000),
            ("resourceVersion=0", 1000),
            ("resourceVersion=0&limit=10", 1000),
            ("resourceVersion=0&limit=10&fieldSelector=a%3Db", 1000),
            ("resourceVersion=7&resourceVersionMatch=NotOlderThan", 1000),
            // From the storage: a page costs about twice what it shows, a selector looks at all.
            ("limit=10", 20),
            ("limit=10&resourceVersion=7", 20),
            ("limit=10&labelSelector=a%3Db", 1010),
            ("limit=10&fieldSelector=a%3Db", 1010),
            ("limit=5000", 2000),
            ("continue=x&limit=10", 20),
            ("continue=x", 2000),
            ("continue=x&labelSelector=a%3Db", 2000),
            ("resourceVersion=7&resourceVersionMatch=Exact", 2000),
            ("resourceVersion=7&resourceVersionMatch=Exact&limit=10", 20),
            ("limit=-1", 1000),
        ] {
            assert_eq!(objects(&Query::parse(Some(query)), false, 1000), expected, "{query}");
        }
        let watch = Query::parse(Some("sendInitialEvents=true&limit=10"));
        assert_eq!(objects(&watch, true, 1000), 1000);
    }
}
