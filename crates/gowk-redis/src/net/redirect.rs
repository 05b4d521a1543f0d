//! What an answer means for its request: done, refused, elsewhere, or later. Pure.

use super::How;
use crate::error::Error;
use redis::{ErrorKind, RedisError, ServerError, ServerErrorKind, Value};
use std::{io, time::Duration};

/// What becomes of a request.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It was carried out.
    Answer(Value),
    /// It will not be.
    Failed(Error),
    /// Another node has the slot for good.
    Moved { slot: u16, node: String },
    /// Another node has this key, while the slot moves.
    Ask { node: String },
    /// Nobody can at the moment.
    Again(RedisError),
}

/// What becomes of the requests of a pipeline: of what came back, or of its failure.
pub(super) fn judge(result: Result<Vec<Value>, RedisError>, requests: usize, how: How) -> Vec<Verdict> {
    let mut values = match result {
        Ok(values) => values,
        Err(error) => return (0..requests).map(|_| broken(error.clone(), how)).collect(),
    };
    let confirmed = how.wait.and_then(|wait| {
        let confirmed = match values.pop() {
            Some(Value::Int(confirmed)) => usize::try_from(confirmed).unwrap_or(0),
            _ => 0,
        };
        (confirmed < wait.replicas).then_some(Error::Unreplicated { asked: wait.replicas, confirmed })
    });
    values.resize(requests, Value::Nil);
    let judged = values.into_iter().map(|value| match value {
        Value::ServerError(error) => refused(&error),
        value => confirmed.clone().map_or(Verdict::Answer(value), Verdict::Failed),
    });
    judged.collect()
}

/// The connection failed; nobody knows how far the server has come.
fn broken(error: RedisError, how: How) -> Verdict {
    match error.kind() {
        // These fail again.
        ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig => {
            Verdict::Failed(Error::Server(error))
        }
        // Nothing was sent.
        _ if error.is_connection_refusal() => Verdict::Again(error),
        _ if how.once => Verdict::Failed(Error::Unclear { source: error }),
        _ => Verdict::Again(error),
    }
}

fn refused(error: &ServerError) -> Verdict {
    let full: RedisError = error.clone().into();
    match error.kind() {
        Some(ServerErrorKind::Moved) => match full.redirect_node() {
            Some((node, slot)) => Verdict::Moved { slot, node: node.to_owned() },
            None => Verdict::Again(full),
        },
        Some(ServerErrorKind::Ask) => match full.redirect_node() {
            Some((node, _)) => Verdict::Ask { node: node.to_owned() },
            None => Verdict::Again(full),
        },
        Some(
            ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::BusyLoading
            | ServerErrorKind::ReadOnly,
        ) => Verdict::Again(full),
        _ => Verdict::Failed(match error.code() {
            "OOM" => Error::Full { said: error.details().unwrap_or_default().to_owned() },
            _ => Error::Server(full),
        }),
    }
}

/// The error of a request that was tried for as long as patience lasted.
pub(super) fn give_up(node: &str, tried: Duration, source: &RedisError) -> Error {
    Error::NoServer { node: node.to_owned(), tried, source: source.clone() }
}

/// Sent from node to node without end.
pub(super) fn endless() -> RedisError {
    io::Error::other("the nodes send each other's keys to and fro").into()
}
