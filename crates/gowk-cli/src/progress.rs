//! A bar on the terminal, and Ctrl-C.

use gowk_jobs::input::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{self, IsTerminal},
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// How a process ends that was interrupted.
pub(crate) const INTERRUPTED: u8 = 130;

/// Watches a command: draws how far it is, and stops it on Ctrl-C so that nothing half done stays.
pub(crate) struct Watch {
    progress: Progress,
    bar: Option<Bar>,
    busy: Arc<AtomicBool>,
}

impl Watch {
    /// With a bar if somebody sits there: standard error is a terminal, and no answers are written between it.
    pub(crate) fn new(answers_on_stdout: bool) -> Self {
        let progress = Progress::default();
        let quiet = answers_on_stdout && io::stdout().is_terminal();
        let bar = (io::stderr().is_terminal() && !quiet).then(|| Bar::start(progress.clone()));
        let busy = Arc::new(AtomicBool::new(false));
        handle_interrupts(progress.clone(), Arc::clone(&busy));
        Self { progress, bar, busy }
    }

    pub(crate) fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Takes the bar away, before anything is said.
    pub(crate) fn done(&mut self) {
        self.bar = None;
    }

    /// Does what must not be cut short: an interrupt waits for it.
    pub(crate) fn uninterrupted<T>(&mut self, work: impl FnOnce() -> T) -> T {
        self.done();
        self.busy.store(true, Ordering::SeqCst);
        let result = work();
        self.busy.store(false, Ordering::SeqCst);
        result
    }
}

/// The first interrupt asks the work to end; it has a moment to clean up, as long as it takes if it is writing a file. A second
/// one ends the process at once.
fn handle_interrupts(progress: Progress, busy: Arc<AtomicBool>) {
    let handler = move || {
        if progress.is_cancelled() {
            process::exit(INTERRUPTED.into());
        }
        progress.cancel();
        let busy = Arc::clone(&busy);
        thread::spawn(move || {
            // A read from a terminal or a pipe would wait for ever.
            thread::sleep(Duration::from_millis(500));
            while busy.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(50));
            }
            process::exit(INTERRUPTED.into());
        });
    };
    // Where it cannot be set, an interrupt ends the process as it always did.
    ctrlc::set_handler(handler).ok();
}

struct Bar {
    stop: mpsc::Sender<()>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Bar {
    fn start(progress: Progress) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::spawn(move || draw(&progress, &stopped));
        Self { stop, thread: Some(thread) }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.stop.send(()).ok();
        self.thread.take().map(thread::JoinHandle::join);
    }
}

fn draw(progress: &Progress, stopped: &mpsc::Receiver<()>) {
    // What is done at once needs no bar.
    if stopped.recv_timeout(Duration::from_millis(400)) != Err(mpsc::RecvTimeoutError::Timeout) {
        return;
    }
    let style =
        |template| ProgressStyle::with_template(template).expect("a template of ours").progress_chars("=> ");
    let bar = match progress.total().filter(|total| *total > 0) {
        Some(total) => ProgressBar::new(total).with_style(style(
            "{percent:>3} % [{wide_bar}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        )),
        None => ProgressBar::no_length().with_style(style("{bytes} read, {bytes_per_sec}, {elapsed}")),
    };
    while stopped.recv_timeout(Duration::from_millis(100)) == Err(mpsc::RecvTimeoutError::Timeout) {
        progress.total().into_iter().for_each(|total| bar.set_length(total));
        bar.set_position(progress.read());
    }
    bar.finish_and_clear();
}
