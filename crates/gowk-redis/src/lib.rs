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
