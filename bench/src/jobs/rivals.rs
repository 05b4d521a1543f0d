//! Who does which job, and with which command. Those that are not on this machine are left out.

use std::{io, process::Command};

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

/// Ours first.
pub(crate) fn contenders(job: Job, data: &Data, options: &Jobs) -> io::Result<Vec<Contender>> {
    let mut all = Vec::new();
    let mut add = |name, command: String| all.push(Contender { name, command });
    let (gowk, dir, memory) = (options.gowk.display(), options.dir.display(), &options.memory);
    let ours = format!("--memory {memory} --threads 2 --temp-dir {dir}");
    let duck = |query: &str| {
        format!(
            "{} -c \"import duckdb; c = duckdb.connect(); c.execute(\\\"SET memory_limit='1GB'; SET threads=2; SET temp_directory='{dir}/duck'; SET preserve_insertion_order=false\\\"); c.execute(\\\"{query}\\\")\"",
            options.python.display()
        )
    };
    let chdb = |query: &str| {
        format!(
            "{} -c \"import chdb; chdb.query(\\\"{query} SETTINGS max_threads=2, max_memory_usage=1000000000, max_bytes_before_external_group_by=400000000\\\", 'Null')\"",
            options.python.display()
        )
    };
    let python = options.python.to_string_lossy().into_owned();
    let (has_duck, has_chdb) = (imports(&python, "duckdb"), imports(&python, "chdb"));
    let csv = |path: &std::path::Path, column: &str| {
        format!(
            "read_csv('{}', header=false, delim='\\x01', quote='', columns={{'{column}': 'VARCHAR'}})",
            path.display()
        )
    };
    match job {
        Job::Distinct => {
            let file = data.queries(0)?;
            let path = file.display();
            add("gowk distinct", format!("{gowk} distinct {path} {ours}"));
            add("gowk distinct --any-order", format!("{gowk} distinct --any-order {path} {ours}"));
            add("sort -u", format!("sort -u -S 1G --parallel=2 -T {dir} {path}"));
            if has_chdb {
                add("chDB", chdb(&format!("SELECT line FROM file('{path}', LineAsString) GROUP BY line")));
            }
            if has_duck {
                let query = format!("COPY (SELECT DISTINCT q FROM {}) TO '{dir}/duck.out'", csv(&file, "q"));
                add("DuckDB", duck(&query));
            }
            if is_there("duplicut") {
                add("duplicut", format!("duplicut {path} -o {dir}/duplicut.out -m 1G -t 2"));
            }
        }
        Job::Intersect => {
            let (a, b) = (data.queries(0)?, data.queries(1)?);
            add("gowk intersect", format!("{gowk} intersect {} {} {ours}", a.display(), b.display()));
            if has_duck {
                let query = format!(
                    "COPY (SELECT q FROM {} INTERSECT SELECT q FROM {}) TO '{dir}/duck.out'",
                    csv(&a, "q"),
                    csv(&b, "q")
                );
                add("DuckDB", duck(&query));
            }
        }
        Job::Top => {
            let file = data.access_log()?;
            let path = file.display();
            add("gowk topk", format!("{gowk} topk -k 10 -f 1 -d ' ' {path} {ours}"));
            if has_chdb {
                let query = format!(
                    "SELECT substring(line, 1, position(line, ' ') - 1) AS a, count() AS c FROM file('{path}', LineAsString) GROUP BY a ORDER BY c DESC LIMIT 10"
                );
                add("chDB", chdb(&query));
            }
            if has_duck {
                let query = format!(
                    "COPY (SELECT split_part(l, ' ', 1) a, count(*) c FROM {} GROUP BY a ORDER BY c DESC LIMIT 10) TO '{dir}/duck.out'",
                    csv(&file, "l")
                );
                add("DuckDB", duck(&query));
            }
        }
        Job::Once => {
            let file = data.integers()?;
            add("gowk once --ints", format!("{gowk} once --ints {} {ours}", file.display()));
            if has_duck {
                let query = format!(
                    "COPY (SELECT i FROM read_csv('{}', header=false, columns={{'i': 'UINTEGER'}}) GROUP BY i HAVING count(*) = 1) TO '{dir}/duck.out'",
                    file.display()
                );
                add("DuckDB", duck(&query));
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
