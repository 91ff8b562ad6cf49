//! `orch-codegen lsp`: schema files in an editor, by the language server protocol over stdin and stdout.
//!
//! What is wrong is told while a file is typed, with the codes of `check`; keywords, references and
//! expressions are completed; keywords and types are explained; `$ref` leads to its type. A file belongs to
//! the schema folder three levels above it, whose files are all checked together; text that is not saved yet
//! counts instead of what is on disk.
//!
//! `wire` reads and writes messages, `session` answers them, `cursor` finds out what stands at a position,
//! `keywords` knows the language from its JSON schema, `expressions` what an expression can use.

mod cursor;
mod expressions;
mod keywords;
mod position;
mod session;
mod wire;

use std::{
    io::{self, BufReader},
    process::ExitCode,
    sync::mpsc::{Receiver, TryRecvError, sync_channel},
    thread,
};

use self::{
    session::{Ending, Session},
    wire::Incoming,
};
use crate::Folder;

/// How many messages wait until the ones before are answered. Each can have a few megabytes.
const WAITING: usize = 4;

/// Answers an editor until it says `exit`, or is gone. The exit code is 0 where it said `shutdown` before.
///
/// # Errors
/// Where nothing can be written to stdout.
pub fn serve(imports: &[(String, Folder)]) -> io::Result<ExitCode> {
    let (sender, messages) = sync_channel(WAITING);
    // It ends with the process: nobody can wake it from a read.
    thread::spawn(move || {
        let mut input = BufReader::new(io::stdin());
        while let Ok(incoming) = wire::read(&mut input) {
            let is_end = matches!(incoming, Incoming::End);
            if sender.send(incoming).is_err() || is_end {
                break;
            }
        }
    });
    answer(&messages, Session::new(imports.to_vec()))
}

fn answer(messages: &Receiver<Incoming>, mut session: Session) -> io::Result<ExitCode> {
    let mut output = io::stdout();
    loop {
        // Files are checked when no message waits: one who types does not wait for what is outdated.
        let next = match messages.try_recv() {
            Err(TryRecvError::Empty) => {
                for message in session.check() {
                    wire::write(&mut output, &message)?;
                }
                messages.recv().ok()
            }
            other => other.ok(),
        };
        let answer = match next {
            None | Some(Incoming::End) => return Ok(ExitCode::FAILURE),
            Some(Incoming::Malformed(why)) => {
                Some(wire::failure(&serde_json::Value::Null, wire::PARSE_ERROR, &why))
            }
            Some(Incoming::Message(message)) => match session.handle(&message) {
                Ok(answer) => answer,
                Err(Ending { in_order }) => {
                    return Ok(if in_order { ExitCode::SUCCESS } else { ExitCode::FAILURE });
                }
            },
        };
        if let Some(answer) = answer {
            wire::write(&mut output, &answer)?;
        }
    }
}
