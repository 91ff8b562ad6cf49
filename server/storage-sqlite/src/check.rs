//! The check of a database, whether a server uses it or not.

use std::path::Path;

use orch_storage::StoreError;
use orch_storage::check::{Report, Summary};
use orch_storage::store::Record;

use crate::evidence::{Evidence, Found};
use crate::log::LogReader;

/// Checks a database that no server needs to be running on: the file itself, the checksum of every row, the
/// order of the log, and whether everything is there that was acknowledged. Changes nothing.
pub async fn check(path: &Path) -> Result<Report, StoreError> {
    let evidence = Evidence::gather(path)?;
    let mut reader = LogReader::open(path).await?;
    let integrity = reader.integrity(path).await?;
    let mut summary = Summary::default();
    let (mut rows, mut time) = (0, None);
    let mut take = |record: Record| {
        (rows, time) = (rows + 1, Some(record.time));
        summary.add(&record);
    };
    let (meta, newest) = reader.read(path, &mut take).await?;
    let mut report = summary.finish(newest);
    for finding in integrity.into_iter().chain(evidence.missing(&meta, Found { newest, rows, time })) {
        report.problem(|| finding);
    }
    Ok(report)
}
