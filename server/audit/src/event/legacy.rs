//! The older format of the audit log: a line of `name="value"` pairs for each event, without objects.

use orch_auth::user::UserInfo;

use super::Event;

pub(super) fn line(event: &Event) -> Vec<u8> {
    let Event { audit_id, request_uri, .. } = event;
    let (name, groups) = match &event.user {
        None => ("<none>", "<none>".to_owned()),
        Some(user) => (user.name.as_str(), groups(user).unwrap_or_else(|| "<none>".to_owned())),
    };
    let (as_name, as_groups) = match &event.impersonated_user {
        None => ("<self>", "<lookup>".to_owned()),
        Some(user) => (user.name.as_str(), self::groups(user).unwrap_or_else(|| "<lookup>".to_owned())),
    };
    let namespace = event.object_ref.as_ref().map_or("", |of| of.namespace.as_str());
    let namespace = if namespace.is_empty() { "<none>" } else { namespace };
    let response =
        event.response_status.as_ref().map_or_else(|| "<deferred>".to_owned(), |of| of.code.to_string());
    let address = event.forwarded_for.first().map_or(&*event.address, String::as_str);
    format!(
        "{} AUDIT: id={audit_id:?} stage={:?} ip={address:?} method={:?} user={name:?} groups={groups:?} \
         as={as_name:?} asgroups={as_groups:?} user-agent={:?} namespace={namespace:?} uri={request_uri:?} \
         response=\"{response}\"\n",
        event.received,
        event.stage.name(),
        event.verb,
        event.user_agent,
    )
    .into_bytes()
}

/// `"a","b"`; `None` without groups.
fn groups(user: &UserInfo) -> Option<String> {
    let quoted: Vec<String> = user.groups.iter().map(|group| format!("{group:?}")).collect();
    (!quoted.is_empty()).then(|| quoted.join(","))
}

#[cfg(test)]
mod tests {
    use crate::event::{Event, tests::full};

    #[test]
    fn a_line_has_everything_but_objects() {
        let line = String::from_utf8(full().legacy_line()).unwrap();
        assert_eq!(
            line,
            concat!(
                r#"1970-01-01T00:00:00.000001Z AUDIT: id="0f1e" stage="ResponseComplete" ip="192.0.2.1" "#,
                r#"method="create" user="bob" groups="\"devs\"" as="ann" asgroups="\"devs\"" "#,
                r#"user-agent="test/1" namespace="n" uri="/api/v1/namespaces/n/configmaps?a=\"b\"" "#,
                "response=\"201\"\n"
            )
        );
        let unknown =
            Event { user: None, impersonated_user: None, response_status: None, object_ref: None, ..full() };
        let line = String::from_utf8(unknown.legacy_line()).unwrap();
        for part in [
            r#"user="<none>" groups="<none>" as="<self>" asgroups="<lookup>""#,
            r#"namespace="<none>""#,
            r#"response="<deferred>""#,
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
}
