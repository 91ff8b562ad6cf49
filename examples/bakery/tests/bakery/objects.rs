//! A bakery with all that one can have, and others that differ from it.

use std::path::PathBuf;

use orch_tests::{TestServer, server::ServerOptions};
use serde_json::{Value, json};

pub const BAKERIES: &str = "/apis/example.orch.io/v1/namespaces/default/bakeries";

/// The server of this package.
pub fn server() -> ServerOptions {
    TestServer::options().binary(PathBuf::from(env!("CARGO_BIN_EXE_bakery")))
}

/// A bakery that breaks no rule.
pub fn bakery() -> Value {
    json!({
        "apiVersion": "example.orch.io/v1", "kind": "Bakery",
        "metadata": {"name": "corner", "labels": {"chain": "north"}, "annotations": {"orch.io/closed": "no"}},
        "spec": {
            "owner": "Ada", "founded": "2001-04-02T00:00:00Z", "bakers": 4,
            "address": {"town": "Leipzig", "street": "Main Street", "house": "5", "postcode": "04109"},
            "front": {
                "style": "Classic", "colours": {"door": "green"}, "phones": ["0341 12"], "contact": "Ada:12",
                "corner": {"street": "Main Street", "number": "5"}, "website": "https://bread.example.com",
                "listed": true, "sign": "Pretzel",
            },
            "hours": [day("Monday"), day("Tuesday"), day("Wednesday"), day("Thursday"), day("Friday")],
            "closedOn": ["Saturday"],
            "ovens": [
                {"name": "big", "power": "9k", "trays": 8},
                {"name": "stone", "fuel": "Wood", "chimney": "north"},
                {"name": "gas", "fuel": "Gas", "power": "4k"},
                {"name": "old", "power": "2k"},
            ],
            "breads": [{"name": "rye", "grams": 1000, "cents": 450, "oven": "stone", "flour": "Rye"}],
            "cakes": [{"name": "plum", "grams": 800, "oven": "big", "topping": {"glaze": "apricot"}}],
            "offers": [{"name": "rye", "grams": 1000}],
            "shelves": [
                {"row": 1, "column": 1, "boxes": ["rye"]},
                {"row": 2, "column": 1, "boxes": ["spare"]},
            ],
            "tags": ["organic"],
            "labels": {"sort": "best"},
            "delivery": {"by": "Bike", "bike": {}},
            "stock": {"flour": "50", "room": "200", "yeast": "1.2345", "amounts": {"salt": "3"}},
            "lease": {"landlord": "Bo", "cents": 90000},
            "till": {"pin": "1234", "key": "k"},
            "computer": computer(),
            "suppliers": {"matchLabels": {"mill": "yes"}},
        },
    })
}

fn day(day: &str) -> Value {
    json!({"day": day, "opens": 7, "closes": 18, "visitors": null})
}

fn computer() -> Value {
    json!({
        "certificate": "AAEC", "started": "2024-05-06T07:08:09.123456Z", "patience": "5m", "port": "http",
        "load": 0.5, "name": "back", "oldName": "back", "group": "shop", "domain": "bread.example.com",
        "user": "ada", "driver": "CSI.example.com", "provisioner": "example.com/Disk",
        "disk": "iqn.2001-04.com.example:disk", "title": "The old one", "address": "10.1.2.3",
        "network": "10.0.0.0/8",
        "homepage": "https://bread.example.com/", "servers": "a:1,b:2", "program": "/bin/till",
        "folder": "recipes", "menu": "menu.txt", "logo": "/logo.png", "ports": {"http": 80},
        "environment": {"PATH": "/bin", "LANG": "en"}, "headers": {"X-Till": "1"},
        "kernel": {"vm.swappiness": "1"}, "files": {"menu.txt": "rye"}, "remarks": {"example.com/By": "Bo"},
    })
}

/// The bakery with changes. A key is a path in its spec, or one of the whole object after a slash; null takes
/// away. `~1` stands for a slash in a key.
pub fn with(changes: &Value) -> Value {
    let mut object = bakery();
    for (path, value) in changes.as_object().unwrap() {
        let path = path.strip_prefix('/').map_or_else(|| format!("spec/{path}"), str::to_owned);
        let steps: Vec<String> = path.split('/').map(|step| step.replace("~1", "/")).collect();
        put(&mut object, &steps, value);
    }
    object
}

fn put(at: &mut Value, steps: &[String], value: &Value) {
    let (step, rest) = steps.split_first().unwrap();
    if let (Value::Array(items), Ok(index)) = (&mut *at, step.parse::<usize>()) {
        match (rest.is_empty(), value.is_null()) {
            (true, true) => drop(items.remove(index)),
            (true, false) if index == items.len() => items.push(value.clone()),
            (true, false) => items[index] = value.clone(),
            (false, _) => put(&mut items[index], rest, value),
        }
        return;
    }
    if at.is_null() {
        *at = json!({});
    }
    let entries = at.as_object_mut().unwrap();
    match (rest.is_empty(), value.is_null()) {
        (true, true) => drop(entries.remove(step)),
        (true, false) => drop(entries.insert(step.clone(), value.clone())),
        (false, _) => put(entries.entry(step.clone()).or_insert(Value::Null), rest, value),
    }
}
