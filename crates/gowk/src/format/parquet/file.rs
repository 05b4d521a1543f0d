//! Filters straight out of a Parquet file: the footer says where they are.

use super::{ColumnFilters, MAGIC, Physical, read};
use crate::format::foreign::{ForeignError, Format, fields::Fields};
use ::parquet::{
    basic::Type,
    file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData},
};
use alloc::{string::String, string::ToString, vec::Vec};

/// The columns of a Parquet file that have filters in at least one row group.
pub fn columns(file: &[u8]) -> Result<Vec<String>, ForeignError> {
    Ok(filtered(&footer(file)?))
}

/// The filters of a column, of all row groups; of the only column that has any, if none is named.
///
/// A row group without a filter could hold any value, so a column of which only some have one is refused.
pub fn read_column(file: &[u8], column: Option<&str>) -> Result<ColumnFilters, ForeignError> {
    let metadata = footer(file)?;
    let mut names = filtered(&metadata);
    let column = match (column, &names[..]) {
        (None, [only]) => only.clone(),
        (None, []) => return Err(ForeignError::NoFilters { column: None, filtered: names }),
        (None, _) => return Err(ForeignError::WhichColumn { filtered: names }),
        (Some(column), _) => column.to_string(),
    };
    if !names.contains(&column) {
        return Err(ForeignError::NoFilters { column: Some(column), filtered: names });
    }
    let (mut filters, mut physical) = (Vec::new(), Physical::Unknown);
    for group in metadata.row_groups() {
        let Some(chunk) = group.columns().iter().find(|chunk| chunk.column_path().string() == column) else {
            continue;
        };
        physical = physical_of(chunk.column_type());
        let Some(offset) = chunk.bloom_filter_offset() else {
            names.retain(|name| *name != column);
            return Err(ForeignError::NoFilters { column: Some(column), filtered: names });
        };
        let bytes = usize::try_from(offset).ok().and_then(|offset| file.get(offset..));
        let bytes = bytes.ok_or(ForeignError::Field {
            format: Format::Parquet,
            field: "bloom_filter_offset of the footer",
            offset: file.len() as u64 - 8,
            value: offset.into(),
            why: "it lies behind the end of the file",
        })?;
        filters.push(read(&mut Fields::starting_at(Format::Parquet, bytes, offset as u64))?);
    }
    Ok(ColumnFilters::new(column, physical, filters))
}

fn footer(file: &[u8]) -> Result<ParquetMetaData, ForeignError> {
    let cut = |needed: u64| ForeignError::Cut {
        format: Format::Parquet,
        field: "the footer",
        offset: 4,
        needed,
        found: (file.len() as u64).saturating_sub(4),
    };
    let (rest, magic) = file.split_last_chunk::<4>().ok_or_else(|| cut(8))?;
    let (rest, len) = rest.split_last_chunk::<4>().ok_or_else(|| cut(8))?;
    if magic != MAGIC {
        return Err(ForeignError::Footer("the file does not end with PAR1; it is cut, or encrypted".into()));
    }
    let len = u32::from_le_bytes(*len);
    let start = rest.len().checked_sub(len as usize).filter(|start| *start >= MAGIC.len());
    let start = start.ok_or_else(|| cut(u64::from(len) + 8))?;
    ParquetMetaDataReader::decode_metadata(&rest[start..])
        .map_err(|error| ForeignError::Footer(error.to_string()))
}

fn filtered(metadata: &ParquetMetaData) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for chunk in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
        if chunk.bloom_filter_offset().is_some() {
            let name = chunk.column_path().string();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn physical_of(kind: Type) -> Physical {
    match kind {
        Type::INT32 => Physical::Int32,
        Type::INT64 => Physical::Int64,
        Type::FLOAT => Physical::Float,
        Type::DOUBLE => Physical::Double,
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => Physical::Bytes,
        _ => Physical::Unknown,
    }
}
