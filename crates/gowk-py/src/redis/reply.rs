//! How a caller gets what comes of a future: by waiting, or by being told.

use crate::error::{OrRaise, Told};
use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{io, pin::Pin, sync::mpsc::RecvTimeoutError, thread, time::Duration};
use tokio::{
    runtime::Builder,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::{LocalSet, spawn_local},
};

/// How long Ctrl-C may have to wait.
const HEED: Duration = Duration::from_millis(100);

/// Makes a future where it will stay.
type Work = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// The thread that talks to the servers, for all calls at once. It ends when nobody is left to give it work. Cheap to clone.
#[derive(Clone)]
pub(super) struct Talk {
    work: UnboundedSender<Work>,
    process: u32,
}

impl Talk {
    pub(super) fn new() -> io::Result<Self> {
        let (work, orders) = unbounded_channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let talk = move || LocalSet::new().block_on(&runtime, carry_out(orders));
        thread::Builder::new().name("gowk-redis".into()).spawn(talk)?;
        Ok(Self { work, process: std::process::id() })
    }

    /// Waits for the future, or has `reply` called with what came of it and none, or none and the error.
    ///
    /// `tell` makes an object of Python of it. Whoever no longer waits, because of Ctrl-C, does not undo what was sent.
    pub(super) fn answer<F, T, E>(
        &self,
        py: Python<'_>,
        reply: Option<Py<PyAny>>,
        future: impl FnOnce() -> F + Send + 'static,
        tell: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> PyResult<Py<PyAny>>
    where
        F: Future<Output = Result<T, E>> + 'static,
        T: Send + 'static,
        E: Told + Send + 'static,
    {
        if std::process::id() != self.process {
            return Err(PyRuntimeError::new_err(
                "connected before the fork of this process, which has none of its threads; connect after it",
            ));
        }
        let Some(reply) = reply else {
            let (done, outcome) = std::sync::mpsc::sync_channel(1);
            self.order(async move || {
                // Nobody waits any more.
                let _ = done.send(future().await);
            })?;
            let outcome = py.detach(move || heedful(outcome))?;
            return tell(py, outcome.or_raise()?);
        };
        self.order(async move || {
            let outcome = future().await;
            // After the end of the interpreter nobody is left to be told.
            Python::try_attach(|py| {
                let told = match outcome.or_raise().and_then(|value| tell(py, value)) {
                    Ok(value) => reply.call1(py, (value, py.None())),
                    Err(error) => reply.call1(py, (py.None(), error.into_value(py))),
                };
                // An event loop that was closed meanwhile wants no answer.
                drop((told, reply));
            });
        })?;
        Ok(py.None())
    }

    /// Has the work done, also if all others let go of the thread meanwhile.
    fn order<F: Future<Output = ()> + 'static>(
        &self,
        work: impl FnOnce() -> F + Send + 'static,
    ) -> PyResult<()> {
        let kept = self.clone();
        let work = async move || {
            work().await;
            drop(kept);
        };
        self.work.send(Box::new(|| Box::pin(work()))).map_err(|_| ended())
    }
}

/// Begins all work as it comes, until the last [`Talk`] is gone.
async fn carry_out(mut orders: UnboundedReceiver<Work>) {
    while let Some(work) = orders.recv().await {
        spawn_local(work());
    }
}

/// What comes, unless a signal raises an exception first, as Ctrl-C does.
fn heedful<T>(outcome: std::sync::mpsc::Receiver<T>) -> PyResult<T> {
    loop {
        match outcome.recv_timeout(HEED) {
            Ok(outcome) => return Ok(outcome),
            #[expect(
                clippy::redundant_closure_for_method_calls,
                reason = "the method is for one lifetime only"
            )]
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            Err(RecvTimeoutError::Disconnected) => return Err(ended()),
        }
    }
}

#[cold]
fn ended() -> PyErr {
    PyRuntimeError::new_err("the thread that talks to the servers has panicked; please report it")
}
