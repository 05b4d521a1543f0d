//! Blocks on several threads.

use super::{block::Block, error::InputError, reader::BlockReader};
use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Runs `work` on every block, in no order, each thread with a state of its own; gives back the states.
///
/// There is no thread that only reads: whoever is free reads the next block, and so has it in its cache. The first error
/// ends the work on all threads.
pub fn for_each_block<S, E>(
    blocks: BlockReader,
    threads: NonZeroUsize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &Block) -> Result<(), E> + Sync,
) -> Result<Vec<S>, E>
where
    S: Send,
    E: From<InputError> + Send,
{
    let queue = Queue::new(blocks);
    let run = || {
        let stop = Stop::new(|| queue.stop());
        let (mut state, mut block) = (state(), Block::default());
        while queue.next_into(&mut block)? {
            work(&mut state, &block)?;
        }
        stop.not_needed();
        Ok(state)
    };
    on_threads(threads, run)
}

/// Runs `work` on every block and hands its results to `sink` in the order of the blocks.
///
/// A thread that is far ahead of the others waits, so that few results are kept.
pub fn map_in_order<S, T, E>(
    blocks: BlockReader,
    threads: NonZeroUsize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &Block) -> Result<T, E> + Sync,
    sink: impl FnMut(T) -> Result<(), E> + Send,
) -> Result<Vec<S>, E>
where
    S: Send,
    T: Send,
    E: From<InputError> + Send,
{
    let queue = Queue::new(blocks);
    let line = Line {
        state: Mutex::new(Waiting { next: 0, results: BTreeMap::new(), sink }),
        moved: Condvar::new(),
        most: 4 * threads.get(),
    };
    let run = || {
        let stop = Stop::new(|| {
            queue.stop();
            line.wake();
        });
        let (mut state, mut block) = (state(), Block::default());
        while queue.next_into(&mut block)? {
            let result = work(&mut state, &block)?;
            line.hand_in(block.number(), result, &queue.stop)?;
        }
        stop.not_needed();
        Ok(state)
    };
    on_threads(threads, run)
}

/// The states of all threads, or the first error.
fn on_threads<S: Send, E: Send>(
    threads: NonZeroUsize,
    run: impl Fn() -> Result<S, E> + Sync,
) -> Result<Vec<S>, E> {
    if threads.get() == 1 {
        return run().map(|state| vec![state]);
    }
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.get()).map(|_| scope.spawn(&run)).collect();
        let first = run();
        let join = |other: thread::ScopedJoinHandle<'_, _>| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        // All are joined before an error is given, so that no panic is lost.
        let rest: Vec<Result<S, E>> = others.into_iter().map(join).collect();
        std::iter::once(first).chain(rest).collect()
    })
}

/// A lock, whatever happened to a thread that held it: its panic ends the program's work by itself.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops the others when a thread ends otherwise than well: by an error or by a panic.
struct Stop<F: Fn()> {
    stop: F,
    needed: bool,
}

impl<F: Fn()> Stop<F> {
    fn new(stop: F) -> Self {
        Self { stop, needed: true }
    }

    fn not_needed(mut self) {
        self.needed = false;
    }
}

impl<F: Fn()> Drop for Stop<F> {
    fn drop(&mut self) {
        if self.needed {
            (self.stop)();
        }
    }
}

struct Queue {
    blocks: Mutex<BlockReader>,
    stop: AtomicBool,
}

impl Queue {
    fn new(blocks: BlockReader) -> Self {
        Self { blocks: Mutex::new(blocks), stop: AtomicBool::new(false) }
    }

    fn next_into(&self, block: &mut Block) -> Result<bool, InputError> {
        let mut blocks = lock(&self.blocks);
        if self.stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        blocks.next_into(block)
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Results that wait for their turn.
struct Line<T, F> {
    state: Mutex<Waiting<T, F>>,
    moved: Condvar,
    most: usize,
}

struct Waiting<T, F> {
    next: u64,
    results: BTreeMap<u64, T>,
    sink: F,
}

impl<T, F> Line<T, F> {
    /// Lets those who wait look again whether they should. The lock keeps one from falling asleep meanwhile.
    fn wake(&self) {
        let _held = lock(&self.state);
        self.moved.notify_all();
    }

    fn hand_in<E>(&self, number: u64, result: T, stop: &AtomicBool) -> Result<(), E>
    where
        F: FnMut(T) -> Result<(), E>,
    {
        let mut waiting = lock(&self.state);
        // The one whose turn it is never waits here, so the line always moves.
        while number != waiting.next && waiting.results.len() >= self.most && !stop.load(Ordering::Relaxed) {
            waiting = self.moved.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.results.insert(number, result);
        loop {
            let next = waiting.next;
            let Some(result) = waiting.results.remove(&next) else { return Ok(()) };
            (waiting.sink)(result)?;
            waiting.next += 1;
            self.moved.notify_all();
        }
    }
}
