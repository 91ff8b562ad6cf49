//! Objects of which only one member may be given.

use crate::{
    field_error::{FieldError, Validation},
    path::Path,
};

/// A member of a union that a discriminator selects.
#[derive(Clone, Copy, Debug)]
pub struct Member<'m> {
    /// The discriminator's value that selects the member.
    pub selected_by: &'m str,
    /// The member's field.
    pub field: &'m str,
    /// Whether the field is given.
    pub given: bool,
}

/// Exactly one of the members, each a field's name and whether it is given.
pub fn union_exactly_one(members: &[(&str, bool)], path: &Path<'_>, cx: &mut Validation<'_>) {
    match given(members).count() {
        0 => cx.push(FieldError::invalid(path, "", &format!("must specify one of: {}", names(members)))),
        1 => {}
        _ => too_many_members(members, "exactly", path, cx),
    }
}

/// At most one of the members, each a field's name and whether it is given.
pub fn union_at_most_one(members: &[(&str, bool)], path: &Path<'_>, cx: &mut Validation<'_>) {
    if given(members).count() > 1 {
        too_many_members(members, "at most", path, cx);
    }
}

/// The member that the discriminator selects, and no other. A discriminator that selects no member is left to
/// the rule of its own field, and then no member may be given.
pub fn union_by_discriminator(
    discriminator: &str,
    value: &str,
    members: &[Member<'_>],
    path: &Path<'_>,
    cx: &mut Validation<'_>,
) {
    for member in members {
        let condition = match (member.selected_by == value, member.given) {
            (true, false) => "must be specified when",
            (false, true) => "may only be specified when",
            _ => continue,
        };
        let detail = format!("{condition} `{discriminator}` is \"{}\"", member.selected_by);
        cx.push(FieldError::invalid(&path.field(member.field), "", &detail));
    }
}

fn too_many_members(members: &[(&str, bool)], how_many: &str, path: &Path<'_>, cx: &mut Validation<'_>) {
    let given = format!("{{{}}}", given(members).collect::<Vec<_>>().join(", "));
    cx.push(FieldError::invalid(
        path,
        &given,
        &format!("must specify {how_many} one of: {}", names(members)),
    ));
}

fn given<'m>(members: &'m [(&'m str, bool)]) -> impl Iterator<Item = &'m str> {
    members.iter().filter(|(_, given)| *given).map(|(name, _)| *name)
}

fn names(members: &[(&str, bool)]) -> String {
    members.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        field_error::Reason,
        rule::tests::{errors, reported},
    };

    #[test]
    fn members_are_counted() {
        let table: &[([bool; 3], Option<&str>, Option<&str>)] = &[
            ([false, true, false], None, None),
            ([false, false, false], Some("\"\": must specify one of: `a`, `b`, `c`"), None),
            (
                [true, false, true],
                Some("\"{a, c}\": must specify exactly one of: `a`, `b`, `c`"),
                Some("\"{a, c}\": must specify at most one of: `a`, `b`, `c`"),
            ),
        ];
        for (given, exactly, at_most) in table {
            let members = [("a", given[0]), ("b", given[1]), ("c", given[2])];
            let invalid = |text: &str| (Reason::Invalid, format!("spec: Invalid value: {text}"));
            let expected: Vec<_> = exactly.iter().map(|text| invalid(text)).collect();
            assert_eq!(reported(|path, cx| union_exactly_one(&members, path, cx)), expected);
            let expected: Vec<_> = at_most.iter().map(|text| invalid(text)).collect();
            assert_eq!(reported(|path, cx| union_at_most_one(&members, path, cx)), expected);
        }
    }

    #[test]
    fn a_discriminator_selects_one_member() {
        let check = |value: &str, exempt: bool, limited: bool| {
            let members = [
                Member { selected_by: "Exempt", field: "exempt", given: exempt },
                Member { selected_by: "Limited", field: "limited", given: limited },
            ];
            errors(|path, cx| union_by_discriminator("type", value, &members, path, cx))
        };
        let missing = "spec.exempt: Invalid value: \"\": must be specified when `type` is \"Exempt\"";
        let surplus = "spec.limited: Invalid value: \"\": may only be specified when `type` is \"Limited\"";
        assert_eq!(check("Exempt", true, false), [""; 0]);
        assert_eq!(check("Exempt", false, false), [missing]);
        assert_eq!(check("Exempt", false, true), [missing, surplus]);
        assert_eq!(check("Other", false, true), [surplus]);
        assert_eq!(check("Other", false, false), [""; 0]);
    }
}
