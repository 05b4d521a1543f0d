//! The commands: name, function, flags, arity, keys, and what `COMMAND DOCS` says of them.

use crate::{
    callbacks::{Args, Ctx},
    commands::{bf, cf, cms, topk},
    error::CommandError,
};
use std::ffi::{CStr, c_int};

/// A command.
pub(crate) struct Command {
    pub(crate) name: &'static CStr,
    pub(crate) run: fn(&Ctx<'_>, &Args<'_>) -> Result<(), CommandError>,
    pub(crate) flags: &'static CStr,
    /// The words it has, or the least if negative; with its name.
    pub(crate) arity: c_int,
    pub(crate) keys: Keys,
    pub(crate) summary: &'static CStr,
    pub(crate) complexity: &'static CStr,
}

/// Which words are keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys {
    /// The first.
    First,
    /// All.
    All,
    /// The first, and as many as the second says from the third on.
    Counted,
}

impl Command {
    pub(crate) fn takes(&self, words: usize) -> bool {
        match usize::try_from(self.arity) {
            Ok(exactly) => words == exactly,
            Err(_) => words >= self.arity.unsigned_abs() as usize,
        }
    }

    /// The categories of the server that it belongs to.
    pub(crate) fn categories(&self) -> &'static str {
        let flags = self.flags.to_bytes();
        match (flags.starts_with(b"write"), flags.ends_with(b"fast")) {
            (true, true) => "write fast",
            (true, false) => "write slow",
            (false, true) => "read fast",
            (false, false) => "read slow",
        }
    }

    /// The category of our own.
    pub(crate) fn family(&self) -> &'static str {
        match self.name.to_bytes() {
            [b'B', ..] => "bloom",
            [b'C', b'F', ..] => "cuckoo",
            [b'C', ..] => "cms",
            _ => "topk",
        }
    }
}

const WRITE: &CStr = c"write deny-oom";
const WRITE_FAST: &CStr = c"write deny-oom fast";
/// Writes that take no memory, so that they work when there is none.
const FREE: &CStr = c"write";
const FREE_FAST: &CStr = c"write fast";
const READ: &CStr = c"readonly";
const READ_FAST: &CStr = c"readonly fast";

macro_rules! table {
    ($([$name:literal, $run:path, $flags:ident, $arity:literal, $keys:ident, $summary:literal, $complexity:literal],)*) => {
        pub(crate) const TABLE: &[Command] = &[$(Command {
            name: $name, run: $run, flags: $flags, arity: $arity, keys: Keys::$keys, summary: $summary, complexity: $complexity,
        }),*];
    };
}

table! {
    [c"BF.RESERVE", bf::reserve, WRITE, -4, First, c"Creates an empty Bloom filter", c"O(n) in its size"],
    [c"BF.ADD", bf::add, WRITE_FAST, 3, First, c"Adds an item; creates the filter if there is none", c"O(links)"],
    [c"BF.MADD", bf::madd, WRITE_FAST, -3, First, c"Adds items; creates the filter if there is none", c"O(items * links)"],
    [c"BF.INSERT", bf::insert, WRITE_FAST, -4, First, c"Adds items, with options for a filter that is created", c"O(items * links)"],
    [c"BF.EXISTS", bf::exists, READ_FAST, 3, First, c"Whether an item may be in the filter", c"O(links)"],
    [c"BF.MEXISTS", bf::mexists, READ_FAST, -3, First, c"Whether each item may be in the filter", c"O(items * links)"],
    [c"BF.CARD", bf::card, READ_FAST, 2, First, c"How many items were added", c"O(1)"],
    [c"BF.INFO", bf::info, READ_FAST, -2, First, c"What the filter is and holds", c"O(links)"],
    [c"BF.DEBUG", bf::debug, READ_FAST, 2, First, c"The links of the filter", c"O(links)"],
    [c"BF.SCANDUMP", bf::scandump, READ, 3, First, c"The next chunk of the filter's bytes", c"O(chunk)"],
    [c"BF.LOADCHUNK", bf::loadchunk, WRITE, 4, First, c"Takes a chunk of SCANDUMP", c"O(chunk), the last O(n)"],
    [c"BF.MERGE", bf::merge, WRITE, -3, All, c"Makes the first filter the union with the others", c"O(n) in their sizes"],
    [c"BF.CLEAR", bf::clear, FREE, 2, First, c"Forgets all items", c"O(n) in the size"],
    [c"BF.DUMP", bf::dump, READ, 2, First, c"The filter as the bytes of a .gowk file", c"O(n) in the size"],
    [c"BF.LOAD", bf::load, WRITE, 3, First, c"Makes a filter of the bytes of a .gowk file", c"O(n) in the size"],
    [c"BF.SHARDADD", bf::shardadd, FREE_FAST, 6, First, c"Sets the bits of keys in a string that is a shard of gowk-redis", c"O(keys)"],
    [c"BF.SHARDASK", bf::shardask, READ_FAST, 6, First, c"Whether keys may be in a string that is a shard of gowk-redis", c"O(keys)"],
    [c"CF.RESERVE", cf::reserve, WRITE, -3, First, c"Creates an empty cuckoo filter", c"O(n) in its size"],
    [c"CF.ADD", cf::add, WRITE_FAST, 3, First, c"Adds an item, once more if it is there", c"O(1), O(n) when it doubles"],
    [c"CF.ADDNX", cf::addnx, WRITE_FAST, 3, First, c"Adds an item unless it may be there", c"O(1), O(n) when it doubles"],
    [c"CF.INSERT", cf::insert, WRITE_FAST, -4, First, c"Adds items, with options for a filter that is created", c"O(items)"],
    [c"CF.INSERTNX", cf::insertnx, WRITE_FAST, -4, First, c"Adds the items that are surely not there", c"O(items)"],
    [c"CF.EXISTS", cf::exists, READ_FAST, 3, First, c"Whether an item may be in the filter", c"O(1)"],
    [c"CF.MEXISTS", cf::mexists, READ_FAST, -3, First, c"Whether each item may be in the filter", c"O(items)"],
    [c"CF.COUNT", cf::count, READ_FAST, 3, First, c"How often an item was added, or more", c"O(1)"],
    [c"CF.DEL", cf::del, FREE_FAST, 3, First, c"Takes an item out, once; only what was added", c"O(1)"],
    [c"CF.COMPACT", cf::compact, WRITE, 2, First, c"Gives memory back after many deletes", c"O(n) in the size"],
    [c"CF.INFO", cf::info, READ_FAST, 2, First, c"What the filter is and holds", c"O(1)"],
    [c"CF.DEBUG", cf::debug, READ_FAST, 2, First, c"The filter's numbers in one line", c"O(1)"],
    [c"CF.SCANDUMP", cf::scandump, READ, 3, First, c"The next chunk of the filter's bytes", c"O(chunk), the first O(n)"],
    [c"CF.LOADCHUNK", cf::loadchunk, WRITE, 4, First, c"Takes a chunk of SCANDUMP", c"O(chunk), the last O(n)"],
    [c"CMS.INITBYDIM", cms::init_by_dim, WRITE, -4, First, c"Creates a sketch of so many counters and rows", c"O(n) in its size"],
    [c"CMS.INITBYPROB", cms::init_by_prob, WRITE, -4, First, c"Creates a sketch by how far it may be off, and how seldom", c"O(n) in its size"],
    [c"CMS.INCRBY", cms::incrby, WRITE_FAST, -4, First, c"Counts items", c"O(items * rows)"],
    [c"CMS.QUERY", cms::query, READ_FAST, -3, First, c"How often each item came, or more", c"O(items * rows)"],
    [c"CMS.MERGE", cms::merge, WRITE, -4, Counted, c"Makes a sketch the weighted sum of others", c"O(n) in their sizes"],
    [c"CMS.INFO", cms::info, READ_FAST, 2, First, c"Width, depth and all occurrences", c"O(1)"],
    [c"CMS.SCANDUMP", cms::scandump, READ, 3, First, c"The next chunk of the sketch's bytes", c"O(chunk), the first O(n)"],
    [c"CMS.LOADCHUNK", cms::loadchunk, WRITE, 4, First, c"Takes a chunk of SCANDUMP", c"O(chunk), the last O(n)"],
    [c"TOPK.RESERVE", topk::reserve, WRITE, -3, First, c"Creates an empty list of the most frequent", c"O(n) in its size"],
    [c"TOPK.ADD", topk::add, WRITE_FAST, -3, First, c"Adds items; what each drove out", c"O(items * (rows + k))"],
    [c"TOPK.INCRBY", topk::incrby, WRITE_FAST, -4, First, c"Adds items that came several times", c"O(items * (rows + k))"],
    [c"TOPK.QUERY", topk::query, READ_FAST, -3, First, c"Whether each item is among the most frequent", c"O(items * k)"],
    [c"TOPK.COUNT", topk::count, READ_FAST, -3, First, c"How often each item came, about", c"O(items * rows)"],
    [c"TOPK.LIST", topk::list, READ_FAST, -2, First, c"The most frequent items", c"O(k log k)"],
    [c"TOPK.INFO", topk::info, READ_FAST, 2, First, c"What it was created with", c"O(1)"],
    [c"TOPK.SCANDUMP", topk::scandump, READ, 3, First, c"The next chunk of its bytes", c"O(chunk), the first O(n)"],
    [c"TOPK.LOADCHUNK", topk::loadchunk, WRITE, 4, First, c"Takes a chunk of SCANDUMP", c"O(chunk), the last O(n)"],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_works_on_a_whole_filter_is_not_called_fast() {
        for command in TABLE {
            let whole = command.complexity.to_bytes().starts_with(b"O(n)");
            assert!(!whole || command.categories().ends_with("slow"), "{:?}", command.name);
        }
    }
}
