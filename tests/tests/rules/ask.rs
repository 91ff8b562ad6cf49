//! What the tables of rules ask a server: which faults an object has, what it becomes, and what its client is
//! warned of.
//!
//! Every question goes over a socket, and the whole answer is checked, not only the part that is returned.
//! Nothing that is asked stays: new objects are dry runs, and what a change needs to begin with is stored
//! under a name of its own and deleted.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    sync::{
        Arc, LazyLock, Mutex, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use http::header::WARNING;
use orch_api::{KUBERNETES, ORCH};
use orch_runtime::{
    resource_def::{ResourceDef, Scope},
    type_def::TypeDef,
    vocabulary::Vocabulary,
};
use orch_tests::{Answer, Client, TestServer, objects};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::stated::Cause;

/// Namespaces that cases stand in, besides those that every server has.
const NAMESPACES: &[&str] = &["n", "m"];

/// How the body of a message begins, and the reason that goes with it.
const REASONS: &[(&str, &str)] = &[
    ("Required value", "FieldValueRequired"),
    ("Invalid value", "FieldValueInvalid"),
    ("Unsupported value", "FieldValueNotSupported"),
    ("Forbidden", "FieldValueForbidden"),
    ("Duplicate value", "FieldValueDuplicate"),
    ("Not found", "FieldValueNotFound"),
    ("Too long", "FieldValueTooLong"),
    ("Too many", "FieldValueTooMany"),
];

/// What is wrong with a new object, in the order in which it is reported: `field: message` of each cause.
pub fn errors(kind: &str, tree: &Value) -> Vec<String> {
    Api::kubernetes().errors(kind, tree)
}

/// What is wrong with a change of a stored object on its main path.
pub fn update_errors(kind: &str, old: &Value, new: &Value) -> Vec<String> {
    Api::kubernetes().change_errors(kind, "", old, new)
}

/// What is wrong with a change of a stored object's status.
pub fn status_errors(kind: &str, old: &Value, new: &Value) -> Vec<String> {
    Api::kubernetes().change_errors(kind, "/status", old, new)
}

/// What is wrong with a change of the status of an object that is deleted, and kept by a finalizer.
pub fn deleted_status_errors(kind: &str, new: &Value) -> Vec<String> {
    let (api, def) = (Api::kubernetes(), resource(kind));
    let stored = api.store(def, &json!({"metadata": {"finalizers": ["example.com/keep"]}}));
    api.delete(&stored);
    let new = with(new, "/metadata/name", stored.tree["metadata"]["name"].clone());
    let answer = api.put(&format!("{}/status?dryRun=All", stored.path), &new);
    // Without a version: a controller writes it too.
    let free = with(&stored.tree, "/metadata/finalizers", Value::Null);
    api.put(&stored.path, &with(&free, "/metadata/resourceVersion", Value::Null)).expect(200);
    if answer.status == 200 {
        return Vec::new();
    }
    api.faults(&Judged { group: def.group, kind, name: name(&new), of: def.type_def }, &answer)
}

/// What is wrong with a change of a stored object on the path of another part of it.
pub fn part_errors(kind: &str, part: &str, old: &Value, new: &Value) -> Vec<String> {
    Api::kubernetes().change_errors(kind, &format!("/{part}"), old, new)
}

/// What is wrong with the body of an operation on a stored object.
pub fn operation_errors(kind: &str, operation: &str, tree: &Value) -> Vec<String> {
    let api = Api::kubernetes();
    let def = resource(kind);
    let body = def.subresource(operation).and_then(|operation| operation.body).expect("it has a body");
    let stored = api.store(def, &json!({}));
    let answer = RUNTIME.block_on(api.client.post(&format!("{}/{operation}", stored.path), tree));
    api.delete(&stored);
    match answer.status {
        201 => Vec::new(),
        _ => api.faults(&Judged { group: body.group, kind: body.kind, name: "", of: body.type_def }, &answer),
    }
}

/// What is wrong with the name of a new object of any kind; its other fields are empty.
pub fn name_errors(def: &ResourceDef, name: &str) -> Vec<String> {
    let tree = json!({"metadata": {"name": name}});
    let mut errors = Api::kubernetes().new_errors(def, &tree);
    errors.retain(|error| error.starts_with("metadata.name: "));
    errors
}

/// Asks for the errors of a new object with one value changed at a time; the object itself has none.
pub fn check(kind: &str, base: &Value, cases: &[(&str, Value, &[&str])]) {
    assert_eq!(errors(kind, base), [""; 0]);
    let differences = cases.iter().filter_map(|(pointer, value, expected)| {
        let told = errors(kind, &with(base, pointer, value.clone()));
        (told != *expected).then(|| format!("{pointer} {value}\n  told {told:#?}\n  expected {expected:#?}"))
    });
    let differences: Vec<String> = differences.collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// What the client is warned of when it creates the object.
pub fn warnings(kind: &str, tree: &Value) -> Vec<String> {
    let api = Api::kubernetes();
    let answer = api.create(resource(kind), tree);
    answer.expect(201);
    answer.headers.get_all(WARNING).iter().map(|value| warning(value.to_str().unwrap())).collect()
}

/// The object as it is stored, without its metadata.
pub fn defaulted(kind: &str, tree: &Value) -> Value {
    Api::kubernetes().defaulted(kind, tree)
}

/// The object with the status that it has later, as it is stored, without its metadata.
pub fn stored(kind: &str, tree: &Value) -> Value {
    let api = Api::kubernetes();
    let stored = api.store(resource(kind), tree);
    let tree = stored.tree.clone();
    api.delete(&stored);
    without_metadata(tree)
}

/// A copy of `tree` with `value` at `pointer`; what is missing on the way is made. `null` removes.
pub fn with(tree: &Value, pointer: &str, value: Value) -> Value {
    let mut tree = tree.clone();
    let (parent, last) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
    let mut place = &mut tree;
    for step in parent.split('/').skip(1) {
        place = match place {
            Value::Array(items) => &mut items[step.parse::<usize>().expect("an index")],
            other => {
                if other.is_null() {
                    *other = Value::Object(Map::new());
                }
                &mut other[step]
            }
        };
    }
    match (place, value) {
        (Value::Array(items), value) => items[last.parse::<usize>().expect("an index")] = value,
        (Value::Object(fields), Value::Null) => drop(fields.remove(last)),
        (place, value) => place[last] = value,
    }
    tree
}

/// Whether a table has asked for the errors of an object of the kind, in any version.
pub fn is_asked(def: &ResourceDef) -> bool {
    ASKED.lock().unwrap().contains(&(def.group, def.kind))
}

static ASKED: Mutex<BTreeSet<(&str, &str)>> = Mutex::new(BTreeSet::new());

/// Every cause that a table was told of so far.
pub fn causes() -> BTreeSet<Cause> {
    CAUSES.lock().unwrap().clone()
}

static CAUSES: Mutex<BTreeSet<Cause>> = Mutex::new(BTreeSet::new());

/// Every object whose creation a table asked for so far, and how it was refused where it was.
pub fn created() -> Vec<(Value, Option<String>)> {
    CREATED.lock().unwrap().clone()
}

static CREATED: Mutex<Vec<(Value, Option<String>)>> = Mutex::new(Vec::new());

/// What the server of all tables is told.
pub const FLAGS: &[&str] = &["--runtime-config=api/all=true", "--feature-gates=AllAlpha=true,AllBeta=true"];

/// A server and its administrator.
pub struct Api {
    words: &'static Vocabulary,
    client: Client,
    _server: TestServer,
}

/// What a refusal is about.
struct Judged<'a> {
    /// In the schema's spelling.
    group: &'a str,
    kind: &'a str,
    name: &'a str,
    of: &'static TypeDef,
}

/// An object that a change begins with.
struct Stored {
    path: String,
    tree: Value,
}

impl Api {
    /// The server that all tables ask. It goes with the last thread that asked it.
    fn kubernetes() -> Arc<Api> {
        static SHARED: Mutex<Weak<Api>> = Mutex::new(Weak::new());
        thread_local!(static KEPT: RefCell<Option<Arc<Api>>> = const { RefCell::new(None) });
        KEPT.with_borrow_mut(|kept| {
            let shared = || {
                let mut shared = SHARED.lock().unwrap();
                let api = shared.upgrade().unwrap_or_else(|| Arc::new(Api::start(&KUBERNETES)));
                *shared = Arc::downgrade(&api);
                api
            };
            Arc::clone(kept.get_or_insert_with(shared))
        })
    }

    /// A server that speaks the product's own words.
    pub fn orch() -> Api {
        Api::start(&ORCH)
    }

    /// Every kind and every field is on. No controller changes an object between two questions.
    fn start(words: &'static Vocabulary) -> Api {
        let options = TestServer::options().vocabulary(words.name).flag("--controllers=namespace");
        // Tables ask about one object, not about the class of a claim.
        let options = options.flag("--disable-admission-plugins=PersistentVolumeClaimResize");
        let options = FLAGS.iter().fold(options, |options, flag| options.flag(*flag));
        let api = RUNTIME.block_on(async {
            let server = options.start().await;
            let client = server.admin();
            for name in NAMESPACES {
                client.post(objects::NAMESPACES, &objects::namespace(name)).await.expect(201);
            }
            Api { words, client, _server: server }
        });
        // Every server makes them, and a table asks about them as about any other.
        for kind in ["FlowSchema", "PriorityLevelConfiguration"] {
            for name in ["exempt", "catch-all"] {
                let path = format!("{}/{name}", api.collection(resource(kind), &Value::Null));
                RUNTIME.block_on(api.client.delete(&path)).expect(200);
            }
        }
        api
    }

    /// See [`errors`].
    pub fn errors(&self, kind: &str, tree: &Value) -> Vec<String> {
        let def = resource(kind);
        ASKED.lock().unwrap().insert((def.group, def.kind));
        self.new_errors(def, tree)
    }

    fn new_errors(&self, def: &ResourceDef, tree: &Value) -> Vec<String> {
        let tree = named(def, tree);
        let answer = self.create(def, &tree);
        if answer.status == 201 {
            return Vec::new();
        }
        // The causes of reviews are reported without a kind and a name.
        let is_review = !def.stored && def.kind != "Binding";
        let (kind, name) = if is_review { ("", "") } else { (def.kind, name(&tree)) };
        self.faults(&Judged { group: def.group, kind, name, of: def.type_def }, &answer)
    }

    /// See [`defaulted`].
    pub fn defaulted(&self, kind: &str, tree: &Value) -> Value {
        without_metadata(self.create(resource(kind), tree).expect(201))
    }

    /// See [`update_errors`] and [`status_errors`].
    fn change_errors(&self, kind: &str, subresource: &str, old: &Value, new: &Value) -> Vec<String> {
        let def = resource(kind);
        let stored = self.store(def, old);
        let mut new = new.clone();
        for field in ["name", "resourceVersion"] {
            new = with(&new, &format!("/metadata/{field}"), stored.tree["metadata"][field].clone());
        }
        let answer = self.put(&format!("{}{subresource}?dryRun=All", stored.path), &new);
        self.delete(&stored);
        if answer.status == 200 {
            return Vec::new();
        }
        let (kind, name) = (def.kind, name(&new));
        self.faults(&Judged { group: def.group, kind, name, of: def.type_def }, &answer)
    }

    /// A POST that stores nothing.
    fn create(&self, def: &ResourceDef, tree: &Value) -> Answer {
        let mut tree = named(def, tree);
        let path = format!("{}?dryRun=All", self.collection(def, &tree));
        let answer = RUNTIME.block_on(self.client.post(&path, &tree));
        if self.words.name == KUBERNETES.name {
            tree["kind"] = json!(def.kind);
            tree["apiVersion"] = json!(self.words.api_version(def.group, def.version));
            let refusal = (answer.status != 201).then(|| String::from_utf8(answer.body.to_vec()).unwrap());
            CREATED.lock().unwrap().push((tree, refusal));
        }
        answer
    }

    fn put(&self, path: &str, tree: &Value) -> Answer {
        RUNTIME.block_on(self.client.put(path, tree))
    }

    /// Stores an object under a name of its own, with its status where it has one.
    fn store(&self, def: &ResourceDef, tree: &Value) -> Stored {
        let tree = with(tree, "/metadata/name", json!(new_name()));
        let collection = self.collection(def, &tree);
        let path = format!("{collection}/{}", name(&tree));
        let mut stored = RUNTIME.block_on(self.client.post(&collection, &tree)).expect(201);
        if let (true, Some(status)) = (def.has_status(), tree.get("status")) {
            stored["status"] = status.clone();
            stored = self.put(&format!("{path}/status"), &stored).expect(200);
        }
        Stored { path, tree: stored }
    }

    fn delete(&self, stored: &Stored) {
        let answer = RUNTIME.block_on(self.client.delete(&stored.path));
        assert!(matches!(answer.status, 200 | 202), "{answer:?}");
    }

    /// Where objects of the kind are created: the tree's own namespace, or the one that every server has.
    fn collection(&self, def: &ResourceDef, tree: &Value) -> String {
        let group = match self.words.group(def.group) {
            core if core.is_empty() => "/api".to_owned(),
            group => format!("/apis/{group}"),
        };
        let namespace = match def.scope {
            Scope::Cluster => String::new(),
            Scope::Namespaced => {
                format!("/namespaces/{}", tree["metadata"]["namespace"].as_str().unwrap_or("default"))
            }
        };
        format!("{group}/{}{namespace}/{}", def.version, def.plural)
    }

    /// The causes of a refusal, when all the rest of it is as it must be.
    fn faults(&self, judged: &Judged<'_>, answer: &Answer) -> Vec<String> {
        let Judged { group, kind, name, of } = judged;
        let status = answer.expect(422);
        let causes = status["details"]["causes"].as_array().expect("a refusal has causes");
        let faults: Vec<String> = causes.iter().map(fault).collect();
        CAUSES.lock().unwrap().extend(causes.iter().map(|cause| {
            let text = |field: &str| cause[field].as_str().unwrap_or_default().to_owned();
            Cause { of: of.name.to_owned(), field: text("field"), message: text("message") }
        }));
        let mut once = Vec::new();
        for fault in &faults {
            if !once.contains(&fault.as_str()) {
                once.push(fault);
            }
        }
        let list = if once.len() == 1 { once[0].to_owned() } else { format!("[{}]", once.join(", ")) };
        // Events of the newer group are judged as what they are stored as.
        let group = if *kind == "Event" { "".into() } else { self.words.group(group) };
        let group_kind = if group.is_empty() { (*kind).to_owned() } else { format!("{kind}.{group}") };
        let mut details = json!({"name": name, "group": group, "kind": kind, "causes": causes});
        details.as_object_mut().unwrap().retain(|_, value| *value != "");
        assert_eq!(
            status,
            json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 422,
                "reason": "Invalid", "message": format!("{group_kind} \"{name}\" is invalid: {list}"),
                "details": details,
            })
        );
        faults
    }
}

/// The runtime of all connections: it outlives the threads of the tests that use them.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads can be started"));

/// The row of a kind in the resource table. Where another group has a kind of that name, `kind` is the name
/// of its type: `events.orch.io.v1.Event`.
fn resource(kind: &str) -> &'static ResourceDef {
    let kinds = || orch_api::registry().iter().flat_map(|group_version| group_version.resources).copied();
    let named = kinds().find(|resource| resource.schema_name == kind);
    named.or_else(|| kinds().find(|resource| resource.kind == kind)).expect("the kind is registered")
}

fn name(tree: &Value) -> &str {
    tree["metadata"]["name"].as_str().unwrap_or_default()
}

fn new_name() -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    format!("case-{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Whatever is stored has a name.
fn named(def: &ResourceDef, tree: &Value) -> Value {
    if def.stored && tree["metadata"].get("name").is_none() {
        with(tree, "/metadata/name", json!(new_name()))
    } else {
        tree.clone()
    }
}

fn without_metadata(mut tree: Value) -> Value {
    for field in ["kind", "apiVersion", "metadata"] {
        assert!(tree.as_object_mut().unwrap().remove(field).is_some(), "no {field}: {tree}");
    }
    tree
}

/// The text of a cause, whose reason says the same.
fn fault(cause: &Value) -> String {
    let text = |field: &str| cause[field].as_str().unwrap_or_default();
    let (field, message) = (text("field"), text("message"));
    let known = REASONS.iter().find(|(begin, _)| message.starts_with(begin));
    assert_eq!(Some(text("reason")), known.map(|(_, reason)| *reason), "{cause}");
    if field.is_empty() { message.to_owned() } else { format!("{field}: {message}") }
}

/// The text in a `Warning` header.
fn warning(value: &str) -> String {
    let text = value.strip_prefix("299 - \"").and_then(|rest| rest.strip_suffix('"'));
    let text = text.unwrap_or_else(|| panic!("no warning: {value}"));
    let mut escaped = false;
    let kept = text.chars().filter(|ch| {
        escaped = *ch == '\\' && !escaped;
        !escaped
    });
    kept.collect()
}
