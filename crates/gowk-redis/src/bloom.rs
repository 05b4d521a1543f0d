//! The filter that most want: keys go in and are asked for.

use crate::{
    core::Core,
    create::{Kind, of_shape},
    error::{BatchError, Error},
    generation::{Generation, Shape},
    info::Info,
    net::Servers,
    spec::Spec,
    transfer::Source,
    write::Write,
};
use gowk::{
    BlockedBloom, BlockedParams, Build, Digest, Hasher, Inserted, Key, MergeError,
    store::{Line, Store},
};
use std::{path::Path, sync::Arc, time::Duration};

/// A Bloom filter spread over the servers. Cheap to clone; all clones share what they know of the filter.
///
/// ```no_run
/// use gowk_redis::{Bloom, Options, Servers, Spec};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let servers = Servers::connect(&["redis://127.0.0.1:6379"], Options::default()).await?;
/// let seen = Bloom::create(&servers, "seen", &Spec::new(100_000_000, 0.01)).await?;
/// seen.add_many(&["alice", "bob"]).await?;
/// assert!(seen.may_contain("alice").await?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Bloom {
    core: Arc<Core>,
}

impl Bloom {
    /// Creates the filter, or opens it if it is there with the same parameters. Two who create at once agree on one filter.
    pub async fn create(servers: &Servers, name: &str, spec: &Spec) -> Result<Self, Error> {
        let (core, _) = Core::create(servers, name, Kind::Bloom, spec).await?;
        Ok(Self { core: Arc::new(core) })
    }

    /// Opens a filter; its parameters come from the servers.
    pub async fn open(servers: &Servers, name: &str) -> Result<Self, Error> {
        Ok(Self { core: Arc::new(Core::open(servers, name, Kind::Bloom).await?) })
    }

    /// Opens a filter and holds it against what the caller expects.
    pub async fn open_expecting(servers: &Servers, name: &str, spec: &Spec) -> Result<Self, Error> {
        let filter = Self::open(servers, name).await?;
        filter.core.expect(Kind::Bloom, spec)?;
        Ok(filter)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Size, shape and promise of the live generation, as last seen.
    pub fn params(&self) -> BlockedParams {
        params(&self.core.meta().live)
    }

    /// How it hashes keys; all its generations do it alike.
    pub fn hasher(&self) -> Hasher {
        self.core.hasher
    }

    /// Adds a key.
    pub async fn add<K: Key + ?Sized>(&self, key: &K) -> Result<Inserted, Error> {
        Ok(self.add_many(&[key]).await?[0])
    }

    /// Adds many keys; far faster than one by one. Adding is idempotent: what fails can be added again, and is, for as long as
    /// [`patience`](crate::Options::patience) lasts. A key whose add was repeated may be told to have been seen.
    ///
    /// On an error the keys that it names were not added, or not confirmed; all others were.
    pub async fn add_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Inserted>, BatchError> {
        let new = self.core.write(&self.core.digests(keys), Write::Set).await?;
        Ok(new.into_iter().map(|new| if new { Inserted::New } else { Inserted::MaybeSeen }).collect())
    }

    /// Whether the key may be in the set. `false` is certain.
    pub async fn may_contain<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        Ok(self.may_contain_many(&[key]).await?[0])
    }

    /// Whether each of these keys may be in the set.
    pub async fn may_contain_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, BatchError> {
        let covers = |generation: &Generation, block: &[u8], digest| params(generation).covers(block, digest);
        self.core.read(&self.core.digests(keys), covers, Some(std::convert::identity)).await
    }

    /// What the filter holds: exactly, counting all bits, or from some of the shards.
    pub async fn info(&self, exact: bool) -> Result<Info, Error> {
        self.core.info(exact).await
    }

    /// Forgets all keys, for all clients at once: a switch to an empty generation. For a moment it takes its memory twice.
    pub async fn clear(&self) -> Result<(), Error> {
        let live = self.core.reload().await?.live.clone();
        let empty = Generation::new(live.shape, live.shard_blocks, live.hasher);
        self.core.begin_rebuild(&empty).await?;
        self.core.switch(&empty).await
    }

    /// Lets the filter expire as a whole, or (`None`) never.
    pub async fn expire(&self, after: Option<Duration>) -> Result<(), Error> {
        self.core.expire(after).await
    }

    /// Begins a new generation beside this one, which goes on to answer. Keys that anybody adds from now on go to both.
    ///
    /// Hash and seed stay what they are; drop the filter and create it anew to change them.
    pub async fn rebuild(&self, spec: &Spec) -> Result<Rebuild, Error> {
        let next = Kind::Bloom.generation(&spec.clone().hasher(&self.core.hasher))?;
        self.core.begin_rebuild(&next).await?;
        Ok(Rebuild { core: self.core.clone(), next })
    }

    /// Gives up a rebuild that somebody has left. True if there was one.
    pub async fn abort_rebuild(&self) -> Result<bool, Error> {
        match &self.core.reload().await?.building {
            Some(next) => self.core.abort_rebuild(next).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// The filter in memory, to ask or to save as a `.gowk` file. Every key that was added before is in it; one that is added meanwhile may be.
    pub async fn export(&self) -> Result<BlockedBloom, Error> {
        let live = self.core.reload().await?.live.clone();
        let mut filter = BlockedBloom::with_params(params(&live), live.hasher)?;
        self.core
            .read_shards(&live, |shard, bytes| {
                let first = (shard * live.shard_blocks * live.shape.span().lines()) as usize;
                let (lines, _) = bytes.as_chunks::<{ Line::BYTES }>();
                for (to, from) in filter.lines_mut()[first..].iter_mut().zip(lines) {
                    *to = Line::from_le_bytes(from);
                }
                Ok(())
            })
            .await?;
        Ok(filter)
    }

    /// Writes the filter to a `.gowk` file, shard after shard, so that it need not fit into memory here; gives back how many bytes it has.
    /// The file is whole or not there. As [`export`](Self::export), of keys that are added meanwhile.
    pub async fn export_to(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        self.core.export_to(path.as_ref()).await
    }

    /// Brings a filter from memory or a file onto the servers: creates it with the same shape and seed, or takes it into one that is there
    /// and has them.
    pub async fn import<S: Store>(
        servers: &Servers,
        name: &str,
        filter: &BlockedBloom<S>,
        spec: &Spec,
    ) -> Result<Self, Error> {
        let spec = spec.clone().hasher(gowk::Filter::hasher(filter));
        let wanted = of_shape(Shape::Bloom(*filter.params()), &spec)?;
        let (core, _) = Core::create_as(servers, name, &wanted, &spec).await?;
        let bloom = Self { core: Arc::new(core) };
        bloom.merge(filter).await?;
        Ok(bloom)
    }

    /// Takes in all keys of a filter in memory or a file of the same shape and seed; of one with a multiple of the blocks, folded.
    pub async fn merge<S: Store>(&self, filter: &BlockedBloom<S>) -> Result<(), Error> {
        let meta = self.quiet().await?;
        let folded =
            fit(&params(&meta.live), &meta.live.hasher, filter.params(), gowk::Filter::hasher(filter))?;
        let heap = match folded {
            1 => None,
            factor => {
                let mut heap = filter.to_heap()?;
                heap.fold(factor)?;
                Some(heap)
            }
        };
        let lines = heap.as_ref().map_or(filter.lines(), BlockedBloom::lines);
        self.core.or_shards(&meta.live, meta.expires, &Source::of_lines(lines, &meta.live)).await?;
        self.core.unchanged(&meta.live).await
    }

    /// Takes in all keys of another filter on servers, these or others, of the same shape and seed. It need not fit into memory here.
    pub async fn merge_from(&self, other: &Bloom) -> Result<(), Error> {
        let meta = self.quiet().await?;
        let theirs = other.core.reload().await?.live.clone();
        let factor = fit(&params(&meta.live), &meta.live.hasher, &params(&theirs), &theirs.hasher)?;
        if factor != 1 {
            return Err(
                MergeError::Sizes { ours: meta.live.shape.blocks(), theirs: theirs.shape.blocks() }.into()
            );
        }
        if theirs.shard_blocks != meta.live.shard_blocks {
            let (ours, theirs) = (meta.live.shard_blocks, theirs.shard_blocks);
            return Err(MergeError::Params { what: "blocks per shard", ours, theirs }.into());
        }
        let source = Source::Servers { core: &other.core, generation: &theirs };
        self.core.or_shards(&meta.live, meta.expires, &source).await?;
        self.core.unchanged(&meta.live).await
    }

    /// The metadata, if nobody is rebuilding.
    async fn quiet(&self) -> Result<Arc<crate::meta::Meta>, Error> {
        let meta = self.core.reload().await?;
        match meta.building.is_none() && meta.beside().is_none() {
            true => Ok(meta),
            false => Err(Error::Rebuilding { name: self.name().to_owned() }),
        }
    }
}

impl std::fmt::Debug for Bloom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bloom")
            .field("name", &self.core.name)
            .field("params", &self.params())
            .finish_non_exhaustive()
    }
}

fn params(generation: &Generation) -> BlockedParams {
    match &generation.shape {
        Shape::Bloom(params) => *params,
        Shape::Counting(_) => {
            unreachable!("the kind is compared when a filter is opened, and a rebuild keeps it")
        }
    }
}

/// By what factor theirs is to be folded to fit into ours.
fn fit(
    ours: &BlockedParams,
    our_hasher: &Hasher,
    theirs: &BlockedParams,
    their_hasher: &Hasher,
) -> Result<u64, MergeError> {
    our_hasher.fits(their_hasher)?;
    let same = |what, ours, theirs| {
        if ours == theirs { Ok(()) } else { Err(MergeError::Params { what, ours, theirs }) }
    };
    same("lines per block", ours.span().lines(), theirs.span().lines())?;
    same("bits per key and line", ours.lanes().into(), theirs.lanes().into())?;
    match theirs.blocks().is_multiple_of(ours.blocks()) {
        true => Ok(theirs.blocks() / ours.blocks()),
        false => Err(MergeError::Sizes { ours: ours.blocks(), theirs: theirs.blocks() }),
    }
}

/// A new generation that is being built. Dropping this value leaves it as it is: clients go on to add to both; see
/// [`Bloom::abort_rebuild`].
#[must_use = "a rebuild takes effect when it is switched to"]
pub struct Rebuild {
    core: Arc<Core>,
    next: Generation,
}

impl Rebuild {
    /// Size, shape and promise of the new generation.
    pub fn params(&self) -> BlockedParams {
        params(&self.next)
    }

    /// Adds keys to the new generation only.
    pub async fn add_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Inserted>, BatchError> {
        let digests: Vec<Digest> = keys.iter().map(|key| self.next.hasher.digest(key)).collect();
        let new = self.core.write_next(&self.next, &digests).await?;
        Ok(new.into_iter().map(|new| if new { Inserted::New } else { Inserted::MaybeSeen }).collect())
    }

    /// Makes it the one that is asked, for all clients at once, and frees the old one.
    pub async fn switch(self) -> Result<(), Error> {
        self.core.switch(&self.next).await
    }

    /// Gives it up.
    pub async fn abort(self) -> Result<(), Error> {
        self.core.abort_rebuild(&self.next).await
    }
}

impl std::fmt::Debug for Rebuild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rebuild")
            .field("name", &self.core.name)
            .field("params", &self.params())
            .finish_non_exhaustive()
    }
}
