//! The file of `--encryption-provider-config`: which resources are kept sealed, and with which keys.
//!
//! ```yaml
//! apiVersion: apiserver.config.orch.io/v1
//! kind: EncryptionConfiguration
//! resources:
//!   - resources: [secrets]
//!     providers:
//!       - secretbox:
//!           keys:
//!             - {name: second, secret: 32 bytes in base64}
//!             - {name: first, secret: 32 bytes in base64}
//!       - identity: {}
//! ```
//!
//! What is written is sealed with the first key of the first provider; what is read may be sealed with any.
//! Rules are those of the reference. The `apiVersion` may be that of any vocabulary; groups are read as that
//! one spells them. A file is right as a whole or refused: an error names a line and a column, and what is
//! wrong.

use std::{io, path::Path, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use orch_runtime::vocabulary::Vocabulary;
use orch_settings::{Fault, Spanned, fault};
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    cipher::Algorithm,
    error::EncryptionError,
    keyring::{Entries, Keyring, Pattern},
    provider::{Entry, Key},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct File {
    api_version: Spanned<String>,
    kind: Spanned<String>,
    #[serde(default)]
    resources: Vec<Spanned<RuleEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    #[serde(default)]
    resources: Vec<Spanned<String>>,
    #[serde(default)]
    providers: Vec<Spanned<ProviderEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderEntry {
    aesgcm: Option<Spanned<KeysEntry>>,
    aescbc: Option<Spanned<KeysEntry>>,
    secretbox: Option<Spanned<KeysEntry>>,
    identity: Option<Nothing>,
    kms: Option<Spanned<IgnoredAny>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeysEntry {
    #[serde(default)]
    keys: Vec<Spanned<KeyEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyEntry {
    name: Option<Spanned<String>>,
    secret: Option<Spanned<String>>,
}

/// Reads a file for a server that speaks `own`, now or again. It may be written in any of the vocabularies.
///
/// # Errors
/// Where it cannot be read, or is not right.
pub fn read(
    path: &Path,
    own: &Vocabulary,
    vocabularies: &[&'static Vocabulary],
) -> Result<Keyring, EncryptionError> {
    parsed(path, orch_settings::read_text(path), own, vocabularies)
}

/// As [`read`], of a file that is not read again.
///
/// # Errors
/// Those of [`read`].
pub fn read_once(
    path: &Path,
    own: &Vocabulary,
    vocabularies: &[&'static Vocabulary],
) -> Result<Keyring, EncryptionError> {
    parsed(path, orch_settings::read_text_once(path), own, vocabularies)
}

fn parsed(
    path: &Path,
    text: io::Result<String>,
    own: &Vocabulary,
    vocabularies: &[&'static Vocabulary],
) -> Result<Keyring, EncryptionError> {
    let text = text.map_err(|source| EncryptionError::Read { path: path.to_owned(), source })?;
    parse(&text, own, vocabularies).map_err(|((line, column), problem)| EncryptionError::File {
        path: path.to_owned(),
        line,
        column,
        problem,
    })
}

fn parse(text: &str, own: &Vocabulary, vocabularies: &[&'static Vocabulary]) -> Result<Keyring, Fault> {
    let file: File = orch_settings::parse(text)?;
    let is_of = |words: &&Vocabulary| file.api_version.value == api_version(words);
    let written = vocabularies.iter().copied().find(is_of);
    let written = written
        .ok_or_else(|| fault(&file.api_version, format!("apiVersion must be {:?}", api_version(own))))?;
    if file.kind.value != "EncryptionConfiguration" {
        return Err(fault(&file.kind, "kind must be \"EncryptionConfiguration\""));
    }
    if file.resources.is_empty() {
        return Err(((1, 1), "resources must not be empty: nothing would be sealed".to_owned()));
    }
    let mut keyring = Keyring::default();
    for rule in &file.resources {
        let entries = entries(rule)?;
        for (at, pattern) in patterns(rule, written, own)? {
            keyring
                .add(&pattern, &entries)
                .map_err(|earlier| fault(at, format!("{pattern} is covered by the earlier {earlier}")))?;
        }
    }
    Ok(keyring)
}

fn api_version(vocabulary: &Vocabulary) -> String {
    format!("apiserver.config.{}/v1", vocabulary.group_suffix)
}

/// What a rule is about, each with its place in the file.
fn patterns<'f>(
    rule: &'f Spanned<RuleEntry>,
    written: &Vocabulary,
    own: &Vocabulary,
) -> Result<Vec<(&'f Spanned<String>, Pattern)>, Fault> {
    if rule.value.resources.is_empty() {
        return Err(fault(rule, "resources must name at least one"));
    }
    let mut patterns: Vec<(&Spanned<String>, Pattern)> = Vec::new();
    for text in &rule.value.resources {
        let pattern = Pattern::parse(&text.value).map_err(|problem| fault(text, problem))?;
        let pattern = respelled(pattern, written, own);
        if let Pattern::Group(group) | Pattern::Resource(_, group) = &pattern
            && *group == format!("events.{}", own.group_suffix)
        {
            return Err(fault(
                text,
                "objects of this group are stored as events of the core group: use events",
            ));
        }
        if let Some((_, other)) = patterns.iter().find(|(_, other)| pattern.overlaps(other)) {
            return Err(fault(text, format!("{pattern} and {other} name the same resources")));
        }
        patterns.push((text, pattern));
    }
    Ok(patterns)
}

/// A pattern in the spelling of the server.
fn respelled(pattern: Pattern, written: &Vocabulary, own: &Vocabulary) -> Pattern {
    let group = |group: String| match group.strip_suffix(written.group_suffix) {
        Some(stem) if stem.ends_with('.') => format!("{stem}{}", own.group_suffix),
        _ => group,
    };
    match pattern {
        Pattern::Everything => Pattern::Everything,
        Pattern::Group(name) => Pattern::Group(group(name)),
        Pattern::Resource(name, of) => Pattern::Resource(name, group(of)),
    }
}

fn entries(rule: &Spanned<RuleEntry>) -> Result<Entries, Fault> {
    if rule.value.providers.is_empty() {
        return Err(fault(rule, "providers must have at least one"));
    }
    let mut entries = Vec::new();
    for provider in &rule.value.providers {
        entries.extend(entries_of(provider)?);
    }
    Ok(entries.into_iter().map(Arc::new).collect())
}

fn entries_of(provider: &Spanned<ProviderEntry>) -> Result<Vec<Entry>, Fault> {
    let ProviderEntry { aesgcm, aescbc, secretbox, identity, kms } = &provider.value;
    if let Some(kms) = kms {
        return Err(fault(kms, "the provider kms is not supported: use secretbox, aesgcm or aescbc"));
    }
    let sealing =
        [(aesgcm, Algorithm::AesGcm), (aescbc, Algorithm::AesCbc), (secretbox, Algorithm::Secretbox)];
    let mut given = sealing.into_iter().filter_map(|(keys, algorithm)| Some((keys.as_ref()?, algorithm)));
    match (given.next(), given.next(), identity) {
        (None, _, Some(_)) => Ok(vec![Entry::Identity]),
        (Some((keys, algorithm)), None, None) => keys_of(keys, algorithm),
        (None, ..) => Err(fault(provider, "a provider is one of secretbox, aesgcm, aescbc and identity")),
        _ => Err(fault(provider, "an item has one provider: make an item of each")),
    }
}

fn keys_of(keys: &Spanned<KeysEntry>, algorithm: Algorithm) -> Result<Vec<Entry>, Fault> {
    if keys.value.keys.is_empty() {
        return Err(fault(keys, "keys must have at least one"));
    }
    keys.value.keys.iter().map(|key| key_of(key, algorithm).map(Entry::Key)).collect()
}

fn key_of(key: &Spanned<KeyEntry>, algorithm: Algorithm) -> Result<Key, Fault> {
    let name = key.value.name.as_ref().filter(|name| !name.value.is_empty());
    let name = name.ok_or_else(|| fault(key, "a key needs a name"))?;
    let secret = key.value.secret.as_ref().filter(|secret| !secret.value.is_empty());
    let secret = secret.ok_or_else(|| fault(key, "a key needs a secret"))?;
    let bytes = STANDARD.decode(&secret.value);
    let bytes = bytes.map_err(|_| fault(secret, "the secret of a key must be base64"))?;
    if !algorithm.key_lengths().contains(&bytes.len()) {
        let lengths: Vec<String> = algorithm.key_lengths().iter().map(ToString::to_string).collect();
        let problem = format!("the secret has {} bytes, and must have {}", bytes.len(), lengths.join(" or "));
        return Err(fault(secret, problem));
    }
    Key::new(algorithm, &name.value, &bytes).map_err(|_| fault(secret, "the secret is no key"))
}

#[cfg(test)]
mod tests;
