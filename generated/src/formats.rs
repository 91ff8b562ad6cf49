//! Formats of strings that no other server has; schema files call these functions by name
//! (`x-orch-format: {fn: windows_user}`). Each returns what is wrong, a text for each fault.

use std::sync::LazyLock;

use orch_runtime::{constraint, rule::Pattern, vocabulary::Vocabulary};

/// A domain is shorter than this, and a user name at most as long, in bytes.
const DOMAIN_MAX: usize = 256;
const USER_MAX: usize = 104;
/// Characters that user names cannot contain.
const NOT_IN_USERS: &str = "\"/\\:;|=,+*?<>@[]";

static NETBIOS_DOMAIN: LazyLock<Pattern> =
    LazyLock::new(|| Pattern::new(r#"^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$"#));
static DNS_DOMAIN: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(concat!(
        "^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?",
        r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
    ))
});

/// What is wrong with `user` or `domain\user`.
pub fn windows_user(name: &str) -> Vec<String> {
    if name.is_empty() {
        return vec!["runAsUserName cannot be an empty string".to_owned()];
    }
    if name.bytes().any(|byte| byte.is_ascii_control()) {
        return vec!["runAsUserName cannot contain control characters".to_owned()];
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts[..] {
        [user] => (None, user),
        [domain, user] => (Some(domain), user),
        _ => return vec!["runAsUserName cannot contain more than one backslash".to_owned()],
    };
    let is_domain = |domain| NETBIOS_DOMAIN.is_match(domain) || DNS_DOMAIN.is_match(domain);
    let only_dots = !user.is_empty() && user.chars().all(|ch| ch == '.' || ch == ' ');
    let faults = [
        (
            domain.is_some_and(|domain| domain.len() >= DOMAIN_MAX),
            format!("Domain length must be under {DOMAIN_MAX} characters"),
        ),
        (
            domain.is_some_and(|domain| !is_domain(domain)),
            "Domain doesn't match the NetBios nor the DNS format".to_owned(),
        ),
        (user.is_empty(), "User cannot be empty".to_owned()),
        (user.len() > USER_MAX, format!("User length must not be longer than {USER_MAX} characters")),
        (only_dots, "User cannot contain only periods or spaces".to_owned()),
        (
            user.contains(|ch| NOT_IN_USERS.contains(ch)),
            r#"User cannot contain the following characters: "/\:;|=,+*?<>@[]"#.to_owned(),
        ),
    ];
    let broken = faults.into_iter().filter(|(is_broken, _)| *is_broken);
    broken.map(|(_, fault)| format!("runAsUserName's {fault}")).collect()
}

/// A 32-bit number without a plus sign; zeros may lead only after a minus sign.
pub fn deletion_cost(text: &str) -> Vec<String> {
    let is_plain = match text.as_bytes() {
        [b'-', ..] | [b'0'] => true,
        [first, ..] => (b'1'..=b'9').contains(first),
        [] => false,
    };
    let is_cost = is_plain && text.parse::<i32>().is_ok();
    if is_cost { Vec::new() } else { vec!["must be a 32bit integer".to_owned()] }
}

/// Prefix and name of an old label, the release that deprecated it, and the prefix of the new label. The
/// domain of the vocabulary follows after each prefix.
const RENAMED: &[(&str, &str, &str, &str)] = &[
    ("beta.", "arch", "v1.14", ""),
    ("beta.", "os", "v1.14", ""),
    ("failure-domain.beta.", "region", "v1.17", "topology."),
    ("failure-domain.beta.", "zone", "v1.17", "topology."),
    ("beta.", "instance-type", "v1.17", "node."),
];

/// A label of nodes that is not deprecated.
pub fn node_label(label: &str, words: &Vocabulary) -> Vec<String> {
    let fault =
        renamed(label, words).map(|(since, new)| format!(r#"deprecated since {since}; use "{new}" instead"#));
    fault.into_iter().collect()
}

/// The name that a deprecated label of nodes has now.
pub fn new_name_of_label(label: &str, words: &Vocabulary) -> Option<String> {
    renamed(label, words).map(|(_, new)| new)
}

/// Since when a label of nodes is deprecated, and its new name.
fn renamed(label: &str, words: &Vocabulary) -> Option<(&'static str, String)> {
    let domain = words.label_domain;
    RENAMED.iter().find_map(|(old, name, since, new)| {
        let is_old = label.strip_prefix(old).and_then(|rest| rest.strip_prefix(domain)?.strip_prefix('/'));
        (is_old == Some(name)).then(|| (*since, format!("{new}{domain}/{name}")))
    })
}

/// What quotas count besides the resources of containers and the requests of huge pages.
const OF_QUOTAS: &[&str] = &[
    "configmaps",
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
    "requests.storage",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
    "storage",
];
/// What quotas put before the names of resources.
const REQUESTS: &str = "requests.";
const HUGE_PAGES: &str = "hugepages-";

/// The name of a resource of containers: a standard one, one of the product, or one with a prefix of its own.
pub fn container_resource(name: &str, words: &Vocabulary) -> Vec<String> {
    let is_of_containers =
        matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with(HUGE_PAGES);
    let mut faults = constraint::qualified_name(name);
    if !name.contains('/') {
        let rest = name.strip_prefix(REQUESTS);
        let is_of_quotas = rest.is_some_and(|rest| rest.starts_with(HUGE_PAGES)) || OF_QUOTAS.contains(&name);
        if !is_of_containers && faults.is_empty() && !is_of_quotas {
            faults.push("must be a standard resource type or fully qualified".to_owned());
        }
        if !is_of_containers {
            faults.push("must be a standard resource for containers".to_owned());
        }
    } else if !name.contains(&format!("{}/", words.label_domain)) && !is_extended(name) {
        faults.push("doesn't follow extended resource name standard".to_owned());
    }
    faults
}

/// Whether quotas can count the requests of a resource.
fn is_extended(name: &str) -> bool {
    let counted = format!("{REQUESTS}{name}");
    !name.starts_with(REQUESTS) && constraint::qualified_name(&counted).is_empty()
}
