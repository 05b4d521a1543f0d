//! The machine under the figures: what it is called, and how to hold still on one core of it.

use std::fs;

/// What a reader needs to know before comparing figures with another machine's.
pub(crate) fn describe() -> String {
    format!(
        "{}, {} cores, huge pages: {}",
        processor().unwrap_or_else(|| "unknown processor".to_owned()),
        std::thread::available_parallelism().map_or(1, usize::from),
        huge_pages().unwrap_or_else(|| "unknown".to_owned()),
    )
}

fn processor() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The mode between the brackets of `always [madvise] never`.
fn huge_pages() -> Option<String> {
    let modes = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    let chosen = modes.split_once('[')?.1.split_once(']')?.0;
    Some(chosen.to_owned())
}

/// Binds this thread, and every thread it starts from now on, to the core it is running on.
///
/// Crates that build on a thread pool then see one core as well. Not fatal where it fails: the figures get noisier.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on_one_core() -> Option<usize> {
    // SAFETY: takes nothing, returns a number.
    let core = usize::try_from(unsafe { libc::sched_getcpu() }).ok()?;
    // SAFETY: an all-zero `cpu_set_t` is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: `set` is ours, and the kernel just named `core`, so it is below `CPU_SETSIZE`.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: `set` is live and its true size is passed; pid 0 is this thread.
    let failed = unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
    (failed == 0).then_some(core)
}

/// Only Linux is taught to hold still so far.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on_one_core() -> Option<usize> {
    None
}
