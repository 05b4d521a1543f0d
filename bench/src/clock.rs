//! Time: processor time of this process, so that neighbours on the machine cost us as little as possible.

use std::time::Duration;

/// Processor time that all threads of this process have used so far.
pub(crate) fn cpu_time() -> Duration {
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
    let spent = cpu_time() - start;
    (result, spent.as_nanos() as f64 / steps as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_costs_no_processor_time() {
        let ((), ns) = ns_per_step(1, || std::thread::sleep(Duration::from_millis(50)));
        assert!(ns < 40e6, "50 ms of sleep were charged as {ns} ns");
    }
}
