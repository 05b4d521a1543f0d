//! Keys, asked of a filter.

use super::open::{Contents, Opened};
use crate::error::ApiError;
use gowk::{
    Filter, IntegerSet, Key,
    format::{
        foreign::{
            Foreign,
            keys::{MakersHash, NumberForm},
        },
        parquet::Physical,
    },
};
use gowk_jobs::input::{KeyType, Value as KeyValue};
use serde::Deserialize;
use serde_json::{Value, json};

/// The most keys of one question; the command line takes any number.
const MOST_KEYS: usize = 10_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    keys: Vec<String>,
    key_type: String,
}

/// As what keys can be asked, the likeliest first.
pub(super) fn key_types(contents: &Contents) -> Vec<&'static str> {
    let types: &[KeyType] = match contents {
        Contents::Ids(_) | Contents::Roaring(_) => &[KeyType::I64, KeyType::U64],
        Contents::Foreign(Foreign::Parquet(filters)) => match filters.physical() {
            Physical::Int32 => &[KeyType::I32],
            Physical::Int64 => &[KeyType::I64, KeyType::U64],
            Physical::Float | Physical::Double => &[KeyType::F64],
            // Of a bare filter nobody knows the type.
            _ if filters.column().is_none() => &KeyType::ALL,
            _ => &[KeyType::Text, KeyType::Hex, KeyType::Utf16],
        },
        Contents::Keys(_) | Contents::Foreign(_) => &KeyType::ALL,
        Contents::Other(_) => &[],
    };
    types.iter().map(|key_type| key_type.name()).collect()
}

pub(super) fn ask(opened: &Opened, question: &Question) -> Result<Value, ApiError> {
    let key_type: KeyType = question.key_type.parse().map_err(ApiError::bad)?;
    if !key_types(&opened.contents).contains(&key_type.name()) {
        let types = key_types(&opened.contents).join(", ");
        return Err(ApiError::bad(match types.is_empty() {
            true => "this file is no filter and cannot be asked".to_owned(),
            false => format!("keys of this filter are asked as {types}, not as {key_type}"),
        }));
    }
    if question.keys.len() > MOST_KEYS {
        let keys = question.keys.len();
        return Err(ApiError::bad(format!(
            "{keys} keys are more than the {MOST_KEYS} that a page shows; gowk query takes any number"
        )));
    }
    let mut scratch = Vec::new();
    let answers: Vec<Value> = question
        .keys
        .iter()
        .map(|key| match key_type.parse(key.as_bytes(), &mut scratch) {
            Ok(value) => json!({ "key": key, "answer": answer(&opened.contents, key_type, value) }),
            Err(error) => json!({ "key": key, "error": error.to_string() }),
        })
        .collect();
    Ok(json!({ "answers": answers }))
}

fn answer(contents: &Contents, key_type: KeyType, key: KeyValue<'_>) -> &'static str {
    let exact = |inside: bool| if inside { "yes" } else { "no" };
    let maybe = |inside: bool| if inside { "maybe" } else { "no" };
    match contents {
        Contents::Keys(filter) => maybe(filter.may_contain(&key)),
        Contents::Foreign(filter) => {
            let form = key_type.number().map_or(NumberForm::Eight, |number| filter.number_form(number));
            let hash = MakersHash::new(*filter.hasher(), form);
            maybe(filter.may_contain_digest(key.digest(&hash)))
        }
        Contents::Ids(ids) => exact(key.word().is_some_and(|id| ids.contains(id))),
        Contents::Roaring(ids) => exact(key.word().is_some_and(|id| ids.contains(id))),
        Contents::Other(_) => "no",
    }
}
