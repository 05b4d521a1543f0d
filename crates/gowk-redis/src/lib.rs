#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod batch;
pub mod blocking;
mod bloom;
mod core;
pub mod counting;
mod create;
mod error;
mod generation;
mod info;
mod list;
mod meta;
mod net;
mod options;
mod packed;
mod read;
mod rebuild;
mod slots;
pub mod spec;
mod transfer;
mod write;

pub use bloom::{Bloom, Rebuild};
pub use counting::Counting;
pub use error::{BatchError, Error};
pub use info::Info;
pub use list::{Keeper, Listed, Listing};
pub use net::Servers;
pub use options::Options;
pub use spec::Spec;

impl Servers {
    /// The kind of a filter, "bloom" or "counting"; none if there is no filter of that name.
    pub async fn kind(&self, name: &str) -> Result<Option<&'static str>, Error> {
        meta::checked(name)?;
        let meta = meta::Meta::load(self, name).await?;
        Ok(meta.filter(|meta| !meta.dropping).map(|meta| meta.live.shape.kind()))
    }

    /// Removes a filter, of whatever kind and in whatever state. Its memory is freed by the servers in the background.
    pub async fn drop_filter(&self, name: &str) -> Result<(), Error> {
        core::Core::drop_named(self, name).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs spawn what they wait for, on threads of a runtime.
    #[test]
    fn everything_that_is_waited_for_can_be_spawned() {
        fn is_send<T: Send>(_: T) {}
        #[expect(dead_code, reason = "to be compiled is all that it is for")]
        fn all(
            servers: &Servers,
            seen: &Bloom,
            carts: &Counting,
            spec: &Spec,
            file: &gowk::BlockedBloom,
            counts: &gowk::CountingBloom,
        ) {
            is_send(Servers::connect(&["x"], Options::default()));
            is_send(servers.list(1));
            is_send(servers.drop_filter("x"));
            is_send(Bloom::create(servers, "x", spec));
            is_send(Bloom::open(servers, "x"));
            is_send(Bloom::import(servers, "x", file, spec));
            is_send(seen.add_many(&[1u64]));
            is_send(seen.add(&1u64));
            is_send(seen.may_contain_many(&[1u64]));
            is_send(seen.may_contain("x"));
            is_send(seen.info(true));
            is_send(seen.clear());
            is_send(seen.expire(None));
            is_send(seen.rebuild(spec));
            is_send(seen.export());
            is_send(seen.export_to("x"));
            is_send(seen.merge(file));
            is_send(seen.merge_from(seen));
            is_send(carts.add_many(&[1u64]));
            is_send(carts.remove_many(&[1u64]));
            is_send(carts.count_many(&[1u64]));
            is_send(carts.export());
            is_send(Counting::import(servers, "x", counts, spec));
        }
    }
}
