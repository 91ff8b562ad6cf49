//! Files with a client certificate and its key, which somebody else replaces before the certificate ends.

use std::{fs, path::PathBuf, sync::Arc};

use crate::{
    credential::{Credential, Identity, Proof},
    error::Error,
    reread::Reread,
};

/// One half of a pair: a file, or text that stands in the configuration.
pub enum Half {
    File(PathBuf),
    Text(String),
}

/// Reads the pair again, from time to time and after a 401.
pub struct CertificateFiles {
    certificate: Half,
    key: Half,
    reread: Reread,
}

impl CertificateFiles {
    /// A certificate and its key. At least one of them is a file.
    pub fn new(certificate: Half, key: Half) -> Self {
        CertificateFiles { certificate, key, reread: Reread::default() }
    }

    /// The pair for a request that is sent now. One that was read before stays where the files cannot be read
    /// any more.
    ///
    /// # Errors
    /// Where there never was one.
    pub fn credential(&self) -> Result<Arc<Credential>, Error> {
        self.reread.credential(|| self.read(), Err)
    }

    /// The next request reads the files.
    pub fn refused(&self) {
        self.reread.refused();
    }

    fn read(&self) -> Result<Proof, Error> {
        let identity = Identity { certificate: self.certificate.text()?, key: self.key.text()? };
        Ok(Proof::Certificate(Arc::new(identity)))
    }
}

impl Half {
    fn text(&self) -> Result<String, Error> {
        match self {
            Half::Text(text) => Ok(text.clone()),
            Half::File(path) => fs::read_to_string(path)
                .map_err(|error| Error::Read { path: path.clone(), why: error.to_string() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CertificateFiles, Half};
    use crate::credential::Proof;

    #[test]
    fn the_files_are_read_again_after_a_401_and_may_go_away() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("certificate");
        let files = CertificateFiles::new(Half::File(path.clone()), Half::Text("key".to_owned()));
        let error = files.credential().unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot read {}: ", path.display())), "{error}");

        let read = || {
            let credential = files.credential().unwrap();
            let Proof::Certificate(identity) = &credential.proof else { panic!("it is a certificate") };
            (identity.certificate.clone(), identity.key.clone(), credential.serial)
        };
        std::fs::write(&path, "one").unwrap();
        assert_eq!(read(), ("one".to_owned(), "key".to_owned(), 1));
        std::fs::write(&path, "two").unwrap();
        assert_eq!(read().2, 1, "it was read a moment ago");
        files.refused();
        assert_eq!(read(), ("two".to_owned(), "key".to_owned(), 2));
        // The same again is no other credential.
        files.refused();
        assert_eq!(read().2, 2);
        std::fs::remove_file(&path).unwrap();
        files.refused();
        assert_eq!(read().2, 2);
    }
}
