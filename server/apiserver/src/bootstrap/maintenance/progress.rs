//! What an operator sees while a long task goes on: on a terminal a line that changes, elsewhere nothing.

use std::{
    io::{self, IsTerminal, Write},
    pin::pin,
    time::Duration,
};

use tokio::time::{Instant, interval};

/// How often the line changes.
const PERIOD: Duration = Duration::from_millis(500);

/// Runs a task, and says on a terminal what goes on and for how long.
pub async fn during<T>(what: &str, task: impl Future<Output = T>) -> T {
    if io::stderr().is_terminal() { shown(what, task, &mut io::stderr()).await } else { task.await }
}

async fn shown<T>(what: &str, task: impl Future<Output = T>, terminal: &mut impl Write) -> T {
    let (began, mut ticks, mut task) = (Instant::now(), interval(PERIOD), pin!(task));
    // The first comes at once, and most tasks are done before there is anything to say.
    ticks.tick().await;
    let mut is_shown = false;
    let done = loop {
        tokio::select! {
            done = task.as_mut() => break done,
            _ = ticks.tick() => {
                // A terminal that is gone is no reason to end.
                let _ = write!(terminal, "\r{what}: {} s ", began.elapsed().as_secs());
                let _ = terminal.flush();
                is_shown = true;
            }
        }
    };
    if is_shown {
        let _ = write!(terminal, "\r\x1b[K");
        let _ = terminal.flush();
    }
    done
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_what_takes_a_while_is_shown() {
        for (milliseconds, expected) in
            [(0, ""), (400, ""), (1200, "\rcopying: 0 s \rcopying: 1 s \r\u{1b}[K")]
        {
            let mut terminal = Vec::new();
            shown("copying", sleep(Duration::from_millis(milliseconds)), &mut terminal).await;
            assert_eq!(String::from_utf8(terminal).unwrap(), expected);
        }
    }
}
