//! Which controllers run, as operators say it with `--controllers`.
//!
//! The flag is a list of names. `*` stands for all that are on by default, `name` turns one on, `-name` turns
//! one off. What is not named is off, so `*` alone is the default of the flag.

use crate::controller::AnyController;

/// What the flag says unless it is given.
pub const DEFAULT: &str = "*";

/// Keeps the controllers that `list` turns on.
///
/// # Errors
/// What is wrong with the list, in words for an operator: a name that no controller has, or that is both on
/// and off. A name that two controllers have.
pub fn select(
    controllers: Vec<Box<dyn AnyController>>,
    list: &[String],
) -> Result<Vec<Box<dyn AnyController>>, String> {
    let known: Vec<(&str, bool)> =
        controllers.iter().map(|controller| (controller.name(), controller.is_on_by_default())).collect();
    let mut is_on = are_on(&known, list)?.into_iter();
    Ok(controllers.into_iter().filter(|_| is_on.next() == Some(true)).collect())
}

/// Which of the known controllers are on; each has a name and a default.
fn are_on(known: &[(&str, bool)], list: &[String]) -> Result<Vec<bool>, String> {
    let mut names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    if let Some([twice, ..]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("there are two controllers {twice}"));
    }
    let entries: Vec<&str> =
        list.iter().map(|entry| entry.trim()).filter(|entry| !entry.is_empty()).collect();
    for entry in &entries {
        let name = entry.strip_prefix('-').unwrap_or(entry);
        if *entry != "*" && !names.contains(&name) {
            return Err(format!("there is no controller {name} (one of: {})", names.join(", ")));
        }
    }
    let decide = |(name, default): &(&str, bool)| {
        let is_on = entries.contains(name);
        let is_off = entries.iter().any(|entry| entry.strip_prefix('-') == Some(*name));
        match (is_on, is_off) {
            (true, true) => Err(format!("{name} is both on and off")),
            (false, false) => Ok(*default && entries.contains(&"*")),
            _ => Ok(is_on),
        }
    };
    known.iter().map(decide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[(&str, bool)] = &[("namespace", true), ("rare", false), ("volume-protection", true)];

    fn on(list: &[&str]) -> Result<Vec<&'static str>, String> {
        let list: Vec<String> = list.iter().map(ToString::to_string).collect();
        let is_on = are_on(KNOWN, &list)?;
        Ok(KNOWN.iter().zip(is_on).filter(|(_, is_on)| *is_on).map(|((name, _), _)| *name).collect())
    }

    #[test]
    fn operators_choose_controllers() {
        for (list, expected) in [
            (&[DEFAULT][..], &["namespace", "volume-protection"][..]),
            (&[], &[]),
            (&[""], &[]),
            (&["namespace"], &["namespace"]),
            (&["*", "-namespace"], &["volume-protection"]),
            (&["-namespace", "*"], &["volume-protection"]),
            (&["*", "rare"], &["namespace", "rare", "volume-protection"]),
            (&["-namespace"], &[]),
            (&[" rare ", "rare"], &["rare"]),
        ] {
            assert_eq!(on(list).as_deref(), Ok(expected), "{list:?}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = |name: &str| {
            format!("there is no controller {name} (one of: namespace, rare, volume-protection)")
        };
        for (list, expected) in [
            (&["*", "lost"][..], unknown("lost")),
            (&["-lost"], unknown("lost")),
            (&["-*"], unknown("*")),
            (&["rare", "*", "-rare"], "rare is both on and off".to_owned()),
        ] {
            assert_eq!(on(list), Err(expected), "{list:?}");
        }
        let twice = are_on(&[("a", true), ("b", true), ("a", true)], &[]);
        assert_eq!(twice, Err("there are two controllers a".to_owned()));
    }
}
