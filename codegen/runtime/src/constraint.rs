//! The rules behind the schema's formats, each a function from a text to what is wrong with it.
//!
//! A rule returns one message for each fault, in the words of the Kubernetes API, and an empty list for a
//! correct text; a correct text costs no allocation. The messages do not name the field or the value:
//! [`crate::rule::format`] puts both before them. Rules are scanners written by hand: they run on every
//! write, for every name, label and key.
//!
//! The `*_prefix` variants judge the beginning of a name that the server will complete (`generateName`): it
//! may end in a dash.

mod dns;
mod name;
mod net;
mod path;
mod storage;
mod system;

pub use self::{
    dns::{
        dns_1035_label, dns_1035_label_prefix, dns_label, dns_label_prefix, dns_subdomain,
        dns_subdomain_prefix,
    },
    name::{annotation_key, config_key, label_value, path_segment, path_segment_prefix, qualified_name},
    net::{cidr, ip, uri},
    path::{absolute_path, file_path, inner_path, relative_path},
    storage::{driver_name, iqn, provisioner_name},
    system::{env_name, header_name, host_ports, port_name, sysctl_name, trimmed},
};

/// A rule: the faults of a text, none for a correct one.
pub type Constraint = fn(&str) -> Vec<String>;

/// No fault, or one.
fn unless(is_correct: bool, fault: &str) -> Vec<String> {
    if is_correct { Vec::new() } else { vec![fault.to_owned()] }
}

/// The standard words for a text of more than `max` bytes.
fn too_long(max: usize) -> String {
    format!("must be no more than {max} characters")
}
