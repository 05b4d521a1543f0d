//! A new generation beside the old one, and the switch.
//!
//! ```text
//! live 1                 begin: claim `building`, make its shards, set `next`, set the guards of 1 to "shadowed"
//! live 1, next 2         all adds go to 1 and 2; questions to 1; the builder fills 2
//! live 2, prev 1         switch, one command: questions go to 2; who has not noticed asks 1, so adds go on to both
//! live 2                 the shards of 1 are replaced by tombstones: who comes to one looks into the metadata
//! ```
//!
//! A key that was added to the filter at any time after `begin` returned is in the new generation. What was added before is there only if
//! the builder adds it.

use crate::{
    core::Core,
    error::{BatchError, Error},
    generation::Generation,
    meta::{self, Meta, call, key},
    write::Write,
};
use gowk::Digest;
use redis::{Value, cmd};
use std::sync::Arc;

impl Core {
    /// Claims the place of the next generation and makes it.
    pub(crate) async fn begin_rebuild(&self, next: &Generation) -> Result<Arc<Meta>, Error> {
        let meta = self.reload().await?;
        let claimed = call(
            &self.servers,
            &self.name,
            cmd("HSETNX").arg(key(&self.name)).arg("building").arg(next.encode()),
        )
        .await?;
        if claimed != Value::Int(1) {
            return Err(Error::Rebuilding { name: self.name.clone() });
        }
        let begun = async {
            // Somebody switched and has not come to the end.
            if let Some(prev) = &meta.prev {
                self.leave(prev).await?;
            }
            self.make_shards(next, meta.expires).await?;
            call(&self.servers, &self.name, cmd("HSET").arg(key(&self.name)).arg("next").arg(next.encode()))
                .await?;
            self.shadow(&meta.live, true).await?;
            let after = self.reload().await?;
            match after.live.id == meta.live.id && after.next.as_ref() == Some(next) {
                true => Ok(after),
                false => Err(Error::Changed { name: self.name.clone() }),
            }
        };
        match begun.await {
            // A filter that has lost shards is rebuilt all the same: that is what a rebuild is for.
            Err(Error::Lost { .. } | Error::WrongType { .. }) => self.reload().await,
            Err(error) => {
                self.abort_rebuild(next).await.ok();
                Err(error)
            }
            begun => begun,
        }
    }

    /// Writes into a generation that is being built, and only there.
    pub(crate) async fn write_next(
        &self,
        next: &Generation,
        digests: &[Digest],
    ) -> Result<Vec<bool>, BatchError> {
        // A filter whose only generation it is, as far as this one knows.
        let alone = Meta {
            live: next.clone(),
            ready: true,
            building: None,
            next: None,
            prev: None,
            expires: None,
            dropping: false,
        };
        Core::new(self.servers.clone(), &self.name, alone).write_alone(digests, Write::Set).await
    }

    /// Makes the next generation live, and takes leave of the one before.
    pub(crate) async fn switch(&self, next: &Generation) -> Result<(), Error> {
        let live = self.reload().await?.live.clone();
        if live.id != next.id && !meta::switch(&self.servers, &self.name, &live, next).await? {
            return Err(Error::Changed { name: self.name.clone() });
        }
        self.reload().await?;
        self.leave(&live).await
    }

    /// Frees a generation that is no longer live. From here on those who have not noticed the switch are told.
    async fn leave(&self, prev: &Generation) -> Result<(), Error> {
        self.retire(prev).await?;
        meta::forget(&self.servers, &self.name, "prev", prev).await?;
        self.reload().await.map(|_| ())
    }

    /// Gives up the next generation.
    pub(crate) async fn abort_rebuild(&self, next: &Generation) -> Result<(), Error> {
        meta::forget(&self.servers, &self.name, "next", next).await?;
        if meta::forget(&self.servers, &self.name, "building", next).await? {
            let meta = self.reload().await?;
            self.shadow(&meta.live, false).await.or_else(|error| match error {
                Error::Lost { .. } | Error::WrongType { .. } => Ok(()),
                error => Err(error),
            })?;
            self.unlink(next).await?;
        }
        Ok(())
    }
}
