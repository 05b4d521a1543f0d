//! The same, for code that waits: each call blocks until it is done.
//!
//! ```no_run
//! use gowk_redis::{Options, Spec, blocking::Servers};
//!
//! let servers = Servers::connect(&["redis://127.0.0.1:6379"], Options::default())?;
//! let seen = servers.create("seen", &Spec::new(1_000_000, 0.01))?;
//! seen.add_many(&["alice", "bob"])?;
//! assert!(seen.may_contain("alice")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not to be called from async code, which would block its thread: there, use the types of the crate itself.

use crate::{BatchError, Error, Info, Listing, Options, Spec};
use gowk::{BlockedBloom, BlockedParams, CountingBloom, Hasher, Inserted, Key, Removed, store::Store};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::runtime::{Builder, Runtime};

/// Connections to one server or to all nodes of a cluster. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Servers {
    servers: crate::Servers,
    runtime: Arc<Runtime>,
}

impl Servers {
    /// Connects; see [`crate::Servers::connect`].
    pub fn connect<U: AsRef<str>>(urls: &[U], options: Options) -> Result<Self, Error> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("gowk-redis").enable_all().build();
        let runtime = runtime.map_err(|error| Error::Server(error.into()))?;
        let servers = runtime.block_on(crate::Servers::connect(urls, options))?;
        Ok(Self { servers, runtime: Arc::new(runtime) })
    }

    /// How many nodes take keys.
    pub fn masters(&self) -> usize {
        self.servers.masters()
    }

    /// Whether the commands of the module are used; see [`Options::module`].
    pub fn uses_module(&self) -> bool {
        self.servers.uses_module()
    }

    /// The filters that live on the servers, at most so many; see [`crate::Servers::list`].
    pub fn list(&self, most: usize) -> Result<Listing, Error> {
        self.wait(self.servers.list(most))
    }

    /// Creates a filter, or opens it if it is there with the same parameters.
    pub fn create(&self, name: &str, spec: &Spec) -> Result<Bloom, Error> {
        self.bloom(self.wait(crate::Bloom::create(&self.servers, name, spec)))
    }

    /// Opens a filter.
    pub fn open(&self, name: &str) -> Result<Bloom, Error> {
        self.bloom(self.wait(crate::Bloom::open(&self.servers, name)))
    }

    /// Opens a filter and holds it against what the caller expects.
    pub fn open_expecting(&self, name: &str, spec: &Spec) -> Result<Bloom, Error> {
        self.bloom(self.wait(crate::Bloom::open_expecting(&self.servers, name, spec)))
    }

    /// Brings a filter from memory or a file onto the servers; see [`crate::Bloom::import`].
    pub fn import<S: Store>(
        &self,
        name: &str,
        filter: &BlockedBloom<S>,
        spec: &Spec,
    ) -> Result<Bloom, Error> {
        self.bloom(self.wait(crate::Bloom::import(&self.servers, name, filter, spec)))
    }

    /// Creates a counting filter, or opens it if it is there with the same parameters.
    pub fn create_counting(&self, name: &str, spec: &Spec) -> Result<Counting, Error> {
        self.counting(self.wait(crate::Counting::create(&self.servers, name, spec)))
    }

    /// Opens a counting filter.
    pub fn open_counting(&self, name: &str) -> Result<Counting, Error> {
        self.counting(self.wait(crate::Counting::open(&self.servers, name)))
    }

    /// Brings a counting filter from memory or a file onto the servers, under a name that is free.
    pub fn import_counting<S: Store>(
        &self,
        name: &str,
        filter: &CountingBloom<S>,
        spec: &Spec,
    ) -> Result<Counting, Error> {
        self.counting(self.wait(crate::Counting::import(&self.servers, name, filter, spec)))
    }

    /// The kind of a filter; none if there is no filter of that name.
    pub fn kind(&self, name: &str) -> Result<Option<&'static str>, Error> {
        self.wait(self.servers.kind(name))
    }

    /// Removes a filter, of whatever kind and in whatever state.
    pub fn drop_filter(&self, name: &str) -> Result<(), Error> {
        self.wait(self.servers.drop_filter(name))
    }

    fn wait<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }

    fn bloom(&self, filter: Result<crate::Bloom, Error>) -> Result<Bloom, Error> {
        Ok(Bloom { filter: filter?, servers: self.clone() })
    }

    fn counting(&self, filter: Result<crate::Counting, Error>) -> Result<Counting, Error> {
        Ok(Counting { filter: filter?, servers: self.clone() })
    }
}

/// [`crate::Bloom`], blocking.
#[derive(Clone, Debug)]
pub struct Bloom {
    filter: crate::Bloom,
    servers: Servers,
}

impl Bloom {
    /// Its name.
    pub fn name(&self) -> &str {
        self.filter.name()
    }

    /// Size, shape and promise of the live generation, as last seen.
    pub fn params(&self) -> BlockedParams {
        self.filter.params()
    }

    /// How it hashes keys.
    pub fn hasher(&self) -> Hasher {
        self.filter.hasher()
    }

    /// Adds a key.
    pub fn add<K: Key + ?Sized>(&self, key: &K) -> Result<Inserted, Error> {
        self.servers.wait(self.filter.add(key))
    }

    /// Adds many keys; see [`crate::Bloom::add_many`].
    pub fn add_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Inserted>, BatchError> {
        self.servers.wait(self.filter.add_many(keys))
    }

    /// Whether the key may be in the set. `false` is certain.
    pub fn may_contain<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        self.servers.wait(self.filter.may_contain(key))
    }

    /// Whether each of these keys may be in the set.
    pub fn may_contain_many<K: Key>(&self, keys: &[K]) -> Result<Vec<bool>, BatchError> {
        self.servers.wait(self.filter.may_contain_many(keys))
    }

    /// What the filter holds.
    pub fn info(&self, exact: bool) -> Result<Info, Error> {
        self.servers.wait(self.filter.info(exact))
    }

    /// Forgets all keys, for all clients at once.
    pub fn clear(&self) -> Result<(), Error> {
        self.servers.wait(self.filter.clear())
    }

    /// Lets the filter expire as a whole, or (`None`) never.
    pub fn expire(&self, after: Option<Duration>) -> Result<(), Error> {
        self.servers.wait(self.filter.expire(after))
    }

    /// Begins a new generation beside this one; see [`crate::Bloom::rebuild`].
    pub fn rebuild(&self, spec: &Spec) -> Result<Rebuild, Error> {
        let rebuild = self.servers.wait(self.filter.rebuild(spec))?;
        Ok(Rebuild { rebuild, servers: self.servers.clone() })
    }

    /// Gives up a rebuild that somebody has left. True if there was one.
    pub fn abort_rebuild(&self) -> Result<bool, Error> {
        self.servers.wait(self.filter.abort_rebuild())
    }

    /// The filter in memory.
    pub fn export(&self) -> Result<BlockedBloom, Error> {
        self.servers.wait(self.filter.export())
    }

    /// Writes the filter to a file, shard after shard.
    pub fn export_to(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        self.servers.wait(self.filter.export_to(path))
    }

    /// Takes in all keys of a filter in memory or a file.
    pub fn merge<S: Store>(&self, filter: &BlockedBloom<S>) -> Result<(), Error> {
        self.servers.wait(self.filter.merge(filter))
    }

    /// Takes in all keys of another filter on servers.
    pub fn merge_from(&self, other: &Bloom) -> Result<(), Error> {
        self.servers.wait(self.filter.merge_from(&other.filter))
    }
}

/// [`crate::Rebuild`], blocking.
#[derive(Debug)]
#[must_use = "a rebuild takes effect when it is switched to"]
pub struct Rebuild {
    rebuild: crate::Rebuild,
    servers: Servers,
}

impl Rebuild {
    /// Adds keys to the new generation only.
    pub fn add_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Inserted>, BatchError> {
        self.servers.wait(self.rebuild.add_many(keys))
    }

    /// Makes it the one that is asked, for all clients at once, and frees the old one.
    pub fn switch(self) -> Result<(), Error> {
        self.servers.wait(self.rebuild.switch())
    }

    /// Gives it up.
    pub fn abort(self) -> Result<(), Error> {
        self.servers.wait(self.rebuild.abort())
    }
}

/// [`crate::Counting`], blocking.
#[derive(Clone, Debug)]
pub struct Counting {
    filter: crate::Counting,
    servers: Servers,
}

impl Counting {
    /// Its name.
    pub fn name(&self) -> &str {
        self.filter.name()
    }

    /// How it hashes keys.
    pub fn hasher(&self) -> Hasher {
        self.filter.hasher()
    }

    /// Counts a key once more.
    pub fn add<K: Key + ?Sized>(&self, key: &K) -> Result<Inserted, Error> {
        self.servers.wait(self.filter.add(key))
    }

    /// Counts many keys.
    pub fn add_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Inserted>, BatchError> {
        self.servers.wait(self.filter.add_many(keys))
    }

    /// Counts a key once less.
    pub fn remove<K: Key + ?Sized>(&self, key: &K) -> Result<Removed, Error> {
        self.servers.wait(self.filter.remove(key))
    }

    /// Counts many keys once less.
    pub fn remove_many<K: Key>(&self, keys: &[K]) -> Result<Vec<Removed>, BatchError> {
        self.servers.wait(self.filter.remove_many(keys))
    }

    /// How often the key has come, or more; 15 stands for 15 or more.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> Result<u32, Error> {
        self.servers.wait(self.filter.count(key))
    }

    /// How often each key has come, or more.
    pub fn count_many<K: Key>(&self, keys: &[K]) -> Result<Vec<u32>, BatchError> {
        self.servers.wait(self.filter.count_many(keys))
    }

    /// What the filter holds.
    pub fn info(&self, exact: bool) -> Result<Info, Error> {
        self.servers.wait(self.filter.info(exact))
    }

    /// Forgets all keys, for all clients at once.
    pub fn clear(&self) -> Result<(), Error> {
        self.servers.wait(self.filter.clear())
    }

    /// Lets the filter expire as a whole, or (`None`) never.
    pub fn expire(&self, after: Option<Duration>) -> Result<(), Error> {
        self.servers.wait(self.filter.expire(after))
    }

    /// The filter in memory.
    pub fn export(&self) -> Result<CountingBloom, Error> {
        self.servers.wait(self.filter.export())
    }

    /// Writes the filter to a file, shard after shard.
    pub fn export_to(&self, path: impl AsRef<Path>) -> Result<u64, Error> {
        self.servers.wait(self.filter.export_to(path))
    }
}
