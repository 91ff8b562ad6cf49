//! Kubeconfig files: the target that the current context names.
//!
//! Understood of a cluster: `server`, `certificate-authority`, `certificate-authority-data`,
//! `tls-server-name`. Of a user: `token`, `tokenFile`, `client-certificate`, `client-key` and both with
//! `-data`, `username`, `password`. What would weaken or redirect a call (`insecure-skip-tls-verify`,
//! `proxy-url`) or run a program (`exec`, `auth-provider`) is refused. Other fields mean nothing to a server
//! and are ignored. Relative paths begin at the folder of the file.

use std::path::{Path, PathBuf};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::Deserialize;

use crate::{
    error::OutboundError,
    target::{Credential, Target, TlsOptions},
};

#[derive(Deserialize)]
struct File {
    #[serde(default, rename = "current-context")]
    current_context: String,
    #[serde(default)]
    contexts: Vec<Entry<Context>>,
    #[serde(default)]
    clusters: Vec<Entry<Cluster>>,
    #[serde(default)]
    users: Vec<Entry<User>>,
}

/// An item of a list, with the field that its list gives a name to.
#[derive(Deserialize)]
struct Entry<T> {
    name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user")]
    item: T,
}

#[derive(Deserialize)]
struct Context {
    cluster: String,
    #[serde(default)]
    user: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: String,
    certificate_authority: Option<PathBuf>,
    certificate_authority_data: Option<String>,
    tls_server_name: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: bool,
    #[serde(default)]
    proxy_url: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
struct User {
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_certificate_data: Option<String>,
    client_key: Option<PathBuf>,
    client_key_data: Option<String>,
    username: Option<String>,
    password: Option<String>,
    exec: Option<serde::de::IgnoredAny>,
    auth_provider: Option<serde::de::IgnoredAny>,
}

/// Reads a file.
///
/// # Errors
/// Where the file or one that it names cannot be read, or is wrong.
pub fn read(path: &Path) -> Result<Target, OutboundError> {
    read_with_files(path).map(|(target, _)| target)
}

/// Reads a file. The second result are the files with certificates and keys that were read for it.
pub(crate) fn read_with_files(path: &Path) -> Result<(Target, Vec<PathBuf>), OutboundError> {
    let (cluster, user) = current(path)?;
    let folder = folder_of(path);
    let files = named_files(folder, &cluster, &user);
    let target = target(folder, cluster, user).map_err(|error| in_file(path, error))?;
    Ok((target, files))
}

/// The files with certificates and keys. That of a token is read again by [`Credential`] itself.
fn named_files(folder: &Path, cluster: &Cluster, user: &User) -> Vec<PathBuf> {
    let pairs = [
        (&cluster.certificate_authority_data, &cluster.certificate_authority),
        (&user.client_certificate_data, &user.client_certificate),
        (&user.client_key_data, &user.client_key),
    ];
    let named = pairs.into_iter().filter(|(data, _)| data.as_deref().unwrap_or_default().is_empty());
    let files = named.filter_map(|(_, file)| file.as_deref());
    files.filter(|file| !file.as_os_str().is_empty()).map(|file| folder.join(file)).collect()
}

/// The client certificate, PEM, that the current context of a file has; none where it has another credential.
///
/// # Errors
/// As [`read`].
pub fn client_certificate(path: &Path) -> Result<Option<Vec<u8>>, OutboundError> {
    let (_, user) = current(path)?;
    certificate(folder_of(path), user.client_certificate_data, user.client_certificate)
        .map_err(|error| in_file(path, error))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// A fault of what a file says names the file.
fn in_file(path: &Path, error: OutboundError) -> OutboundError {
    match error {
        OutboundError::Target(problem) => OutboundError::Kubeconfig { path: path.to_owned(), problem },
        other => other,
    }
}

/// The cluster and the user of a file's current context.
fn current(path: &Path) -> Result<(Cluster, User), OutboundError> {
    let text = orch_settings::read_text(path);
    let text = text.map_err(|source| OutboundError::Read { path: path.to_owned(), source })?;
    let wrong = |problem: String| OutboundError::Kubeconfig { path: path.to_owned(), problem };
    // The parser's message could quote a credential: only its place is told.
    let file: File = orch_settings::parse(&text).map_err(|((line, column), _)| {
        wrong(format!("line {line}, column {column}: not a kubeconfig file"))
    })?;
    chosen(file).map_err(wrong)
}

/// The cluster and the user of the current context; of the only context, where none is current.
fn chosen(mut file: File) -> Result<(Cluster, User), String> {
    let context = match file.current_context.as_str() {
        "" if file.contexts.len() == 1 => file.contexts.remove(0).item,
        "" => return Err("there is no current-context".to_owned()),
        name => take(file.contexts, name).ok_or_else(|| format!("there is no context {name:?}"))?,
    };
    let cluster = take(file.clusters, &context.cluster);
    let cluster = cluster.ok_or_else(|| format!("there is no cluster {:?}", context.cluster))?;
    if context.user.is_empty() {
        return Ok((cluster, User::default()));
    }
    let user = take(file.users, &context.user);
    Ok((cluster, user.ok_or_else(|| format!("there is no user {:?}", context.user))?))
}

fn take<T>(items: Vec<Entry<T>>, name: &str) -> Option<T> {
    items.into_iter().find(|item| item.name == name).map(|item| item.item)
}

fn target(folder: &Path, cluster: Cluster, user: User) -> Result<Target, OutboundError> {
    for (is_there, field) in [
        (cluster.insecure_skip_tls_verify, "insecure-skip-tls-verify"),
        (!cluster.proxy_url.is_empty(), "proxy-url"),
        (user.exec.is_some(), "exec"),
        (user.auth_provider.is_some(), "auth-provider"),
    ] {
        if is_there {
            return Err(OutboundError::Target(format!("{field} is not supported")));
        }
    }
    let authorities = content(
        folder,
        "certificate-authority-data",
        cluster.certificate_authority_data,
        cluster.certificate_authority,
    )?;
    let certificate = certificate(folder, user.client_certificate_data, user.client_certificate)?;
    let key = content(folder, "client-key-data", user.client_key_data, user.client_key)?;
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => return Err(OutboundError::Target("a client certificate and its key go together".to_owned())),
    };
    let credential = match (user.token_file, user.token, user.username) {
        (Some(file), ..) => Credential::token_file(folder.join(file))?,
        (None, Some(token), _) => Credential::token(&token)?,
        (None, None, Some(name)) => Credential::basic(&name, &user.password.unwrap_or_default())?,
        (None, None, None) => Credential::None,
    };
    let options = TlsOptions { authorities, identity, server_name: cluster.tls_server_name };
    Target::new(&cluster.server, options, credential)
}

fn certificate(
    folder: &Path,
    data: Option<String>,
    file: Option<PathBuf>,
) -> Result<Option<Vec<u8>>, OutboundError> {
    content(folder, "client-certificate-data", data, file)
}

/// What stands in the file itself, in base64, or else in the file that it names.
fn content(
    folder: &Path,
    field: &str,
    data: Option<String>,
    file: Option<PathBuf>,
) -> Result<Option<Vec<u8>>, OutboundError> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let decoded = BASE64_STANDARD.decode(data.split_ascii_whitespace().collect::<String>());
        let problem = format!("{field} is not in base64");
        return decoded.map(Some).map_err(|_| OutboundError::Target(problem));
    }
    let Some(path) = file.filter(|path| !path.as_os_str().is_empty()) else { return Ok(None) };
    let path = folder.join(path);
    orch_settings::read(&path).map(Some).map_err(|source| OutboundError::Read { path, source })
}

#[cfg(test)]
mod tests;
