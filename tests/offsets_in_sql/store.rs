//! The counts, and the offsets that they go up to.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Result, TransactionBehavior, params};

pub(crate) struct Store(Connection);

/// A page view.
pub(crate) struct View {
    pub(crate) offset: i64,
    pub(crate) user: String,
    /// Days since 1970.
    pub(crate) day: i64,
}

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS counts (
        user TEXT, day INTEGER, views INTEGER NOT NULL, PRIMARY KEY (user, day)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS offsets (
        topic TEXT, partition INTEGER, next INTEGER NOT NULL, PRIMARY KEY (topic, partition)
    ) WITHOUT ROWID;";
const NEXT: &str = "SELECT next FROM offsets WHERE topic = ?1 AND partition = ?2";
const COUNT: &str =
    "INSERT INTO counts VALUES (?1, ?2, 1) ON CONFLICT DO UPDATE SET views = views + 1";
const MOVE: &str =
    "INSERT INTO offsets VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET next = excluded.next";

impl Store {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        // Others of the group write to it as well.
        connection.busy_timeout(Duration::from_secs(30))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.execute_batch(TABLES)?;
        Ok(Self(connection))
    }

    /// The first offset of a partition that is not counted.
    pub(crate) fn next(&self, topic: &str, partition: i32) -> Result<i64> {
        let next = self
            .0
            .query_row(NEXT, params![topic, partition], |row| row.get(0));
        Ok(next.optional()?.unwrap_or(0))
    }

    /// Counts views that end before the offset `next`, in one transaction with it.
    ///
    /// Those that are counted already are passed over. So a member that has lost its partition without knowing it does no
    /// harm: it and its heir may both come with a view, and the database takes it once.
    pub(crate) fn count(
        &mut self,
        topic: &str,
        partition: i32,
        views: &[View],
        next: i64,
    ) -> Result<()> {
        // Nobody else comes between the look at the offset and the counts.
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.0.transaction_with_behavior(behavior)?;
        let counted = transaction
            .query_row(NEXT, params![topic, partition], |row| row.get(0))
            .optional()?
            .unwrap_or(0);
        for view in views.iter().filter(|view| view.offset >= counted) {
            transaction
                .prepare_cached(COUNT)?
                .execute(params![view.user, view.day])?;
        }
        if next > counted {
            transaction.execute(MOVE, params![topic, partition, next])?;
        }
        transaction.commit()
    }
}
