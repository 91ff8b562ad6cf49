//! Kubeconfig files as other clients read them: several are merged, one context is chosen.
//!
//! Reading one file, relative paths in it, and the rules of merging are those of `kube`. What differs there
//! from what people know is mended here: a file of `KUBECONFIG` that is missing is left out, an empty
//! `current-context` is none, a name stands once in a file, and what is named must be there. Errors name
//! files and places, and repeat nothing of a file.

use std::{
    collections::BTreeSet,
    env,
    error::Error as _,
    io,
    path::{Path, PathBuf},
};

use kube::config::{Cluster, Kubeconfig, KubeconfigError};

use crate::error::Error;

/// The variable with the files.
const VARIABLE: &str = "KUBECONFIG";

/// What is chosen instead of what the files say.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    pub context: Option<String>,
    pub cluster: Option<String>,
    pub user: Option<String>,
}

/// The files of `KUBECONFIG`, or else the one in the home directory. They need not exist.
pub fn usual_files() -> Vec<PathBuf> {
    let named = env::var_os(VARIABLE).unwrap_or_default();
    let named: Vec<PathBuf> = env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
    if !named.is_empty() {
        return named;
    }
    env::home_dir().map(|home| home.join(".kube").join("config")).into_iter().collect()
}

/// Reads and merges files; nothing where none of them exists.
///
/// # Errors
/// Where a file is wrong or cannot be read, also where it is missing and `must_exist`.
pub fn read(files: &[PathBuf], must_exist: bool) -> Result<Option<Kubeconfig>, Error> {
    let mut merged: Option<Kubeconfig> = None;
    for path in files {
        let Some(next) = read_file(path, must_exist)? else { continue };
        merged = Some(match merged {
            None => next,
            Some(merged) => merged.merge(next).map_err(unusable)?,
        });
    }
    Ok(merged)
}

fn read_file(path: &Path, must_exist: bool) -> Result<Option<Kubeconfig>, Error> {
    let mut file = match Kubeconfig::read_from(path) {
        Ok(file) => file,
        Err(KubeconfigError::ReadConfig(error, _))
            if error.kind() == io::ErrorKind::NotFound && !must_exist =>
        {
            return Ok(None);
        }
        Err(KubeconfigError::ReadConfig(error, path)) => {
            return Err(Error::Read { path, why: error.to_string() });
        }
        // Its text shows lines of the file, which may be secret.
        Err(KubeconfigError::Parse(error)) => {
            let at = error
                .location()
                .map_or("in it".to_owned(), |at| format!("in line {}, column {}", at.line(), at.column()));
            return Err(Error::Parse { path: path.to_owned(), at });
        }
        Err(error) => return Err(unusable(error)),
    };
    let twice = first_twice(file.clusters.iter().map(|named| named.name.as_str()))
        .or_else(|| first_twice(file.auth_infos.iter().map(|named| named.name.as_str())))
        .or_else(|| first_twice(file.contexts.iter().map(|named| named.name.as_str())));
    if let Some(name) = twice {
        let at = format!("where the name {name:?} stands a second time");
        return Err(Error::Parse { path: path.to_owned(), at });
    }
    file.current_context = file.current_context.filter(|name| !name.is_empty());
    Ok(Some(file))
}

/// Names are few, and a set keeps many of them cheap too.
fn first_twice<'n>(mut names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let mut seen = BTreeSet::new();
    names.find(|name| !seen.insert(*name))
}

/// The files with what is chosen as their current context, and its cluster.
///
/// # Errors
/// Where what is chosen, or named by it, is not there.
pub fn choose(mut kubeconfig: Kubeconfig, choice: &Choice) -> Result<(Kubeconfig, Cluster), Error> {
    let name = choice.context.clone().or(kubeconfig.current_context.take());
    let name = name.ok_or_else(|| wrong("no context is chosen, and none is current"))?;
    let found = kubeconfig.contexts.iter_mut().find(|named| named.name == name);
    let context = found.and_then(|named| named.context.as_mut());
    let context = context.ok_or_else(|| wrong(format!("there is no context {name:?}")))?;
    if let Some(cluster) = &choice.cluster {
        context.cluster.clone_from(cluster);
    }
    if let Some(user) = &choice.user {
        context.user = Some(user.clone());
    }
    context.namespace = context.namespace.take().filter(|namespace| !namespace.is_empty());
    let clusters = &kubeconfig.clusters;
    let cluster = clusters.iter().find(|named| named.name == context.cluster);
    let cluster = cluster.and_then(|named| named.cluster.clone()).ok_or_else(|| {
        wrong(format!("there is no cluster {:?}, which the context {name:?} names", context.cluster))
    })?;
    if let Some(user) = context.user.as_deref().filter(|user| !user.is_empty())
        && !kubeconfig.auth_infos.iter().any(|named| named.name == user)
    {
        return Err(wrong(format!("there is no user {user:?}, which the context {name:?} names")));
    }
    kubeconfig.current_context = Some(name);
    Ok((kubeconfig, cluster))
}

fn wrong(why: impl Into<String>) -> Error {
    Error::Kubeconfig(why.into())
}

/// An error of `kube`, with its cause. None of them repeats what files hold, but for the one of the parser.
pub fn unusable(error: KubeconfigError) -> Error {
    match error {
        KubeconfigError::Parse(_) => wrong("something in them is not understood"),
        error => {
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            let text = error.to_string();
            Error::Kubeconfig(if text.contains(&cause) { text } else { format!("{text}: {cause}") })
        }
    }
}

#[cfg(test)]
mod tests;
