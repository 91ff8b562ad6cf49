//! The limit of writes: the same bytes into a table of the same columns, in transactions of as many rows as there are
//! clients, with the same durability, and nothing else.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use sqlx::{
    Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

/// An open table.
pub struct Inserts {
    connection: SqliteConnection,
    statement: String,
    value: Vec<u8>,
    rows: usize,
    next: i64,
}

impl Inserts {
    /// A table for values like this one, which takes this many rows at a time.
    pub async fn open(directory: &Path, value: &[u8], rows: usize) -> Self {
        let options = SqliteConnectOptions::new()
            .filename(directory.join("raw.db"))
            .create_if_missing(true)
            .page_size(8192)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        let mut connection =
            SqliteConnection::connect_with(&options).await.expect("the database can be opened");
        sqlx::query(
            "CREATE TABLE log (revision INTEGER PRIMARY KEY, resource TEXT NOT NULL, namespace TEXT NOT NULL, \
             name TEXT NOT NULL, op INTEGER NOT NULL, time INTEGER NOT NULL, checksum INTEGER NOT NULL, \
             value BLOB NOT NULL) STRICT",
        )
        .execute(&mut connection)
        .await
        .expect("the table can be made");
        let places = vec!["(?, ?, ?, ?, ?, ?, ?, ?)"; rows].join(", ");
        let statement = format!("INSERT INTO log VALUES {places}");
        Inserts { connection, statement, value: value.to_owned(), rows, next: 1 }
    }

    /// Rows per second over some time.
    pub async fn run(&mut self, time: Duration) -> f64 {
        let (began, first) = (Instant::now(), self.next);
        while began.elapsed() < time {
            let mut query = sqlx::query(sqlx::AssertSqlSafe(self.statement.as_str()));
            for _ in 0..self.rows {
                query = query
                    .bind(self.next)
                    .bind("configmaps")
                    .bind("bench")
                    .bind(format!("object-{:07}", self.next))
                    .bind(1)
                    .bind(self.next)
                    .bind(self.next)
                    .bind(self.value.clone());
                self.next += 1;
            }
            query.execute(&mut self.connection).await.expect("the rows can be inserted");
        }
        (self.next - first) as f64 / began.elapsed().as_secs_f64()
    }
}
