//! A file that is dropped on the page: to the disk as it comes, no further than the limit.

use crate::error::ApiError;
use axum::body::Body;
use http_body_util::BodyExt;
use std::{io::Write, path::Path};
use tempfile::NamedTempFile;

pub(super) async fn receive(mut body: Body, folder: &Path, most: u64) -> Result<NamedTempFile, ApiError> {
    let cannot = |error: std::io::Error| ApiError::failed(format!("the file cannot be kept: {error}"));
    let mut file = tempfile::Builder::new().suffix(".upload").tempfile_in(folder).map_err(cannot)?;
    let mut bytes = 0;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| ApiError::bad(format!("the file did not arrive whole: {error}")))?;
        let Some(data) = frame.data_ref() else { continue };
        bytes += data.len() as u64;
        if bytes > most {
            return Err(ApiError::too_large(format!(
                "the file is larger than {} MB, the most that can be dropped here; put it into a folder and start gowk web with that",
                most / 1_000_000
            )));
        }
        file.write_all(data).map_err(cannot)?;
    }
    file.flush().map_err(cannot)?;
    Ok(file)
}
