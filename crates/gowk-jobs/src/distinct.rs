//! Each record once.

use crate::{
    Options, Output, Records, Stats,
    engine::{
        Engine,
        lane::Act,
        reduce::{Judge, Reduce, Sinks},
        table::{Counts, Shape},
    },
    error::JobError,
    plan::Plan,
};

/// In which order the answer comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// That of the first appearance of each key.
    #[default]
    First,
    /// None in particular; faster where not all keys fit into memory.
    Any,
}

/// Which keys are part of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Which {
    /// All.
    #[default]
    All,
    /// Those that came more than once.
    Duplicates,
    /// Those that came exactly once.
    Once,
}

/// Each record once: the first of each key.
///
/// ```
/// use gowk_jobs::{Distinct, Options, Output, Records};
///
/// let birds = Records::from_fn(|| ["heron", "gowk", "heron"].into_iter());
/// let mut lines = Vec::new();
/// let stats = Distinct::default().run(&birds, &Options::default(), &mut Output::lines(&mut lines, b'\n'))?;
/// assert_eq!((lines.as_slice(), stats.lines, stats.distinct), (&b"heron\ngowk\n"[..], 3, 2));
/// # Ok::<(), gowk_jobs::JobError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Distinct {
    order: Order,
    which: Which,
    counts: bool,
    integers: bool,
}

impl Distinct {
    /// In which order; that of the first appearance unless said.
    #[must_use]
    pub fn order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// Which keys; all unless said.
    #[must_use]
    pub fn which(self, which: Which) -> Self {
        Self { which, ..self }
    }

    /// Whether [`Row::count`](crate::Row) is to be filled in. The answer then comes when all has been read.
    #[must_use]
    pub fn counts(self, counts: bool) -> Self {
        Self { counts, ..self }
    }

    /// Whether keys are integers, of which `7`, `+7` and `007` are the same.
    #[must_use]
    pub(crate) fn integers(self, integers: bool) -> Self {
        Self { integers, ..self }
    }

    fn streams(self) -> bool {
        self.which == Which::All && !self.counts
    }

    /// What it will do.
    pub fn plan(&self, records: &Records<'_>, options: &Options) -> Plan {
        let mut plan = Plan::new(options);
        let after =
            if self.streams() { "lines go out as they are read" } else { "the answer comes at the end" };
        plan.pass(records, &format!("keep every key in a table; {after}"));
        plan.table(records, if self.streams() { 0 } else { 6 });
        plan.spill(self.order == Order::First);
        plan
    }

    /// Runs the job.
    pub fn run(
        &self,
        records: &Records<'_>,
        options: &Options,
        output: &mut Output<'_>,
    ) -> Result<Stats, JobError> {
        let engine = Engine::new(options)?;
        let mut stats = Stats { passes: 1, ..Stats::default() };
        let feed = engine.feed(records)?.integers(self.integers);
        let counts = match (self.counts, self.which) {
            (true, _) => Counts::Exact,
            (false, Which::All) => Counts::None,
            (false, _) => Counts::Byte,
        };
        let which = self.which;
        let reduce = Reduce {
            act: if self.streams() { Act::Distinct } else { Act::Count },
            shape: Shape {
                positions: !self.streams() && self.order == Order::First,
                counts,
                lines: !self.streams() && records.has_lines(),
            },
            lines: records.has_lines(),
            ordered: self.order == Order::First,
            judge: Judge::Rows(&move |count| match which {
                Which::All => true,
                Which::Duplicates => count > 1,
                Which::Once => count == 1,
            }),
        };
        engine.reduce(&reduce, &feed, &mut Sinks { output, keys: &mut |_| {} }, &mut stats)?;
        Ok(stats)
    }
}
