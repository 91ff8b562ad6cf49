//! What a plugin prints: an `ExecCredential` with a status, as JSON or YAML.

use orch_runtime::scalar::Time;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    credential::{Credential, Identity, Proof},
    error::PluginFault,
};

/// Has no `Debug`: it holds secrets.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ExecCredential {
    kind: String,
    api_version: String,
    status: Option<Status>,
}

/// An empty text is an absent one, as for programs that write all fields.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
    /// Any value, so that the error names the field.
    expiration_timestamp: Option<Value>,
}

/// Reads an answer in the version that the plugin was asked in.
///
/// # Errors
/// What is wrong with it, without any text of it but its version.
pub fn read(output: &[u8], api_version: &str) -> Result<Credential, PluginFault> {
    let answer = parse(output)?;
    if answer.kind != "ExecCredential" {
        return Err(PluginFault::Output("with its kind".to_owned()));
    }
    if answer.api_version != api_version {
        return Err(PluginFault::Version { wanted: api_version.to_owned(), got: answer.api_version });
    }
    let status = answer.status.ok_or(PluginFault::NoStatus)?;
    let expires = match status.expiration_timestamp {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => {
            let time: Time = text.parse().map_err(|_| PluginFault::Expiration)?;
            Some(time.as_unix_seconds())
        }
        Some(_) => return Err(PluginFault::Expiration),
    };
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let token = given(status.token);
    let pair = (given(status.client_certificate_data), given(status.client_key_data));
    let proof = match (token, pair) {
        (Some(token), (None, None)) => Proof::bearer(&token).ok_or(PluginFault::Token)?,
        (None, (Some(certificate), Some(key))) => Proof::Certificate(identity(certificate, key)?.into()),
        (None, (None, None)) => return Err(PluginFault::Neither),
        (None, _) => return Err(PluginFault::HalfOfPair),
        (Some(_), _) => return Err(PluginFault::Both),
    };
    Ok(Credential { proof, expires, serial: 0 })
}

/// YAML is read by a reader that is slower, and only where it is needed.
fn parse(output: &[u8]) -> Result<ExecCredential, PluginFault> {
    let place = |line: usize, column: usize| PluginFault::Output(format!("in line {line}, column {column}"));
    if output.trim_ascii_start().starts_with(b"{") {
        return serde_json::from_slice(output).map_err(|error| place(error.line(), error.column()));
    }
    serde_saphyr::from_slice(output).map_err(|error| match error.location() {
        Some(at) => place(at.line() as usize, at.column() as usize),
        None => PluginFault::Output("in it".to_owned()),
    })
}

fn identity(certificate: String, key: String) -> Result<Identity, PluginFault> {
    let mut chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
    if !matches!(chain.next(), Some(Ok(_))) || chain.any(|next| next.is_err()) {
        return Err(PluginFault::Certificate);
    }
    PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| PluginFault::Key)?;
    Ok(Identity { certificate, key })
}

#[cfg(test)]
mod tests;
