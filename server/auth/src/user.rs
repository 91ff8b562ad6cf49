//! Users: the identity of a caller, and names with a special meaning.

use std::collections::BTreeMap;

use orch_runtime::vocabulary::Vocabulary;

/// The group whose members may do everything.
pub const GROUP_MASTERS: &str = "system:masters";
/// The group of callers with a valid credential.
pub const GROUP_AUTHENTICATED: &str = "system:authenticated";
/// The group of callers without a credential.
pub const GROUP_UNAUTHENTICATED: &str = "system:unauthenticated";
/// The user of requests without credentials.
pub const USER_ANONYMOUS: &str = "system:anonymous";

/// The extra attribute of users that names their credential.
pub fn credential_id_key(vocabulary: &Vocabulary) -> String {
    format!("authentication.{}/credential-id", vocabulary.label_domain)
}

/// The identity of a caller. Authentication does not interpret it; authorization does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// The name that rules and messages use.
    pub name: String,
    /// Distinguishes users that had the same name at different times; may be empty.
    pub uid: String,
    /// In the order of the credential.
    pub groups: Vec<String>,
    /// Further attributes of the credential; keys are lower-case.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// A user with a name and groups only.
    pub fn new(name: impl Into<String>, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { name: name.into(), groups: groups.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// The user of requests without credentials.
    pub fn anonymous() -> Self {
        Self::new(USER_ANONYMOUS, [GROUP_UNAUTHENTICATED])
    }

    /// Whether the user is a member of the group.
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|member_of| member_of == group)
    }

    /// The user as a member of `system:authenticated`. The anonymous user and members of
    /// `system:unauthenticated` do not change: nobody is in both groups.
    pub fn authenticated(mut self) -> Self {
        let settled = self.name == USER_ANONYMOUS
            || self.in_group(GROUP_AUTHENTICATED)
            || self.in_group(GROUP_UNAUTHENTICATED);
        if !settled {
            self.groups.push(GROUP_AUTHENTICATED.to_owned());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUP_AUTHENTICATED, GROUP_UNAUTHENTICATED, USER_ANONYMOUS, UserInfo};

    #[test]
    fn the_authenticated_group_is_appended_once_and_never_to_the_anonymous() {
        for (name, groups, expected) in [
            ("bob", vec!["devs"], vec!["devs", GROUP_AUTHENTICATED]),
            ("bob", vec![], vec![GROUP_AUTHENTICATED]),
            ("bob", vec![GROUP_AUTHENTICATED, "devs"], vec![GROUP_AUTHENTICATED, "devs"]),
            ("bob", vec![GROUP_UNAUTHENTICATED], vec![GROUP_UNAUTHENTICATED]),
            (USER_ANONYMOUS, vec![], vec![]),
        ] {
            assert_eq!(
                UserInfo::new(name, groups.clone()).authenticated().groups,
                expected,
                "{name} {groups:?}"
            );
        }
        assert_eq!(UserInfo::anonymous().authenticated(), UserInfo::anonymous());
    }
}
