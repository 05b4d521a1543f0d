//! Answers of several partitions, put back into the order of the input.

use super::{
    spill::{Space, Spill, SpillReader},
    varint,
};
use crate::{
    error::JobError,
    output::{Output, Row},
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Rows of the answer with their positions, ascending.
#[derive(Debug)]
pub(crate) struct Run {
    spill: Option<Spill>,
    block: usize,
    row: Vec<u8>,
}

/// How many runs are merged at a time: each has a block in memory.
pub(crate) const FAN_IN: usize = 64;

impl Run {
    pub(crate) fn new(block: usize) -> Self {
        Self { spill: None, block, row: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spill.is_none()
    }

    pub(crate) fn put(
        &mut self,
        space: &Space,
        position: u64,
        count: u64,
        line: &[u8],
    ) -> Result<(), JobError> {
        self.row.clear();
        varint::put(&mut self.row, count);
        self.row.extend_from_slice(line);
        let spill = match &mut self.spill {
            Some(spill) => spill,
            none => none.insert(Spill::new(space, 1, self.block, false)?),
        };
        spill.put(space, 0, position, &self.row, &[])
    }

    pub(crate) fn finish(&mut self, space: &Space) -> Result<(), JobError> {
        self.row = Vec::new();
        self.spill.as_mut().map_or(Ok(()), |spill| spill.finish(space))
    }
}

/// Merges runs until there are few enough to be merged at once.
pub(crate) fn few_enough(mut runs: Vec<Run>, space: &Space) -> Result<Vec<Run>, JobError> {
    runs.retain(|run| !run.is_empty());
    while runs.len() > FAN_IN {
        let some: Vec<Run> = runs.drain(..FAN_IN).collect();
        let mut merged = Run::new(some[0].block);
        merge(&some, space, |position, row| merged.put(space, position, row.count, row.line))?;
        merged.finish(space)?;
        runs.push(merged);
    }
    Ok(runs)
}

/// Writes the rows of all runs in the order of their positions.
pub(crate) fn write(runs: Vec<Run>, space: &Space, output: &mut Output<'_>) -> Result<(), JobError> {
    let runs = few_enough(runs, space)?;
    let Some(end) = output.line_end() else {
        return merge(&runs, space, |_, row| output.row(row).map_err(JobError::Output));
    };
    let mut block = Vec::new();
    merge(&runs, space, |_, row| {
        block.extend_from_slice(row.line);
        block.push(end);
        if block.len() >= 64 << 10 {
            output.block(&block).map_err(JobError::Output)?;
            block.clear();
        }
        Ok(())
    })?;
    output.block(&block).map_err(JobError::Output)
}

fn merge(
    runs: &[Run],
    space: &Space,
    mut each: impl FnMut(u64, Row<'_>) -> Result<(), JobError>,
) -> Result<(), JobError> {
    let mut heads: Vec<Head<'_>> = runs.iter().filter_map(|run| run.spill.as_ref()).map(Head::new).collect();
    let mut next = BinaryHeap::new();
    for (i, head) in heads.iter_mut().enumerate() {
        if let Some(position) = head.advance(space)? {
            next.push(Reverse((position, i)));
        }
    }
    while let Some(Reverse((mut position, i))) = next.pop() {
        // The same run goes on as long as it comes before all others.
        let others = next.peek().map_or((u64::MAX, usize::MAX), |Reverse(head)| *head);
        loop {
            each(position, heads[i].row())?;
            match heads[i].advance(space)? {
                Some(p) if (p, i) < others => position = p,
                Some(p) => {
                    next.push(Reverse((p, i)));
                    break;
                }
                None => break,
            }
        }
    }
    Ok(())
}

/// The next row of a run.
struct Head<'a> {
    reader: SpillReader<'a>,
    row: Vec<u8>,
}

impl<'a> Head<'a> {
    fn new(spill: &'a Spill) -> Self {
        Self { reader: spill.read(0), row: Vec::new() }
    }

    fn advance(&mut self, space: &Space) -> Result<Option<u64>, JobError> {
        let Some(next) = self.reader.next(space)? else { return Ok(None) };
        self.row.clear();
        self.row.extend_from_slice(next.key);
        Ok(Some(next.position))
    }

    fn row(&self) -> Row<'_> {
        let mut line = self.row.as_slice();
        let count = varint::take(&mut line).unwrap_or(1);
        Row { line, count }
    }
}
