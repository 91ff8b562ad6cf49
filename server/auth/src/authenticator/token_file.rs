//! Static tokens: a CSV file of `token,user,uid[,"group1,group2"]`.
//!
//! Tokens are stored and looked up as SHA-256 digests. So memory holds no token, and the time of a look-up
//! does not show how much of a guess was right.

use std::{collections::HashMap, path::Path};

use aws_lc_rs::digest;

use crate::{
    answer::Answer,
    authenticator::{Authenticated, Authenticator, Credentials},
    error::AuthError,
    user::UserInfo,
};

mod csv;

type Digest = [u8; digest::SHA256_OUTPUT_LEN];

/// Accepts the tokens in a file.
pub struct TokenFileAuthenticator {
    users: HashMap<Digest, Authenticated>,
}

impl TokenFileAuthenticator {
    /// Reads the whole file, once. If a token is in two lines, the last one counts and a warning is logged.
    pub fn from_file(file: &Path) -> Result<Self, AuthError> {
        let text = orch_settings::read_text(file)
            .map_err(|source| AuthError::Read { path: file.to_owned(), source })?;
        let mut users = HashMap::new();
        for (line, entry) in parse(&text).map_err(|(line, problem)| AuthError::TokenFile {
            path: file.to_owned(),
            line,
            problem,
        })? {
            let Entry { token, user } = entry;
            if users.insert(token, Authenticated::new(user, "token-file")).is_some() {
                tracing::warn!(file = %file.display(), line, "a token is in two lines; the last one counts");
            }
        }
        Ok(Self { users })
    }
}

impl Authenticator for TokenFileAuthenticator {
    fn authenticate<'a>(
        &'a self,
        credentials: &'a Credentials<'a>,
    ) -> Answer<'a, Result<Option<Authenticated>, AuthError>> {
        let user = credentials.token().and_then(|token| self.users.get(&digest_of(token.secret())));
        Answer::Ready(Ok(user.cloned()))
    }
}

struct Entry {
    token: Digest,
    user: UserInfo,
}

/// The entries with their line numbers, or the first invalid line and its problem.
fn parse(text: &str) -> Result<Vec<(usize, Entry)>, (usize, String)> {
    csv::records(text)
        .map(|record| {
            let (line, fields) = record.map_err(|(line, problem)| (line, problem.to_owned()))?;
            let entry = entry(&fields).map_err(|problem| (line, problem))?;
            Ok((line, entry))
        })
        .collect()
}

fn entry(fields: &[String]) -> Result<Entry, String> {
    let (token, name, uid, groups) = match fields {
        [token, name, uid] => (token, name, uid, ""),
        [token, name, uid, groups, ..] => (token, name, uid, groups.as_str()),
        _ => return Err(format!("needs at least 3 columns (token,user,uid), has {}", fields.len())),
    };
    for (column, value) in [("token", token), ("user", name)] {
        if value.is_empty() {
            return Err(format!("the {column} is empty"));
        }
    }
    let groups = groups.split(',').filter(|group| !group.is_empty());
    let mut user = UserInfo::new(name, groups);
    user.uid.clone_from(uid);
    Ok(Entry { token: digest_of(token.as_bytes()), user })
}

fn digest_of(token: &[u8]) -> Digest {
    let digest = digest::digest(&digest::SHA256, token);
    digest.as_ref().try_into().expect("a SHA-256 digest has 32 bytes")
}

#[cfg(test)]
mod tests {
    use std::{io::Write, time::SystemTime};

    use super::TokenFileAuthenticator;
    use crate::{
        answer::Answer,
        authenticator::{Authenticated, Authenticator, Credentials, certificate::PeerCertificates},
        error::AuthError,
    };

    fn load(text: &str) -> Result<TokenFileAuthenticator, AuthError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        TokenFileAuthenticator::from_file(file.path())
    }

    fn ask(authenticator: &TokenFileAuthenticator, header: &str) -> Option<Authenticated> {
        let peer = PeerCertificates::default();
        let credentials = Credentials::new(&peer, Some(header.as_bytes()), SystemTime::UNIX_EPOCH);
        match authenticator.authenticate(&credentials) {
            Answer::Ready(answer) => answer.unwrap(),
            Answer::Later(_) => panic!("a file is in memory"),
        }
    }

    #[test]
    fn tokens_lead_to_their_users() {
        let file =
            load("tok-a,alice,1\ntok-b,bob,2,\"devs,ops\"\r\n\ntok-c,carol,,devs,more,columns\n").unwrap();
        for (header, name, uid, groups) in [
            ("Bearer tok-a", "alice", "1", vec!["system:authenticated"]),
            ("bearer tok-b", "bob", "2", vec!["devs", "ops", "system:authenticated"]),
            ("Bearer tok-c", "carol", "", vec!["devs", "system:authenticated"]),
        ] {
            let found = ask(&file, header).unwrap();
            assert_eq!(
                (found.user().name.as_str(), found.user().uid.as_str(), &found.user().groups),
                (name, uid, &groups.iter().map(ToString::to_string).collect()),
            );
            assert_eq!(found.method(), "token-file");
        }
        for header in ["Bearer tok-d", "Bearer tok", "Bearer tok-aa", "Basic tok-a", "Bearer"] {
            assert!(ask(&file, header).is_none(), "{header}");
        }
    }

    #[test]
    fn the_last_of_two_lines_with_the_same_token_counts() {
        let file = load("tok,first,1\ntok,second,2\n").unwrap();
        assert_eq!(ask(&file, "Bearer tok").unwrap().user().name, "second");
    }

    #[test]
    fn a_bad_line_is_named_and_not_shown() {
        for (text, line, problem) in [
            ("s3cret-1,alice\n", 1, "needs at least 3 columns (token,user,uid), has 2"),
            ("tok,alice,1\n\n,bob,2,s3cret-1\n", 3, "the token is empty"),
            ("s3cret-1,,1\n", 1, "the user is empty"),
            ("tok,alice,1\ns3cret-1,\"bob,2\n", 2, "a quoted field does not end"),
            ("s3cret-1,bo\"b,2\n", 1, "a quote stands inside a field that is not quoted"),
        ] {
            let error = load(text).err().expect(text);
            let shown = format!("{error} {error:?}");
            assert!(error.to_string().ends_with(&format!(":{line}: {problem}")), "{error}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = TokenFileAuthenticator::from_file("no/such/tokens.csv".as_ref()).err().unwrap();
        assert_eq!(error.to_string(), "cannot read no/such/tokens.csv");
        assert!(!error.is_credential());
    }
}
