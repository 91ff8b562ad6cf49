//! Impersonation: the rights that it takes, and the user that results.
//!
//! Each part of the wanted user takes a right of its own, with the verb `impersonate`: the name (`users`, or
//! `serviceaccounts` in the namespace of an account), each group (`groups`), the uid (`uids`), and each value
//! of each extra attribute (`userextras/<key>`). Nothing of the caller goes over to the wanted user.

use std::collections::BTreeMap;

use orch_runtime::constraint::{dns_label, dns_subdomain};

use crate::{
    authorizer::ResourceTarget,
    service_account,
    user::{GROUP_UNAUTHENTICATED, USER_ANONYMOUS, UserInfo},
};

/// The verb of all these rights.
pub const VERB: &str = "impersonate";

/// The version of the kinds that stand for a uid and for an extra attribute.
const VERSION: &str = "v1";

/// The user that a request is to be made as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impersonation {
    /// The name; never empty.
    pub user: String,
    /// In the order of the request. Without any, a service account gets those of all accounts.
    pub groups: Vec<String>,
    /// Empty if the user is to have none.
    pub uid: String,
    /// The values by key.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl Impersonation {
    /// What the caller must be allowed to impersonate: all of these. `group` is the API group of
    /// authentication.
    pub fn targets<'a>(&'a self, group: &'a str) -> Vec<ResourceTarget<'a>> {
        let whole = ResourceTarget::default();
        let user = match service_account(&self.user) {
            Some((namespace, name)) => {
                ResourceTarget { resource: "serviceaccounts", namespace, name, ..whole }
            }
            None => ResourceTarget { resource: "users", name: &self.user, ..whole },
        };
        let groups = self.groups.iter().map(|name| ResourceTarget { resource: "groups", name, ..whole });
        let of_authentication = ResourceTarget { group, version: VERSION, ..whole };
        let extra = self.extra.iter().flat_map(|(key, values)| {
            values.iter().map(move |value| ResourceTarget {
                resource: "userextras",
                subresource: key,
                name: value,
                ..of_authentication
            })
        });
        let uid = ResourceTarget { resource: "uids", name: &self.uid, ..of_authentication };
        let uid = (!self.uid.is_empty()).then_some(uid);
        std::iter::once(user).chain(groups).chain(extra).chain(uid).collect()
    }

    /// The user. Whoever is not anonymous becomes a member of `system:authenticated`, unless the groups say
    /// `system:unauthenticated`; the anonymous user is a member of the latter.
    pub fn into_user(self) -> UserInfo {
        let Self { user: name, mut groups, uid, extra } = self;
        if groups.is_empty()
            && let Some((namespace, _)) = service_account(&name)
        {
            groups = service_account::groups(namespace);
        }
        let user = UserInfo { name, uid, groups, extra };
        if user.name == USER_ANONYMOUS && !user.in_group(GROUP_UNAUTHENTICATED) {
            let mut anonymous = user;
            anonymous.groups.push(GROUP_UNAUTHENTICATED.to_owned());
            return anonymous;
        }
        user.authenticated()
    }
}

/// The namespace and the name of the account with this user name, if an account can have it.
fn service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) =
        user.strip_prefix(service_account::USER_PREFIX)?.strip_prefix(':')?.split_once(':')?;
    (dns_label(namespace).is_empty() && dns_subdomain(name).is_empty()).then_some((namespace, name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Impersonation;
    use crate::authorizer::ResourceTarget;

    fn wanted(user: &str, groups: &[&str], uid: &str, extra: &[(&str, &[&str])]) -> Impersonation {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let extra = extra.iter().map(|(key, values)| ((*key).to_owned(), owned(values)));
        Impersonation {
            user: user.to_owned(),
            groups: owned(groups),
            uid: uid.to_owned(),
            extra: extra.collect(),
        }
    }

    #[test]
    fn each_part_takes_a_right_of_its_own() {
        for (wanted, expected) in [
            (wanted("bob", &[], "", &[]), vec!["/ users/ /bob"]),
            (
                wanted("bob", &["devs", ""], "7", &[("scopes", &["a", "b"]), ("a/b", &["c"])]),
                vec![
                    "/ users/ /bob",
                    "/ groups/ /devs",
                    "/ groups/ /",
                    "auth.io/v1 userextras/a/b /c",
                    "auth.io/v1 userextras/scopes /a",
                    "auth.io/v1 userextras/scopes /b",
                    "auth.io/v1 uids/ /7",
                ],
            ),
            (wanted("system:serviceaccount:ns:robot.x", &[], "", &[]), vec!["/ serviceaccounts/ ns/robot.x"]),
            // No account can have these names.
            (wanted("system:serviceaccount:ns", &[], "", &[]), vec!["/ users/ /system:serviceaccount:ns"]),
            (wanted("system:serviceaccount::a", &[], "", &[]), vec!["/ users/ /system:serviceaccount::a"]),
            (
                wanted("system:serviceaccount:a:b:c", &[], "", &[]),
                vec!["/ users/ /system:serviceaccount:a:b:c"],
            ),
            (
                wanted("system:serviceaccount:n.s:a", &[], "", &[]),
                vec!["/ users/ /system:serviceaccount:n.s:a"],
            ),
            (
                wanted("system:serviceaccount:ns:A", &[], "", &[]),
                vec!["/ users/ /system:serviceaccount:ns:A"],
            ),
            (
                wanted("system:serviceaccounts:ns:a", &[], "", &[]),
                vec!["/ users/ /system:serviceaccounts:ns:a"],
            ),
        ] {
            let targets = wanted.targets("auth.io");
            let shown = targets.iter().map(|target| {
                let ResourceTarget { group, version, resource, subresource, namespace, name, .. } = target;
                format!("{group}/{version} {resource}/{subresource} {namespace}/{name}")
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected, "{wanted:?}");
        }
    }

    #[test]
    fn the_user_has_what_was_asked_for_and_the_groups_that_go_without_saying() {
        let account = "system:serviceaccount:ns:robot";
        for (user, groups, expected) in [
            ("bob", &[][..], &["system:authenticated"][..]),
            ("bob", &["devs"], &["devs", "system:authenticated"]),
            ("bob", &["system:authenticated", "devs"], &["system:authenticated", "devs"]),
            ("bob", &["system:unauthenticated"], &["system:unauthenticated"]),
            (account, &[], &["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"]),
            (account, &["devs"], &["devs", "system:authenticated"]),
            ("system:anonymous", &[], &["system:unauthenticated"]),
            ("system:anonymous", &["devs"], &["devs", "system:unauthenticated"]),
            ("system:anonymous", &["system:unauthenticated"], &["system:unauthenticated"]),
        ] {
            let became = wanted(user, groups, "7", &[("scopes", &["a"])]).into_user();
            assert_eq!((became.name.as_str(), became.uid.as_str()), (user, "7"));
            assert_eq!(became.groups, expected, "{user} {groups:?}");
            assert_eq!(became.extra, BTreeMap::from([("scopes".to_owned(), vec!["a".to_owned()])]));
        }
    }
}
