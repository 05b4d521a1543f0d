//! The set jobs: run in a thread of their own, watched and stopped by Python.
//!
//! `python/gowk/jobs.py` has the functions that people call. They ask [`Job::next`] for rows again and again; it waits a tenth of a second at
//! the most and without the interpreter, so that Ctrl-C, callbacks and other threads have their turn.

use crate::{
    error::{AtPath, Told, at_path},
    file,
};
use gowk_jobs::{
    Compare, Distinct, JobError, OnceInts, Operation, Options, Order, Output, Records, Row, Stats, Top,
    Which,
    input::{Input, InputError, KeySpec, KeyType, Keys, Progress, Separator, Source},
};
use pyo3::{
    exceptions::{PyOSError, PyRuntimeError, PyValueError},
    prelude::*,
    types::PyBytes,
};
use std::{
    io::{self, BufWriter, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

/// How long Python waits for rows before it looks whether something else is to be done.
const PATIENCE: Duration = Duration::from_millis(100);
/// Rows go over in batches of so many bytes, or so many rows.
const BATCH_BYTES: usize = 1 << 18;
const BATCH_ROWS: usize = 4096;

/// Rows of the answer: bytes one after another, where each ends, and its count.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    rows: Vec<(usize, u64)>,
}

/// What is to be done, in words that Python has checked.
#[derive(Clone, FromPyObject)]
#[pyo3(from_item_all)]
#[expect(clippy::struct_excessive_bools, reason = "options are independent of each other")]
struct Task {
    kind: String,
    a: Vec<PathBuf>,
    b: Vec<PathBuf>,
    output: Option<PathBuf>,
    k: usize,
    which: String,
    counts: bool,
    any_order: bool,
    keep_lines: bool,
    ints: bool,
    field: Option<NonZeroUsize>,
    field_b: Option<NonZeroUsize>,
    delimiter: u8,
    regex: Option<String>,
    null: bool,
    memory: u64,
    threads: Option<NonZeroUsize>,
    temp_dir: Option<PathBuf>,
}

/// Lines and their counts, as Python gets them.
type Rows<'py> = Vec<(Bound<'py, PyBytes>, u64)>;

/// A job at work.
#[pyclass(module = "gowk", frozen)]
pub(crate) struct Job {
    progress: Progress,
    rows: Mutex<Option<Receiver<Batch>>>,
    thread: Mutex<Option<JoinHandle<Result<Stats, JobError>>>>,
    output: Option<PathBuf>,
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Job>()
}

#[pymethods]
impl Job {
    #[new]
    fn new(py: Python<'_>, task: Task) -> PyResult<Self> {
        let progress = Progress::default();
        let (sender, rows) = sync_channel(4);
        let (watched, output) = (progress.clone(), task.output.clone());
        // What is wrong with the paths or the pattern is told before a thread is begun.
        let (ours, theirs) = py.detach(|| -> PyResult<_> {
            let ours = task.records(&task.a, task.field, &watched)?;
            let theirs = match task.b.is_empty() {
                true => None,
                false => Some(task.records(&task.b, task.field_b.or(task.field), &watched)?),
            };
            Ok((ours, theirs))
        })?;
        let thread = std::thread::Builder::new()
            .name("gowk-job".into())
            .spawn(move || task.run(&ours, theirs.as_ref(), &watched, sender))?;
        Ok(Self { progress, rows: Mutex::new(Some(rows)), thread: Mutex::new(Some(thread)), output })
    }

    /// The next rows, as pairs of a line and its count; an empty list if there are none yet; None at the end.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Rows<'py>>> {
        let received = py.detach(|| {
            let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            match &*rows {
                Some(rows) => rows.recv_timeout(PATIENCE),
                None => Err(RecvTimeoutError::Disconnected),
            }
        });
        match received {
            Ok(batch) => {
                let mut start = 0;
                let rows = batch.rows.iter().map(|(end, count)| {
                    let line = PyBytes::new(py, &batch.bytes[start..*end]);
                    start = *end;
                    (line, *count)
                });
                Ok(Some(rows.collect()))
            }
            Err(RecvTimeoutError::Timeout) => Ok(Some(Vec::new())),
            Err(RecvTimeoutError::Disconnected) => {
                self.finish(py)?;
                Ok(None)
            }
        }
    }

    /// Stops the job, and waits until it has stopped.
    fn cancel(&self, py: Python<'_>) {
        self.progress.cancel();
        py.detach(|| {
            self.rows.lock().unwrap_or_else(PoisonError::into_inner).take();
            let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            // Why it ended is known: it was told to.
            thread.map(JoinHandle::join)
        });
    }

    /// The bytes read so far, and how many there are in all passes that are known of; none where that is not known.
    #[getter]
    fn progress(&self) -> (u64, Option<u64>) {
        (self.progress.read(), self.progress.total())
    }
}

impl Job {
    /// Takes the result of the thread, which has ended.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        match py.detach(|| thread.join()) {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(told(error, self.output.as_deref())),
            Err(_) => Err(PyRuntimeError::new_err("a job panicked; please report it")),
        }
    }
}

impl Task {
    fn records(
        &self,
        paths: &[PathBuf],
        field: Option<NonZeroUsize>,
        progress: &Progress,
    ) -> PyResult<Records<'static>> {
        let separator = if self.null { Separator::Nul } else { Separator::Newline };
        let input = Input::new(paths.iter().map(Source::from)).map_err(|error| told(error.into(), None))?;
        let spec = match (field, &self.regex) {
            (Some(number), None) => KeySpec::Field { number, delimiter: self.delimiter },
            (None, Some(pattern)) => KeySpec::Regex(
                regex::bytes::Regex::new(pattern)
                    .map_err(|error| PyValueError::new_err(error.to_string()))?,
            ),
            (None, None) => KeySpec::Line,
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("field= and regex= both say the key; give one"));
            }
        };
        let keys = Keys { spec, key_type: KeyType::Text };
        Ok(Records::files(input.separator(separator).progress(progress), keys))
    }

    fn options(&self, progress: &Progress) -> Options {
        let mut options = Options::default().memory(self.memory).progress(progress);
        if let Some(threads) = self.threads {
            options = options.threads(threads);
        }
        if let Some(dir) = &self.temp_dir {
            options = options.temp_dir(dir);
        }
        options
    }

    fn run(
        &self,
        ours: &Records<'_>,
        theirs: Option<&Records<'_>>,
        progress: &Progress,
        sender: SyncSender<Batch>,
    ) -> Result<Stats, JobError> {
        let options = self.options(progress);
        let Some(path) = &self.output else {
            return self.rows(ours, theirs, &options, sender);
        };
        // Whole or not there: an error of the job goes round the file.
        let mut failed = None;
        let written = file::replace(path, |file| {
            let end = if self.null { 0 } else { b'\n' };
            let mut writer = BufWriter::with_capacity(1 << 16, file);
            let result = {
                let mut output = match self.counts {
                    true => Output::rows(|row: Row<'_>| {
                        write!(writer, "{}\t", row.count)?;
                        writer.write_all(row.line)?;
                        writer.write_all(&[end])
                    }),
                    false => Output::lines(&mut writer, end),
                };
                self.work(ours, theirs, &options, &mut output)
            };
            match result {
                Ok(stats) => writer.flush().map(|()| stats),
                Err(error) => {
                    failed = Some(error);
                    Err(io::Error::other("the job failed"))
                }
            }
        });
        match (written, failed) {
            (_, Some(error)) => Err(error),
            (Err(error), None) => Err(JobError::Output(error)),
            (Ok(stats), None) => Ok(stats),
        }
    }

    /// Sends rows to Python, which may have gone.
    fn rows(
        &self,
        ours: &Records<'_>,
        theirs: Option<&Records<'_>>,
        options: &Options,
        sender: SyncSender<Batch>,
    ) -> Result<Stats, JobError> {
        let mut batch = Batch::default();
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        let mut output = Output::rows(|row: Row<'_>| {
            batch.bytes.extend_from_slice(row.line);
            batch.rows.push((batch.bytes.len(), row.count));
            if batch.bytes.len() >= BATCH_BYTES || batch.rows.len() >= BATCH_ROWS {
                sender.send(std::mem::take(&mut batch)).map_err(gone)?;
            }
            Ok(())
        });
        let stats = self.work(ours, theirs, options, &mut output)?;
        drop(output);
        if !batch.rows.is_empty() {
            sender.send(batch).map_err(|error| JobError::Output(gone(error)))?;
        }
        Ok(stats)
    }

    fn work(
        &self,
        ours: &Records<'_>,
        theirs: Option<&Records<'_>>,
        options: &Options,
        output: &mut Output<'_>,
    ) -> Result<Stats, JobError> {
        let order = if self.any_order { Order::Any } else { Order::First };
        match (self.kind.as_str(), theirs) {
            ("topk", _) => Top::new(self.k).run(ours, options, output),
            ("once", _) if self.ints => OnceInts.run(ours, options, output),
            ("intersect" | "subtract", Some(theirs)) => {
                let operation =
                    if self.kind == "intersect" { Operation::Intersect } else { Operation::Subtract };
                let compare = Compare::new(operation).all_lines(self.keep_lines).any_order(self.any_order);
                compare.run(ours, theirs, options, output)
            }
            _ => {
                let which = match self.which.as_str() {
                    "once" => Which::Once,
                    "duplicates" => Which::Duplicates,
                    _ => Which::All,
                };
                Distinct::default().which(which).order(order).counts(self.counts).run(ours, options, output)
            }
        }
    }
}

/// The words of a job, and what would help.
fn told(error: JobError, output: Option<&Path>) -> PyErr {
    let mut text = error.to_string();
    if error.lacks_room() {
        text.push_str("; give another directory with temp_dir=, or more memory=");
    }
    match (error, output) {
        (JobError::Input(InputError::Open { source, error }), _) => match source.path() {
            Some(path) => at_path(&error, path),
            None => PyOSError::new_err(text),
        },
        (JobError::Output(error), Some(path)) => {
            io::Result::<()>::Err(error).at(path).err().unwrap_or_else(|| PyOSError::new_err(text))
        }
        (JobError::Output(_) | JobError::Spill { .. } | JobError::NoSpace { .. } | JobError::Input(_), _) => {
            PyOSError::new_err(text)
        }
        (JobError::Memory(error), _) => error.told(),
        _ => PyValueError::new_err(text),
    }
}
