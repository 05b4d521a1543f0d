//! Files that are whole or not there.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// Puts what `write` writes in the place of a file: beside it, to the disk, and then by one rename.
pub(crate) fn replace<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> io::Result<T> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let mut options = tempfile::Builder::new();
    options.prefix(".gowk-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What a file created in the plain way would get; the system takes the umask off.
        options.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = options.tempfile_in(folder)?;
    let written = write(file.as_file_mut())?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(written)
}
