//! Names: every kind has a rule for them.

use orch_runtime::resource_def::{NameFormat, ResourceDef};

use crate::ask::name_errors;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
     and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an \
     alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
     validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
     and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

pub fn of_every_kind() {
    let kinds = orch_api::registry().iter().flat_map(|group_version| group_version.resources);
    // Objects of other versions are judged in the one that they are stored in.
    let is_judged = |def: &ResourceDef| def.conversion.is_none_or(|other| other.to.group != def.group);
    for def in kinds.filter(|def| def.stored && is_judged(def)) {
        let (bad, why) = match def.name_format {
            NameFormat::DnsSubdomain => ("a/_", SUBDOMAIN),
            NameFormat::DnsLabel => ("a_", LABEL),
            NameFormat::Dns1035Label => ("1a", LABEL_1035),
            NameFormat::PathSegment => ("a%b", "may not contain '%'"),
        };
        // The names of drivers have a rule more.
        let first = name_errors(def, bad).into_iter().next();
        let expected = format!("metadata.name: Invalid value: \"{bad}\": {why}");
        assert_eq!(first, Some(expected), "{}", def.kind);
    }
}
