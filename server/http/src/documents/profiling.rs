//! `/debug/pprof`: what the process does and holds, as text for people. `--profiling=false` turns it off.
//!
//! The paths are those of the reference where they have a meaning for a program that is not Go. CPU profiles
//! and traces are taken from outside, with `perf`: to take them inside needs signal handlers, and a crate
//! whose size is not worth it.

use std::{cmp::Reverse, fmt::Write as _, fs};

use tokio::runtime::Handle;

use crate::proc_stat::{Stat, seconds};

/// Name below `/debug/pprof/`, description, function that writes it.
type Profile = (&'static str, &'static str, fn() -> String);

const PROFILES: &[Profile] = &[
    ("cmdline", "the command line, with a NUL after each argument but the last", command_line),
    ("goroutine", "tasks of the runtime, and what its workers have done", tasks),
    ("heap", "the memory of the process", memory),
    ("threads", "the threads of the process, with their state and processor time", threads),
];

/// The list of profiles.
pub fn index() -> String {
    let mut text = String::from("/debug/pprof/\n\n");
    for (name, what, _) in PROFILES {
        let _ = writeln!(text, "{name:<12}{what}");
    }
    let pid = std::process::id();
    let _ = writeln!(text, "\nProfiles of the processor's time are taken with: perf record -g -p {pid}");
    text
}

/// What writes one of them, by its path below `/debug/pprof/`.
pub fn profile(path: &str) -> Option<fn() -> String> {
    let name = path.strip_prefix("/debug/pprof/")?;
    let (.., make) = PROFILES.iter().find(|(known, ..)| *known == name)?;
    Some(*make)
}

fn command_line() -> String {
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    arguments.collect::<Vec<_>>().join("\0")
}

fn tasks() -> String {
    let runtime = Handle::current().metrics();
    let mut text = format!(
        "tasks {}\nwaiting in the common queue {}\n",
        runtime.num_alive_tasks(),
        runtime.global_queue_depth()
    );
    for worker in 0..runtime.num_workers() {
        let (busy, parked) = (runtime.worker_total_busy_duration(worker), runtime.worker_park_count(worker));
        let _ = writeln!(text, "worker {worker}: busy for {:.3}s, parked {parked} times", busy.as_secs_f64());
    }
    text
}

/// The lines about memory that the system has.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_memory = |line: &&str| ["Vm", "Rss"].iter().any(|start| line.starts_with(start));
    let lines: Vec<&str> = status.lines().filter(is_memory).collect();
    if lines.is_empty() { UNKNOWN.to_owned() } else { lines.join("\n") + "\n" }
}

/// What is said where the system does not say it.
const UNKNOWN: &str = "not known on this system\n";

fn threads() -> String {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return UNKNOWN.to_owned() };
    let mut threads: Vec<Stat> = tasks.flatten().filter_map(|task| Stat::read(&task.path())).collect();
    threads.sort_by_key(|thread| Reverse(thread.ticks));
    let mut text = format!("{:<16} {:>5} {:>10} {:>10}\n", "name", "state", "user", "system");
    for Stat { name, state, ticks } in threads {
        let [user, system] = ticks.map(seconds);
        let _ = writeln!(text, "{name:<16} {state:>5} {user:>9.2}s {system:>9.2}s");
    }
    text
}
