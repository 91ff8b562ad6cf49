//! `check --watch`: the schema files are checked again whenever one of them changes, and what is new, and
//! what is gone, is told.
//!
//! The files are looked at every quarter of a second. That needs no service of the system, works on every
//! file system, and some hundred files cost nothing that anybody would see.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

use crate::{
    Inputs, Loaded,
    diagnostic::{Diagnostic, Diagnostics},
    functions, load,
};

/// How often the files are looked at.
const INTERVAL: Duration = Duration::from_millis(250);

/// The files, each with its time and its size.
type Stamps = BTreeMap<PathBuf, (Option<SystemTime>, u64)>;

/// Checks now and whenever a file changes, for ever: of the schema, or of the sources with the functions that
/// it names. `tell` gets each state, and what has changed since the one before.
pub fn watch(inputs: &Inputs, sources: &[PathBuf], mut tell: impl FnMut(&Loaded, &str)) -> ! {
    let mut before = Diagnostics::default();
    loop {
        // Before they are read: a change while they are read is seen by the next look.
        let stamps = stamps(inputs, sources);
        let mut loaded = load(inputs);
        functions::check(&loaded.model, sources, &mut loaded.diagnostics);
        tell(&loaded, &changes(&before, &loaded.diagnostics));
        before = loaded.diagnostics;
        while self::stamps(inputs, sources) == stamps {
            pause();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "files tell nobody that they change")]
fn pause() {
    thread::sleep(INTERVAL);
}

/// What is new, as a report for people, after a line for each fault that is gone.
fn changes(before: &Diagnostics, now: &Diagnostics) -> String {
    // Lines move while somebody types. The fault is the same.
    let key = |item: &Diagnostic| (item.span.file.clone(), item.severity, item.code, item.message.clone());
    let keys = |found: &Diagnostics| found.sorted().into_iter().map(key).collect::<BTreeSet<_>>();
    let (known, left) = (keys(before), keys(now));
    let gone = before.sorted().into_iter().filter(|item| !left.contains(&key(item))).map(|item| {
        let Diagnostic { code, message, span, .. } = item;
        format!("gone[{code}]: {message} ({}:{})\n", span.file.display(), span.line)
    });
    let new = now.sorted().into_iter().filter(|item| !known.contains(&key(item)));
    let new: Vec<String> = new.map(|item| now.render_one(item)).collect();
    gone.collect::<String>() + &new.join("\n")
}

fn stamps(inputs: &Inputs, sources: &[PathBuf]) -> Stamps {
    let folders = inputs.imports.iter().map(|(_, folder)| folder).chain([&inputs.schema]);
    let mut stamps = Stamps::new();
    for path in folders.flat_map(crate::Folder::watched).chain(sources.iter().cloned()) {
        stamp(&path, &mut stamps);
    }
    stamps
}

fn stamp(path: &Path, stamps: &mut Stamps) {
    // One that goes away at this moment is not there.
    let Ok(metadata) = fs::metadata(path) else { return };
    if metadata.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        entries.for_each(|entry| stamp(&entry.path(), stamps));
    } else {
        stamps.insert(path.to_owned(), (metadata.modified().ok(), metadata.len()));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::changes;
    use crate::diagnostic::{Diagnostics, Span};

    #[test]
    fn what_stays_is_not_told_again() {
        let found = |rows: &[(usize, &str)]| {
            let mut found = Diagnostics::default();
            for (line, message) in rows {
                let span = Span { line: *line, ..Span::whole_file(Path::new("a.yaml")) };
                found.error(&span, *message, "mend it").code("E0121");
            }
            found
        };
        let told = changes(&found(&[(1, "kept"), (2, "mended")]), &found(&[(7, "kept"), (9, "new")]));
        assert_eq!(
            told,
            "gone[E0121]: mended (a.yaml:2)\nerror[E0121]: new\n --> a.yaml\n  = help: mend it\n"
        );
    }
}
