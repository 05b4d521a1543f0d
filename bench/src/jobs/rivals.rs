//! Who does which job, and with which command. Those that are not on this machine are left out.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
};

use super::data::Data;
use crate::args::Jobs;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    Distinct,
    Intersect,
    Top,
    Once,
    Words,
}

impl Job {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Distinct => "distinct",
            Self::Intersect => "intersect",
            Self::Top => "topk",
            Self::Once => "once",
            Self::Words => "words",
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Distinct => "distinct: 100M search queries by Zipf 0.8, times the scale",
            Self::Intersect => "intersect: 100M queries with 100M others, times the scale",
            Self::Top => "topk: the ten busiest addresses of an access log of 1.8 GB, times the scale",
            Self::Once => "once: 200M 32-bit integers as text, times the scale",
            Self::Words => "words: 100 words in 2,000 texts of 1 MB, times the scale",
        }
    }
}

pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) command: String,
    pub(crate) answer: Answer,
}

impl Contender {
    pub(crate) fn new(name: &'static str, command: String, options: &Jobs) -> Self {
        let answer = match name {
            "chDB" => Answer::File(options.dir.join("ch.out")),
            "DuckDB" => Answer::File(options.dir.join("duck.out")),
            _ => Answer::Printed,
        };
        Self { name, command, answer }
    }
}

/// Where an answer goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// To standard output, and so to a file.
    Printed,
    /// To this file, by the program itself.
    File(PathBuf),
}

fn is_there(command: &str) -> bool {
    let test = format!("command -v {command}");
    Command::new("sh").args(["-c", &test]).output().is_ok_and(|out| out.status.success())
}

fn imports(python: &str, module: &str) -> bool {
    Command::new(python)
        .args(["-c", &format!("import {module}")])
        .output()
        .is_ok_and(|out| out.status.success())
}

/// DuckDB and chDB as a Python has them, with the limits that ours has.
pub(crate) struct Databases<'a> {
    python: &'a Path,
    dir: &'a Path,
    pub(crate) duckdb: bool,
    pub(crate) chdb: bool,
}

impl<'a> Databases<'a> {
    pub(crate) fn new(options: &'a Jobs) -> Self {
        let python = options.python.to_string_lossy();
        let (duckdb, chdb) = (imports(&python, "duckdb"), imports(&python, "chdb"));
        Self { python: &options.python, dir: &options.dir, duckdb, chdb }
    }

    /// What answers `query`, and leaves the answer in a file.
    pub(crate) fn duck(&self, query: &str) -> String {
        let (python, dir) = (self.python.display(), self.dir.display());
        format!(
            "{python} -c \"import duckdb; c = duckdb.connect(); c.execute(\\\"SET memory_limit='1GB'; SET threads=2; SET temp_directory='{dir}/duck'; SET preserve_insertion_order=false\\\"); c.execute(\\\"COPY ({query}) TO '{dir}/duck.out' (HEADER false)\\\")\""
        )
    }

    /// The same of chDB, whose answer has these columns.
    fn chdb(&self, columns: &str, query: &str) -> String {
        let (python, dir) = (self.python.display(), self.dir.display());
        format!(
            "{python} -c \"import chdb; chdb.query(\\\"INSERT INTO FUNCTION file('{dir}/ch.out', 'TSV', '{columns}') {query} SETTINGS max_threads=2, max_memory_usage=1000000000, max_bytes_before_external_group_by=400000000, engine_file_truncate_on_insert=1\\\")\""
        )
    }
}

/// A file of lines as a table of DuckDB's.
pub(crate) fn csv(path: &Path, column: &str) -> String {
    format!(
        "read_csv('{}', header=false, delim='\\x01', quote='', columns={{'{column}': 'VARCHAR'}})",
        path.display()
    )
}

/// Ours first.
pub(crate) fn contenders(job: Job, data: &Data, options: &Jobs) -> io::Result<Vec<Contender>> {
    let mut all = Vec::new();
    let mut add = |name, command: String| all.push(Contender::new(name, command, options));
    let (gowk, dir, memory) = (options.gowk.display(), options.dir.display(), &options.memory);
    let ours = format!("--memory {memory} --threads 2 --temp-dir {dir}");
    let databases = Databases::new(options);
    match job {
        Job::Distinct => {
            let file = data.queries(0)?;
            let path = file.display();
            add("gowk distinct", format!("{gowk} distinct {path} {ours}"));
            add("gowk distinct --any-order", format!("{gowk} distinct --any-order {path} {ours}"));
            add("sort -u", format!("sort -u -S 1G --parallel=2 -T {dir} {path}"));
            if databases.chdb {
                add(
                    "chDB",
                    databases.chdb(
                        "line String",
                        &format!("SELECT line FROM file('{path}', LineAsString) GROUP BY line"),
                    ),
                );
            }
            if databases.duckdb {
                let query = format!("SELECT DISTINCT q FROM {}", csv(&file, "q"));
                add("DuckDB", databases.duck(&query));
            }
            if is_there("duplicut") {
                add("duplicut", format!("duplicut {path} -o {dir}/duplicut.out -m 1G -t 2"));
            }
        }
        Job::Intersect => {
            let (a, b) = (data.queries(0)?, data.queries(1)?);
            add("gowk intersect", format!("{gowk} intersect {} {} {ours}", a.display(), b.display()));
            if databases.duckdb {
                let query =
                    format!("SELECT q FROM {} INTERSECT SELECT q FROM {}", csv(&a, "q"), csv(&b, "q"));
                add("DuckDB", databases.duck(&query));
            }
        }
        Job::Top => {
            let file = data.access_log()?;
            let path = file.display();
            add("gowk topk", format!("{gowk} topk -k 10 -f 1 -d ' ' {path} {ours}"));
            if databases.chdb {
                let query = format!(
                    "SELECT substring(line, 1, position(line, ' ') - 1) AS a, count() AS c FROM file('{path}', LineAsString) GROUP BY a ORDER BY c DESC LIMIT 10"
                );
                add("chDB", databases.chdb("a String, c UInt64", &query));
            }
            if databases.duckdb {
                let query = format!(
                    "SELECT split_part(l, ' ', 1) a, count(*) c FROM {} GROUP BY a ORDER BY c DESC LIMIT 10",
                    csv(&file, "l")
                );
                add("DuckDB", databases.duck(&query));
            }
        }
        Job::Once => {
            let file = data.integers()?;
            add("gowk once --ints", format!("{gowk} once --ints {} {ours}", file.display()));
            if databases.duckdb {
                let query = format!(
                    "SELECT i FROM read_csv('{}', header=false, columns={{'i': 'UINTEGER'}}) GROUP BY i HAVING count(*) = 1",
                    file.display()
                );
                add("DuckDB", databases.duck(&query));
            }
        }
        Job::Words => {
            let (words, texts) = data.texts()?;
            let (words, texts) = (words.display(), texts.display());
            add("gowk words", format!("sh -c \"{gowk} words {words} {texts}/*.txt {ours}\""));
            if is_there("rg") {
                add("rg", format!("sh -c \"rg --no-config -j 2 -oNwFf {words} {texts} | sort -u\""));
            }
        }
    }
    Ok(all)
}
