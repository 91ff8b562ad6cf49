//! Who makes a request, and the names that have a meaning of their own.

use std::collections::BTreeMap;

/// Members may do everything.
pub const GROUP_MASTERS: &str = "system:masters";
/// Everyone who presented a valid credential.
pub const GROUP_AUTHENTICATED: &str = "system:authenticated";
/// Everyone who presented none.
pub const GROUP_UNAUTHENTICATED: &str = "system:unauthenticated";
/// The user that a request without credentials is made by.
pub const USER_ANONYMOUS: &str = "system:anonymous";

/// The identity of a caller. Opaque to authentication, interpreted by authorization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInfo {
    /// The name that rules and messages use.
    pub name: String,
    /// Tells users apart that have had the same name one after the other; may be empty.
    pub uid: String,
    /// In the order of the credential.
    pub groups: Vec<String>,
    /// Further attributes of the credential; keys are lower-case.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl UserInfo {
    /// A user with a name and groups, and nothing else.
    pub fn new(name: impl Into<String>, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { name: name.into(), groups: groups.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// The user of requests without credentials.
    pub fn anonymous() -> Self {
        Self::new(USER_ANONYMOUS, [GROUP_UNAUTHENTICATED])
    }

    /// Whether the user is a member.
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|member_of| member_of == group)
    }

    /// The user as a member of `system:authenticated`. The anonymous user and members of
    /// `system:unauthenticated` stay as they are: nobody is both.
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
