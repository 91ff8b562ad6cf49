//! The keys of service account tokens. The server's own is made once and kept, so that tokens are good over a
//! restart; it signs unless the operator has one.

use std::path::{Path, PathBuf};

use orch_auth::{
    error::AuthError,
    service_account::{Keys, SigningKey, TokenConfig, key_files},
};
use orch_config::start_error::StartError;
use rcgen::KeyPair;

use super::{files, pki};

/// The server's own key, in a directory.
const OWN: &str = "service-account.key";

/// Where the keys are.
pub struct TokenKeys {
    directory: PathBuf,
    signing: Option<PathBuf>,
    further: Vec<PathBuf>,
}

impl TokenKeys {
    /// The files that the configuration names; the own key is in `directory`.
    pub fn new(config: &TokenConfig, directory: PathBuf) -> Self {
        let (signing, further) = (config.signing_key_file.clone(), config.key_files.clone());
        TokenKeys { directory, signing, further }
    }

    /// Reads them, and makes the own key where it is missing and needed.
    pub fn read(&self) -> Result<Keys, StartError> {
        let fault = |flag: &'static str| move |error: AuthError| StartError::caused(flag, &error);
        let signing = match &self.signing {
            Some(file) => {
                key_files::signing_key(file).map_err(fault("--service-account-signing-key-file"))?
            }
            None => ensure(&self.directory)?,
        };
        let further = key_files::public_keys(&self.further).map_err(fault("--service-account-key-file"))?;
        Ok(Keys::new(signing, further))
    }

    /// The files.
    pub fn files(&self) -> Vec<PathBuf> {
        let signing = self.signing.clone().unwrap_or_else(|| self.directory.join(OWN));
        self.further.iter().cloned().chain([signing]).collect()
    }
}

/// The key in a directory; made where there is none.
pub fn ensure(directory: &Path) -> Result<SigningKey, StartError> {
    let path = directory.join(OWN);
    let pem = if let Some(pem) = files::read(&path)? {
        pem
    } else {
        let made = KeyPair::generate().map_err(|error| {
            StartError::Runtime(format!("cannot make the key of service account tokens: {error}"))
        })?;
        let pem = made.serialize_pem();
        files::write(&path, &pem, files::PRIVATE)?;
        pem
    };
    let key = pki::parse_key(&path, &pem)?;
    SigningKey::from_der(&key).map_err(|problem| StartError::configuration(path.display(), problem))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::ensure;

    #[test]
    fn the_key_is_kept_and_a_damaged_one_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let first = ensure(directory.path()).unwrap();
        assert_eq!(ensure(directory.path()).unwrap().public().id(), first.public().id());
        let file = directory.path().join("service-account.key");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&file, "no key").unwrap();
        let error = ensure(directory.path()).err().unwrap().to_string();
        assert!(error.contains("service-account.key"), "{error}");
    }
}
