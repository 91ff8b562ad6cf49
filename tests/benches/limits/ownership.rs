//! What field ownership costs where it cannot be left out of a request: the server's own functions, called by
//! themselves in a process that callgrind counts.
//!
//! The object is as the server has it at that point: typed, with defaults, and back. Of a create, computing
//! and writing the entries is told from the rest by writing the object without them; an apply is counted with
//! its checks and its merge, so that ownership is less than what is told.

use std::{hint::black_box, process::Command};

use orch_machinery::{
    apply::{Application, apply},
    json::{Limits, decode::decode_tree, encode::encode_for_store},
    managed_fields::{Write, owners_of_new},
    meta,
};
use orch_runtime::{Tree, resource_def::ResourceDef};
use serde_json::{Value, json};

use super::daemon_set::daemon_set;

/// How often the work is done in the two runs whose difference is told.
const TIMES: [usize; 2] = [20, 120];

/// What is done.
#[derive(Clone, Copy)]
pub enum Work {
    /// The entries of a new object, and writing it with them.
    Create,
    /// Writing it without them.
    CreateUnowned,
    /// An apply that changes a field.
    Apply,
}

impl Work {
    const ALL: [(Work, &str); 3] =
        [(Work::Create, "create"), (Work::CreateUnowned, "create-unowned"), (Work::Apply, "apply")];

    /// Instructions of doing it once; to be called where valgrind is known to be there.
    pub fn instructions(self) -> f64 {
        let [few, many] = TIMES.map(|times| counted(self.name(), times));
        (many - few) as f64 / (TIMES[1] - TIMES[0]) as f64
    }

    fn name(self) -> &'static str {
        let found =
            Work::ALL.iter().find(|(work, _)| std::mem::discriminant(work) == std::mem::discriminant(&self));
        found.expect("all are listed").1
    }
}

/// Runs this program in callgrind, to do some work.
fn counted(work: &str, times: usize) -> u64 {
    let program = std::env::current_exe().expect("the benchmark knows its path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg(format!("work={work}:{times}"))
        .output()
        .expect("valgrind is there");
    // `==1234== Collected : 123456`
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.unwrap_or_else(|| panic!("callgrind has counted nothing: {text}"))
}

/// Does the work that an argument names.
pub fn work(argument: &str) {
    let (name, times) = argument.split_once(':').expect("work and how often");
    let times: usize = times.parse().expect("a number");
    let (work, _) = Work::ALL.into_iter().find(|(_, known)| *known == name).expect("known work");
    let subject = Subject::new();
    for _ in 0..times {
        subject.work(work);
    }
}

/// A daemon set in all states that the work needs.
struct Subject {
    def: &'static ResourceDef,
    empty: Tree,
    new: Tree,
    live: Tree,
    config: Value,
}

impl Subject {
    fn new() -> Self {
        let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
        let def = *kinds.into_iter().find(|def| def.kind == "DaemonSet").expect("the kind is there");
        let empty = typed(def, json!({"metadata": {}}));
        let [one, other] = ["one", "other"].map(|tag| daemon_set().to_string().replace("NAME", tag));
        let [one, config]: [Value; 2] = [one, other].map(|text| text.parse().expect("it is JSON"));
        let nothing = json!({"kind": "DaemonSet", "apiVersion": "apps/v1", "metadata": {}});
        let mut subject = Subject { def, new: typed(def, one.clone()), empty, live: nothing, config: one };
        let mut applied = subject.apply();
        let entries = meta::metadata_mut(&mut applied).remove("managedFields");
        subject.live = typed(def, applied);
        meta::MetaMut::of(&mut subject.live).set("managedFields", entries);
        subject.config = config;
        subject
    }

    fn work(&self, work: Work) {
        let def = self.def.type_def;
        match work {
            Work::Create => {
                let owners = owners_of_new(&write(), &self.empty, &self.new, def);
                black_box(encode_for_store(&self.new, def, Some(&owners)));
            }
            Work::CreateUnowned => drop(black_box(encode_for_store(&self.new, def, Some("")))),
            Work::Apply => drop(black_box(self.apply())),
        }
    }

    fn apply(&self) -> Tree {
        let application = Application { write: write(), force: false, config: &self.config };
        apply(&application, &self.empty, &self.live, self.def.type_def).expect("nobody else owns anything")
    }
}

fn write() -> Write<'static> {
    Write {
        manager: "bench",
        api_version: "apps/v1",
        subresource: "",
        time: "2026-01-01T00:00:00Z",
        reset: &[&["status"]],
        lost_managers: false,
    }
}

/// A tree as the server has it after its rules.
fn typed(def: &'static ResourceDef, tree: Value) -> Tree {
    let tree = decode_tree(tree, def.type_def, &Limits::default()).expect("it fits its type").tree;
    let mut object = (def.from_tree)(tree).expect("it fits its type");
    object.set_defaults();
    let mut tree = object.to_tree().expect("it can be written");
    meta::set_type(&mut tree, "DaemonSet", "apps/v1");
    tree
}
