//! Keys on their way: sorted by where they go, and cut into commands.

use crate::generation::Generation;
use gowk::Digest;

/// A key on its way: shard, byte in it, place in the batch.
pub(crate) type Routed = (u64, u64, usize);

/// Where these digests go, in the order of the servers' memory.
pub(crate) fn route(generation: &Generation, digests: &[Digest], which: &[usize]) -> Vec<Routed> {
    let routed = |&at: &usize| {
        let spot = generation.spot(digests[at]);
        (spot.shard, spot.byte, at)
    };
    let mut routed: Vec<Routed> = which.iter().map(routed).collect();
    routed.sort_unstable();
    routed
}

/// The keys of each command: of one shard, and not too many.
pub(crate) fn commands(routed: &[Routed], most: usize) -> Vec<&[Routed]> {
    routed.chunk_by(|a, b| a.0 == b.0).flat_map(|shard| shard.chunks(most)).collect()
}
