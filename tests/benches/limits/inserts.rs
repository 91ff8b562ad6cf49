//! The limit of writes: the same bytes into a table of the same columns, in transactions of as many rows as
//! there are clients, with the same durability, and nothing else.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use sqlx::{
    AssertSqlSafe, Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tokio::sync::{mpsc, oneshot};

/// An open table.
pub struct Inserts {
    connection: SqliteConnection,
    /// The statement for each number of rows, from one.
    statements: Vec<String>,
    next: i64,
}

/// A value that is to be stored, and who wants to know that it is.
pub type Waiting = (Bytes, oneshot::Sender<()>);

impl Inserts {
    /// A table that takes up to this many rows at a time.
    pub async fn open(directory: &Path, rows: usize) -> Self {
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
        let places = |rows| vec!["(?, ?, ?, ?, ?, ?, ?, ?)"; rows].join(", ");
        let statements = (1..=rows).map(|rows| format!("INSERT INTO log VALUES {}", places(rows))).collect();
        Inserts { connection, statements, next: 1 }
    }

    /// Rows per second over some time, in transactions of as many as fit, all of this value.
    pub async fn run(&mut self, value: &Bytes, time: Duration) -> f64 {
        let values = vec![value.clone(); self.statements.len()];
        let (began, first) = (Instant::now(), self.next);
        while began.elapsed() < time {
            self.insert(&values).await;
        }
        (self.next - first) as f64 / began.elapsed().as_secs_f64()
    }

    /// Stores what comes, as many at a time as are there, and says so to those who wait.
    pub async fn serve(mut self, mut queue: mpsc::Receiver<Waiting>) {
        let mut waiting: Vec<Waiting> = Vec::new();
        while queue.recv_many(&mut waiting, self.statements.len()).await > 0 {
            let values: Vec<Bytes> = waiting.iter().map(|(value, _)| value.clone()).collect();
            self.insert(&values).await;
            for (_, stored) in waiting.drain(..) {
                // A client that has left does not want to know.
                let _ = stored.send(());
            }
        }
    }

    async fn insert(&mut self, values: &[Bytes]) {
        let statement = self.statements[values.len() - 1].as_str();
        let mut query = sqlx::query(AssertSqlSafe(statement));
        for value in values {
            query = query
                .bind(self.next)
                .bind("configmaps")
                .bind("bench")
                .bind(format!("object-{:07}", self.next))
                .bind(1)
                .bind(self.next)
                .bind(self.next)
                .bind(&value[..]);
            self.next += 1;
        }
        query.execute(&mut self.connection).await.expect("the rows can be inserted");
    }
}
