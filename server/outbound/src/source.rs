//! Where the target of a client comes from: it is given once, or read from a kubeconfig file and read again
//! when that file or a certificate that it names has changed.

use std::{
    error::Error as _,
    iter,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use orch_settings::followed_files::FollowedFiles;
use tokio::task;

use crate::{error::OutboundError, kubeconfig, target::Target};

/// How often it is looked whether a file has changed.
const LOOK_PERIOD: Duration = Duration::from_secs(1);

/// How long a call waits for that.
const PATIENCE: Duration = Duration::from_secs(1);

/// See the module.
pub(crate) struct Source {
    now: Arc<Mutex<Now>>,
    /// The kubeconfig file; none where the target stays as it is.
    path: Option<PathBuf>,
}

struct Now {
    target: Arc<Target>,
    /// The kubeconfig file, and what was read besides it; none while they are looked at.
    files: Option<FollowedFiles>,
    looked: Instant,
}

impl Source {
    /// A target that does not change, unless its token is in a file.
    pub(crate) fn fixed(target: Target) -> Self {
        Source::new(target, FollowedFiles::default(), None)
    }

    /// The target of a kubeconfig file, which must be right now.
    pub(crate) fn followed(path: &Path) -> Result<Self, OutboundError> {
        let (target, files) = read(path, vec![path.to_owned()])?;
        Ok(Source::new(target, files, Some(path.to_owned())))
    }

    fn new(target: Target, files: FollowedFiles, path: Option<PathBuf>) -> Self {
        let now = Now { target: Arc::new(target), files: Some(files), looked: Instant::now() };
        Source { now: Arc::new(Mutex::new(now)), path }
    }

    /// The target as the files say now. Where they are wrong it stays as it was, as it does while they are
    /// read: a file system may hang, and one call at most waits a while for it.
    pub(crate) async fn target(&self) -> Arc<Target> {
        if let Some(files) = self.due() {
            let (now, path) = (Arc::clone(&self.now), self.path.clone());
            let looked = task::spawn_blocking(move || look(&now, files, path.as_deref()));
            let _ = tokio::time::timeout(PATIENCE, looked).await;
        }
        Arc::clone(&locked(&self.now).target)
    }

    /// The files, if they are to be looked at.
    fn due(&self) -> Option<FollowedFiles> {
        let mut now = locked(&self.now);
        let may_change = self.path.is_some() || now.target.credential.is_followed();
        if may_change && now.looked.elapsed() >= LOOK_PERIOD { now.files.take() } else { None }
    }
}

fn locked(now: &Mutex<Now>) -> MutexGuard<'_, Now> {
    now.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks at the files, and reads those that have changed.
fn look(now: &Mutex<Now>, mut files: FollowedFiles, path: Option<&Path>) {
    let looked = Instant::now();
    let mut target = Arc::clone(&locked(now).target);
    if let Some(path) = path
        && files.look()
        && let Some((read, files_read)) = read_again(path, &mut files)
    {
        (target, files) = (Arc::new(read), files_read);
    }
    target.credential.read_again(looked);
    *locked(now) = Now { target, files: Some(files), looked };
}

/// The target as it is now in the files; none where they are wrong, which they are told.
fn read_again(path: &Path, files: &mut FollowedFiles) -> Option<(Target, FollowedFiles)> {
    match read(path, files.paths().to_vec()) {
        Ok(read) => {
            tracing::info!(path = %path.display(), "how another server is called is read again");
            Some(read)
        }
        Err(error) => {
            let problem =
                error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"));
            if files.refused(&problem) {
                tracing::error!(path = %path.display(), problem, "another server is called as before");
            }
            None
        }
    }
}

/// The target, and the files that were read for it; which these are is `known` from before.
fn read(path: &Path, known: Vec<PathBuf>) -> Result<(Target, FollowedFiles), OutboundError> {
    FollowedFiles::read(known, || {
        let (target, named) = kubeconfig::read_with_files(path)?;
        Ok((target, iter::once(path.to_owned()).chain(named).collect()))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(config: &Path, host: &str, user: &str) {
        let text = format!(
            "contexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: 'http://{host}/'}}}}]\nusers: [{{name: u, user: {user}}}]\n"
        );
        fs::write(config, text).unwrap();
    }

    fn age(source: &Source) {
        locked(&source.now).looked -= LOOK_PERIOD;
    }

    #[tokio::test]
    async fn calls_do_not_wait_for_a_look_of_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        write(&config, "one.example", "{}");
        let source = Source::followed(&config).unwrap();
        write(&config, "another.example", "{}");
        age(&source);
        let taken = source.due().unwrap();
        assert_eq!(source.target().await.host, "one.example");
        look(&source.now, taken, Some(&config));
        assert_eq!(source.target().await.host, "another.example");
        write(&config, "one.example", "{}");
        age(&source);
        assert_eq!(source.target().await.host, "one.example");
    }

    #[tokio::test]
    async fn the_token_in_a_file_is_read_each_minute() {
        let folder = tempfile::tempdir().unwrap();
        let (config, token) = (folder.path().join("config"), folder.path().join("token"));
        write(&config, "one.example", "{tokenFile: token}");
        fs::write(&token, "one\n").unwrap();
        let target = kubeconfig::read(&config).unwrap();
        let shown = |target: &Target| target.credential.header().unwrap().to_str().unwrap().to_owned();
        let begin = Instant::now();
        fs::write(&token, "two\n").unwrap();
        target.credential.read_again(begin);
        assert_eq!(shown(&target), "Bearer one");
        let minute = Duration::from_mins(1);
        target.credential.read_again(begin + 2 * minute);
        assert_eq!(shown(&target), "Bearer two");
        for replace in ["rm token", "mkfifo token"] {
            let replaced =
                std::process::Command::new("sh").args(["-c", replace]).current_dir(&folder).status();
            assert!(replaced.unwrap().success());
            target.credential.read_again(begin + 4 * minute);
            assert_eq!(shown(&target), "Bearer two", "{replace}");
        }
        // A target that is given once has it too.
        let source = Source::fixed(target);
        age(&source);
        assert!(source.due().is_some());
    }
}
