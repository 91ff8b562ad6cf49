//! What priority and fairness holds, as text for people: `/debug/api_priority_and_fairness/...`.
//!
//! The columns are those of the reference, with its spelling. Requests that are answered at once, as most
//! reads are, are never listed: that would slow each of them down, and no dump would catch them.

use std::time::SystemTime;

use jiff::Timestamp;

use super::{Fairness, REFUSALS, TallyView};

/// The priority levels, and what they counted since the start.
pub fn priority_levels(fairness: &Fairness) -> String {
    let mut rows = vec![row(&[
        "PriorityLevelName",
        "ActiveQueues",
        "IsIdle",
        "IsQuiescing",
        "WaitingRequests",
        "ExecutingRequests",
        "DispatchedRequests",
        "RejectedRequests",
        "TimedoutRequests",
        "CancelledRequests",
    ])];
    for level in fairness.views() {
        let refused = |names: &[&str]| -> u64 {
            let is_one = |(name, _): &(&str, &u64)| names.contains(name);
            let of = |tally: &TallyView| -> u64 {
                REFUSALS.into_iter().zip(&tally.refused).filter(is_one).map(|(_, count)| count).sum()
            };
            level.tallies.iter().map(of).sum()
        };
        let dispatched: u64 = level.tallies.iter().map(|tally| tally.dispatched).sum();
        let is_idle = level.totals.running == 0 && level.totals.waiting == 0;
        rows.push(vec![
            level.name.clone(),
            level.queues.len().to_string(),
            is_idle.to_string(),
            level.is_quiescing.to_string(),
            level.totals.waiting.to_string(),
            level.totals.running.to_string(),
            dispatched.to_string(),
            refused(&["queue-full", "concurrency-limit"]).to_string(),
            refused(&["time-out"]).to_string(),
            refused(&["cancelled"]).to_string(),
        ]);
    }
    table(&rows)
}

/// The queues that have requests.
pub fn queues(fairness: &Fairness) -> String {
    let mut rows = vec![row(&[
        "PriorityLevelName",
        "Index",
        "PendingRequests",
        "ExecutingRequests",
        "SeatsInUse",
        "NextDispatchR",
        "InitialSeatsSum",
        "MaxSeatsSum",
        "TotalWorkSum",
    ])];
    for level in fairness.views() {
        rows.extend(level.queues.iter().map(|queue| {
            vec![
                level.name.clone(),
                queue.number.to_string(),
                queue.waiting.to_string(),
                queue.running.to_string(),
                queue.seats_in_use.to_string(),
                seat_seconds(queue.next_start),
                queue.seats_wanted.0.to_string(),
                queue.seats_wanted.1.to_string(),
                seat_seconds(queue.work),
            ]
        }));
    }
    table(&rows)
}

/// The start of a request that waits: the time that Go calls zero.
const NOT_STARTED: &str = "0001-01-01T00:00:00Z";
/// The number of a queue or place that a request does not have.
const NONE: &str = "-1";

/// The requests that run, which have no place in a queue, and those that wait. `with_details` says what they
/// ask for.
pub fn requests(fairness: &Fairness, now: SystemTime, with_details: bool) -> String {
    let mut head = row(&[
        "PriorityLevelName",
        "FlowSchemaName",
        "QueueIndex",
        "RequestIndexInQueue",
        "FlowDistingsher",
        "ArriveTime",
        "InitialSeats",
        "FinalSeats",
        "AdditionalLatency",
        "StartTime",
    ]);
    if with_details {
        let details =
            ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];
        head.extend(row(&details));
    }
    let mut rows = vec![head];
    let time = |ago| format!("{:.9}", Timestamp::try_from(now - ago).unwrap_or_default());
    let number = |number: Option<String>| number.unwrap_or_else(|| NONE.to_owned());
    for request in fairness.requests() {
        let latency = match request.width.linger {
            0 => "0s".to_owned(),
            nanos => format!("{}ms", nanos / 1_000_000),
        };
        let mut about = request.about.fields().map(str::to_owned);
        let mut cells = vec![
            request.level,
            request.schema,
            number(request.queue.map(|queue| queue.to_string())),
            number(request.place.map(|place| place.to_string())),
            about.next().unwrap_or_default(),
            time(request.arrived),
            request.width.first.to_string(),
            request.width.last.to_string(),
            latency,
            request.began.map_or_else(|| NOT_STARTED.to_owned(), time),
        ];
        if with_details {
            cells.extend(about);
        }
        rows.push(cells);
    }
    table(&rows)
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn seat_seconds(work: f64) -> String {
    format!("{work:.8}ss")
}

/// Cells with commas between them, so wide that they stand below each other.
fn table(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            text.push_str(cell);
            if column + 1 < row.len() {
                text.push(',');
                text.extend(std::iter::repeat_n(' ', widths[column] - cell.len() + 1));
            }
        }
        text.push('\n');
    }
    text
}
