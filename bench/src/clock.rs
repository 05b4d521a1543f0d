//! Time: processor time of this process, so that neighbours on the machine cost us as little as possible.

use std::time::Duration;

/// A loop is repeated, and its best time taken, until it has run this often or for this long: quick ones need it to be told
/// apart, slow ones do not.
const REPEATS: usize = 6;
const PATIENCE: Duration = Duration::from_millis(300);

/// Processor time that all threads of this process have used so far.
fn cpu_time() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live, writable timespec for the length of the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    assert_eq!(failed, 0, "this kernel has no process clock");
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Runs `work` and returns its result with the nanoseconds that each of `steps` took.
pub(crate) fn ns_per_step<T>(steps: usize, work: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu_time();
    let result = work();
    let spent = cpu_time().saturating_sub(start);
    (result, spent.as_nanos() as f64 / steps as f64)
}

/// The result of the last repetition, and the nanoseconds per step of the best.
pub(crate) fn best_of<T>(steps: usize, mut work: impl FnMut() -> T) -> (T, f64) {
    let start = cpu_time();
    let (mut result, mut best) = ns_per_step(steps, &mut work);
    for _ in 1..REPEATS {
        if cpu_time().saturating_sub(start) > PATIENCE {
            break;
        }
        // First, so that two large structures never exist side by side.
        drop(result);
        let (next, ns) = ns_per_step(steps, &mut work);
        result = next;
        best = best.min(ns);
    }
    (result, best)
}

/// How many lookups are timed at once. A neighbour on the machine spoils some milliseconds here and there; a piece that is short beside that has a
/// quiet turn among its repetitions, where the whole loop has none.
const PIECE: usize = 1 << 18;

/// Runs `work` over all items, piece by piece and again as [`best_of`] does: the sum of what one pass returned, and the nanoseconds per item
/// with each piece at its best.
pub(crate) fn best_of_pieces<K>(items: &[K], mut work: impl FnMut(&[K]) -> usize) -> (usize, f64) {
    let start = cpu_time();
    let mut best = vec![f64::INFINITY; items.len().div_ceil(PIECE)];
    let mut sum = 0;
    for pass in 0..REPEATS {
        if pass > 0 && cpu_time().saturating_sub(start) > PATIENCE {
            break;
        }
        sum = 0;
        for (piece, best) in items.chunks(PIECE).zip(&mut best) {
            let (result, ns) = ns_per_step(1, || work(piece));
            sum += result;
            *best = best.min(ns);
        }
    }
    (sum, best.iter().sum::<f64>() / items.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_charged_per_step() {
        let work = || (0..1 << 22).fold(0u64, |sum, i| std::hint::black_box(sum ^ i));
        let (_, whole) = ns_per_step(1, work);
        assert!(whole > 0.0);
        // Other tests run at the same time and are charged too, so only a coarse bound holds.
        let (_, part) = ns_per_step(1 << 22, work);
        assert!(part < whole);
    }

    #[test]
    fn pieces_are_the_whole() {
        for count in [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5] {
            let items: Vec<usize> = (0..count).collect();
            let (sum, ns) = best_of_pieces(&items, |piece| piece.iter().sum());
            assert_eq!(sum, count * (count - 1) / 2);
            assert!(ns.is_finite());
        }
    }
}
