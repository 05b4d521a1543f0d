//! `.gowk` files on disk.

use super::{
    Persist,
    error::OpenError,
    head::{Head, RawHead},
};
use crate::{
    format::in_file_order,
    store::{Heap, Mapped, Store},
};
use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
    sync::Arc,
};
use tempfile::NamedTempFile;
use xxhash_rust::xxh3::Xxh3;

pub(super) fn save(filter: &impl Persist, path: &Path) -> io::Result<()> {
    replace(path, |file| {
        file.write_all(&super::head::encode(filter))?;
        for section in filter.sections() {
            let mut written = Ok(());
            in_file_order(section, |part| {
                if written.is_ok() {
                    written = file.write_all(part);
                }
            });
            written?;
        }
        Ok(())
    })
}

/// Puts what `write` writes in the place of a file, whole or not at all: to a temporary name beside it, to the disk, and then by one rename.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = beside(path)?;
    write(file.as_file_mut())?;
    put(file, path)
}

/// A file of a temporary name, beside one that it will replace.
pub(super) fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut options = tempfile::Builder::new();
    options.prefix(".gowk-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What a file created in the plain way would get; the system takes the umask off.
        options.permissions(std::fs::Permissions::from_mode(0o666));
    }
    options.tempfile_in(folder(path))
}

/// Puts a file that was written in the place of another, on the disk.
pub(super) fn put(file: NamedTempFile, path: &Path) -> io::Result<()> {
    // Who replaces a file wants its contents changed, not who may read it.
    if let Ok(old) = std::fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    // To the disk before the rename: else a crash could leave the new name on an empty file.
    file.as_file().sync_all()?;
    file.persist(path)?;
    // And the rename itself. A file system that cannot sync a folder has still renamed.
    if let Ok(folder) = File::open(folder(path)) {
        folder.sync_all().ok();
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

pub(super) fn load<F: Persist<Store = Heap>>(path: &Path) -> Result<F, OpenError> {
    let (mut file, raw, params) = read_head(path)?;
    let body = Heap::read(&mut file, raw.body_len)?;
    raw.check_body(body.lines())?;
    F::from_parts(&raw.head, raw.checked_params(&params)?, body)
}

pub(super) fn open<F: Persist<Store = Mapped>>(path: &Path) -> Result<F, OpenError> {
    let (file, raw, params) = read_head(path)?;
    let map = Mapped::map(&file)?;
    let body = raw.body_start()..map.len();
    let body = Mapped::new(Arc::new(map), body).ok_or(OpenError::Field {
        name: "the body",
        offset: 16,
        why: "cannot be mapped on this machine; load the file instead",
    })?;
    F::from_parts(&raw.head, raw.checked_params(&params)?, body)
}

pub(super) fn verify(path: &Path) -> Result<Head, OpenError> {
    let (mut file, raw, _) = read_head(path)?;
    let (mut sum, mut part) = (Xxh3::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut part) {
            Ok(0) => break,
            Ok(len) => sum.update(&part[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    raw.check_sum(sum.digest())?;
    Ok(raw.head)
}

/// The file behind its head, the head, and the bytes of its parameters, checked.
fn read_head(path: &Path) -> Result<(File, RawHead, Vec<u8>), OpenError> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut head = Vec::with_capacity(RawHead::BYTES);
    Read::by_ref(&mut file).take(RawHead::BYTES as u64).read_to_end(&mut head)?;
    let raw = RawHead::decode(&head, len)?;
    let mut params = vec![0; raw.body_start() - RawHead::BYTES];
    file.read_exact(&mut params)?;
    raw.checked_params(&params)?;
    Ok((file, raw, params))
}
