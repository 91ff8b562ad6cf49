//! What can go wrong before a request is sent. No text here holds a credential: of what a plugin or a file
//! says, only places and names of fields are repeated.

use std::path::PathBuf;

/// Why there is no client, or no credential.
///
/// All who wait for one run of a plugin are told the same, so it can be copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {why}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A kubeconfig file is not understood.
    #[error("{} is no kubeconfig file: something is wrong {at}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where, in words.
        at: String,
    },
    /// The files are understood, and cannot be used.
    #[error("the kubeconfig files cannot be used: {0}")]
    Kubeconfig(String),
    /// There are no files, and the program does not run inside of a cluster.
    #[error("there is no client configuration: no kubeconfig file, and no service account of a pod ({0})")]
    Missing(String),
    /// A file that is to hold a token is empty.
    #[error("the token file {} is empty", .0.display())]
    EmptyToken(PathBuf),
    /// A token cannot be sent.
    #[error("the token of {0} has characters that a header cannot have")]
    Token(String),
    /// A plugin gave no credential.
    #[error("credential plugin {name:?}: {fault}")]
    Plugin {
        /// The command, as it is configured.
        name: String,
        /// What went wrong.
        fault: PluginFault,
    },
}

/// What can go wrong with a plugin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginFault {
    /// Its entry in the kubeconfig file is wrong.
    #[error("its configuration is wrong: {0}")]
    Configuration(String),
    /// Its program is not there.
    #[error("the program is not found{}{}", if .hint.is_empty() { "" } else { "\n" }, hint)]
    NotFound {
        /// `installHint` of its configuration.
        hint: String,
    },
    /// Its program does not start, or cannot be waited for.
    #[error("it cannot be run: {0}")]
    NotRun(String),
    /// It has to ask somebody, and nobody is there.
    #[error("its interactiveMode is Always, and standard input is no terminal")]
    NoTerminal,
    /// It ended with an error.
    #[error("it failed ({0})")]
    Failed(String),
    /// The runtime of the program ended while the plugin ran.
    #[error("it was stopped before it ended")]
    Stopped,
    /// It printed more than a credential.
    #[error("it printed more than {0} bytes")]
    TooLong(usize),
    /// What it printed is not understood.
    #[error("it printed no ExecCredential: something is wrong {0}")]
    Output(String),
    /// It answered in another version.
    #[error("its apiVersion is configured as {wanted:?}, but it answered in {got:?}")]
    Version {
        /// As configured.
        wanted: String,
        /// As answered.
        got: String,
    },
    /// The answer has no `status`.
    #[error("its answer has no status")]
    NoStatus,
    /// Neither a token nor a certificate.
    #[error("its answer has neither status.token nor status.clientCertificateData and clientKeyData")]
    Neither,
    /// A token and a certificate.
    #[error("its answer has both status.token and a client certificate or key: it must be one of them")]
    Both,
    /// A certificate without its key, or the other way round.
    #[error("its answer has only one of status.clientCertificateData and status.clientKeyData")]
    HalfOfPair,
    /// The time is no time.
    #[error("status.expirationTimestamp of its answer is no RFC 3339 time")]
    Expiration,
    /// The token is not one that can be sent.
    #[error("status.token of its answer has characters that a header cannot have")]
    Token,
    /// No certificate in the certificate.
    #[error("status.clientCertificateData of its answer is no certificate in PEM")]
    Certificate,
    /// No key in the key.
    #[error("status.clientKeyData of its answer is no private key in PEM")]
    Key,
    /// They are not of one pair.
    #[error("the certificate and the key of its answer cannot be used together")]
    Pair,
}

impl Error {
    /// The fault of a plugin.
    pub(crate) fn plugin(name: &str, fault: PluginFault) -> Self {
        Error::Plugin { name: name.to_owned(), fault }
    }
}
