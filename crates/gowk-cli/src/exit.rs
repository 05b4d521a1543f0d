//! How the program ends: 0 if something was found or done, 1 if nothing was found, 2 if something went wrong.

use crate::progress::INTERRUPTED;
use gowk_jobs::input::InputError;
use std::{io, process::ExitCode};

/// What a command has to say besides its output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Something,
    Nothing,
}

impl Found {
    pub(crate) fn if_any(count: u64) -> Self {
        if count > 0 { Self::Something } else { Self::Nothing }
    }
}

pub(crate) fn from(result: anyhow::Result<Found>) -> ExitCode {
    match result {
        Ok(Found::Something) => ExitCode::SUCCESS,
        Ok(Found::Nothing) => ExitCode::from(1),
        // Whoever reads our output has read enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if matches!(error.downcast_ref(), Some(InputError::Cancelled)) => {
            ExitCode::from(INTERRUPTED)
        }
        Err(error) => {
            eprintln!("gowk: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io_error =
        |cause: &(dyn std::error::Error + 'static)| cause.downcast_ref::<io::Error>().map(io::Error::kind);
    error.chain().any(|cause| io_error(cause) == Some(io::ErrorKind::BrokenPipe))
}
