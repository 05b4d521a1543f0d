//! A process, its time and its peak of memory.

use super::rivals::Answer;
use std::{
    fs,
    io::{self, Read},
    os::unix::process::ExitStatusExt,
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Instant,
};

/// How it went.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) seconds: f64,
    /// The highest resident size of the process or one of its children, in bytes.
    pub(crate) peak: u64,
    /// Lines of the answer, where it is kept.
    pub(crate) lines: Option<u64>,
    pub(crate) failure: Option<String>,
}

impl Outcome {
    pub(crate) fn better_than(&self, other: &Self) -> bool {
        (self.failure.is_some(), self.seconds) < (other.failure.is_some(), other.seconds)
    }
}

/// Runs a shell command; what it prints goes to a file under `dir`, as a user's would.
pub(crate) fn run(command: &str, answer: &Answer, dir: &Path) -> io::Result<Outcome> {
    let out = dir.join("answer.txt");
    let start = Instant::now();
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("exec {command}"))
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out)?)
        .stderr(Stdio::piped())
        .spawn()?;
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut said).ok();
    }
    let (status, peak) = wait(child.id())?;
    let seconds = start.elapsed().as_secs_f64();
    let failure = match status.success() {
        true => None,
        false => {
            // Some end with advice.
            let why = said.lines().rfind(|line| line.contains("Error")).or(said.lines().last());
            Some(why.unwrap_or("failed").chars().take(90).collect())
        }
    };
    let lines = match answer {
        Answer::Printed => Some(count_lines(&out)?),
        Answer::File(path) if failure.is_none() => Some(count_lines(path)?),
        Answer::File(_) => None,
    };
    fs::remove_file(out)?;
    Ok(Outcome { seconds, peak, lines, failure })
}

fn wait(pid: u32) -> io::Result<(ExitStatus, u64)> {
    let mut status = 0;
    // SAFETY: an all-zero `rusage` is one; the pointers live for the length of the call.
    let (pid, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage), usage)
    };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok((ExitStatus::from_raw(status), (usage.ru_maxrss as u64) << 10)),
    }
}

fn count_lines(path: &Path) -> io::Result<u64> {
    let (mut file, mut buffer, mut lines) = (fs::File::open(path)?, vec![0; 1 << 20], 0);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(lines),
            read => lines += buffer[..read].split(|byte| *byte == b'\n').count() as u64 - 1,
        }
    }
}
