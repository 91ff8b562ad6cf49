//! A file with a bearer token, which somebody else replaces before the token ends.

use std::{fs, path::PathBuf, sync::Arc};

use crate::{
    credential::{Credential, Proof},
    error::Error,
    reread::Reread,
};

/// Reads the token again, from time to time and after a 401.
pub struct TokenFile {
    path: PathBuf,
    /// Used as long as the file was never read.
    instead: Option<String>,
    reread: Reread,
}

impl TokenFile {
    /// The token of this file, or the one that stands beside it in the configuration.
    pub fn new(path: PathBuf, instead: Option<String>) -> Self {
        TokenFile { path, instead, reread: Reread::default() }
    }

    /// The token for a request that is sent now. One that was read before stays where the file cannot be read
    /// any more: some programs remove the file once it was read.
    ///
    /// # Errors
    /// Where there never was a token.
    pub fn credential(&self) -> Result<Arc<Credential>, Error> {
        let instead = |error| self.instead.as_ref().map_or(Err(error), |token| self.proof(token));
        self.reread.credential(|| self.read(), instead)
    }

    /// The next request reads the file.
    pub fn refused(&self) {
        self.reread.refused();
    }

    fn read(&self) -> Result<Proof, Error> {
        let text = fs::read_to_string(&self.path)
            .map_err(|error| Error::Read { path: self.path.clone(), why: error.to_string() })?;
        match text.trim() {
            "" => Err(Error::EmptyToken(self.path.clone())),
            token => self.proof(token),
        }
    }

    fn proof(&self, token: &str) -> Result<Proof, Error> {
        Proof::bearer(token).ok_or_else(|| Error::Token(format!("the file {}", self.path.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::TokenFile;
    use crate::credential::Proof;

    #[test]
    fn the_file_is_read_again_after_a_401_and_may_go_away() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let file = TokenFile::new(path.clone(), None);
        let error = file.credential().unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot read {}: ", path.display())), "{error}");
        std::fs::write(&path, " \n").unwrap();
        assert!(file.credential().unwrap_err().to_string().ends_with("token is empty"));

        let token = |file: &TokenFile| file.credential().unwrap();
        std::fs::write(&path, "one\n").unwrap();
        assert!(token(&file).proof == Proof::bearer("one").unwrap());
        let first = token(&file).serial;
        std::fs::write(&path, "two").unwrap();
        assert_eq!(token(&file).serial, first);
        file.refused();
        assert!(token(&file).proof == Proof::bearer("two").unwrap());
        // The same again is no other credential.
        let second = token(&file).serial;
        file.refused();
        assert_eq!(token(&file).serial, second);
        std::fs::remove_file(&path).unwrap();
        file.refused();
        assert_eq!(token(&file).serial, second);
    }

    #[test]
    fn the_token_beside_it_counts_until_there_is_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let file = TokenFile::new(path.clone(), Some("beside".to_owned()));
        assert!(file.credential().unwrap().proof == Proof::bearer("beside").unwrap());
        std::fs::write(&path, "file").unwrap();
        file.refused();
        assert!(file.credential().unwrap().proof == Proof::bearer("file").unwrap());
    }
}
