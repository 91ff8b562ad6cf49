//! Many rows in one statement.

use std::fmt::Write as _;
use std::sync::Arc;

use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments};
use sqlx::{AssertSqlSafe, SqliteConnection};

use super::row;
use crate::memory::Change;

/// The most rows of one statement. There is a statement, and a place in the cache of prepared ones, for each number
/// up to it; a larger batch is several statements in a transaction.
pub(super) const ROWS: usize = 32;

/// The texts of the insert statements.
pub(super) struct Inserts([Arc<str>; ROWS]);

impl Inserts {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|index| text(index + 1)))
    }

    /// Inserts `changes` as one transaction. If it fails, one may be left open.
    pub(super) async fn insert(
        &self,
        connection: &mut SqliteConnection,
        changes: &[Change],
    ) -> Result<(), sqlx::Error> {
        if changes.len() <= ROWS {
            // A statement by itself is a transaction.
            self.rows(changes).execute(connection).await?;
            return Ok(());
        }
        sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
        for part in changes.chunks(ROWS) {
            self.rows(part).execute(&mut *connection).await?;
        }
        sqlx::query("COMMIT").execute(connection).await?;
        Ok(())
    }

    fn rows<'q>(&self, changes: &'q [Change]) -> Query<'q, Sqlite, SqliteArguments> {
        let text = Arc::clone(&self.0[changes.len() - 1]);
        let query = sqlx::query(AssertSqlSafe(text));
        changes.iter().fold(query, |query, change| {
            let object = change.event.object();
            let key = object.key();
            let value = object.value().expect("the value of a new object was not read from anywhere");
            let op = row::op_number(change.op);
            let time = change.event.time().0 as i64;
            let checksum = row::checksum(object.revision(), key, op, time, value);
            query
                .bind(object.revision().get() as i64)
                .bind(key.resource.shared())
                .bind(Arc::clone(&key.namespace))
                .bind(Arc::clone(&key.name))
                .bind(op)
                .bind(time)
                .bind(checksum)
                .bind(&value[..])
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
