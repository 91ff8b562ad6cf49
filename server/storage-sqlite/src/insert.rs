//! Many rows in one statement.

use std::fmt::Write as _;
use std::sync::Arc;

use orch_storage::engine::Accepted;
use orch_storage::{Sealed, Sealing};
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::row;

/// The most rows of one statement. There is a statement, and an entry in the cache of prepared ones, for each
/// number up to it; a larger batch is several statements in a transaction.
pub(crate) const ROWS: usize = 32;

/// The texts of the insert statements.
pub(crate) struct Inserts {
    texts: [Arc<str>; ROWS],
    sealing: Option<Arc<dyn Sealing>>,
}

impl Inserts {
    /// Values are sealed by `sealing`, where there is one.
    pub(crate) fn new(sealing: Option<Arc<dyn Sealing>>) -> Self {
        Self { texts: std::array::from_fn(|index| text(index + 1)), sealing }
    }

    /// Inserts `writes` as one transaction. If it fails, one may be left open.
    pub(crate) async fn insert(
        &self,
        connection: &mut SqliteConnection,
        writes: &[Accepted],
    ) -> Result<(), sqlx::Error> {
        if writes.len() <= ROWS {
            // A statement by itself is a transaction.
            self.rows(writes)?.execute(connection).await?;
            return Ok(());
        }
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        for part in writes.chunks(ROWS) {
            self.rows(part)?.execute(&mut *connection).await?;
        }
        sqlx::query("COMMIT").execute(connection).await?;
        Ok(())
    }

    fn rows<'q>(&self, writes: &'q [Accepted]) -> Result<Query<'q, Sqlite, SqliteArguments>, sqlx::Error> {
        let text = Arc::clone(&self.texts[writes.len() - 1]);
        let query = sqlx::query(AssertSqlSafe(text));
        writes.iter().try_fold(query, |query, Accepted { op, event }| {
            let object = event.object();
            let key = object.key();
            let value = object.value().expect("the value of a new object was not read from anywhere");
            let op = row::op_number(*op);
            let time = event.time().0 as i64;
            let sealed = match &self.sealing {
                Some(sealing) => {
                    sealing.seal(key, key, value).map_err(|error| sqlx::Error::Encode(error.into()))?
                }
                None => None,
            };
            let kept = sealed.as_ref().map_or(&value[..], |sealed| &sealed.bytes);
            let checksum = row::checksum(object.revision(), key, op, time, kept);
            let query = query
                .bind(object.revision().get() as i64)
                .bind(key.resource.shared())
                .bind(Arc::clone(&key.namespace))
                .bind(Arc::clone(&key.name))
                .bind(op)
                .bind(time)
                .bind(checksum);
            Ok(match sealed {
                Some(Sealed { bytes, seal }) => {
                    object.kept_under(seal);
                    query.bind(bytes)
                }
                None => query.bind(&value[..]),
            })
        })
    }
}

fn text(rows: usize) -> Arc<str> {
    const ROW: &str = "(?, ?, ?, ?, ?, ?, ?, ?)";
    let mut text = format!("INSERT INTO log VALUES {ROW}");
    for _ in 1..rows {
        write!(text, ", {ROW}").expect("a string takes any text");
    }
    text.into()
}
