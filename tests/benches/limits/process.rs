//! What the system says about a process, and about itself.

/// Ticks in a second, the same on every Linux of today.
const TICKS: f64 = 100.0;

/// Memory that a process has, in bytes.
pub fn resident_bytes(pid: u32) -> f64 {
    memory(pid, "VmRSS:")
}

/// The most memory that a process has had since the peak was reset, in bytes.
pub fn peak_bytes(pid: u32) -> f64 {
    memory(pid, "VmHWM:")
}

/// Lets the peak begin anew.
pub fn reset_peak(pid: u32) {
    std::fs::write(format!("/proc/{pid}/clear_refs"), "5").expect("the process is ours");
}

fn memory(pid: u32, name: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the system tells memory");
    let kibibytes: f64 = line.trim().trim_end_matches(" kB").parse().expect("memory is a number");
    kibibytes * 1024.0
}

/// Processor time that a process has used, in seconds.
pub fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    // The name stands in brackets and may hold spaces; user and system time are the 12th and 13th field after
    // it.
    let fields = stat.rsplit(')').next().expect("the name ends").split_whitespace();
    let ticks: f64 =
        fields.skip(11).take(2).map(|field| field.parse::<f64>().expect("times are numbers")).sum();
    ticks / TICKS
}

/// Processor time that the machine's host has given to others though it was wanted here, in seconds over all
/// processors: what is late then is not the server's doing.
pub fn stolen_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/stat").expect("the system tells times");
    // `cpu  user nice system idle iowait irq softirq steal ...`
    let stolen = stat.split_whitespace().nth(8).expect("the first line is about all processors");
    stolen.parse::<f64>().expect("times are numbers") / TICKS
}

/// Size of the server's binary, in bytes, where `cargo build --release` has made it. The one that is tested
/// is larger: it has kinds for tests.
pub fn server_binary_bytes() -> Option<f64> {
    let path = orch_tests::server::server_binary().with_file_name("orch-apiserver");
    Some(std::fs::metadata(path).ok()?.len() as f64)
}
