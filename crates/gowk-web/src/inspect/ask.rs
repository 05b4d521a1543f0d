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
use std::collections::BTreeMap;

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

/// As what the keys are to be taken, if the question can be answered.
pub(super) fn check(question: &Question, types: &[&str]) -> Result<KeyType, ApiError> {
    let key_type: KeyType = question.key_type.parse().map_err(ApiError::bad)?;
    if !types.contains(&key_type.name()) {
        return Err(ApiError::bad(match types.is_empty() {
            true => "this file is no filter and cannot be asked".to_owned(),
            false => format!("keys of this filter are asked as {}, not as {key_type}", types.join(", ")),
        }));
    }
    if question.keys.len() > MOST_KEYS {
        let keys = question.keys.len();
        return Err(ApiError::bad(format!(
            "{keys} keys are more than the {MOST_KEYS} that a page shows; gowk query takes any number"
        )));
    }
    Ok(key_type)
}

impl Question {
    /// What `make` makes of the keys that can be read, and the errors of the others by their place.
    pub(super) fn parse<T>(
        &self,
        key_type: KeyType,
        mut make: impl FnMut(KeyValue<'_>) -> T,
    ) -> (Vec<T>, BTreeMap<usize, String>) {
        let (mut made, mut wrong, mut scratch) = (Vec::new(), BTreeMap::new(), Vec::new());
        for (at, key) in self.keys.iter().enumerate() {
            match key_type.parse(key.as_bytes(), &mut scratch) {
                Ok(value) => made.push(make(value)),
                Err(error) => drop(wrong.insert(at, error.to_string())),
            }
        }
        (made, wrong)
    }

    /// The answers to the keys that could be read, among the errors of the others.
    pub(super) fn answers(&self, found: Vec<bool>, wrong: &BTreeMap<usize, String>) -> Value {
        let mut found = found.into_iter();
        let answer = |(at, key): (usize, &String)| match wrong.get(&at) {
            Some(error) => json!({ "key": key, "error": error }),
            None => {
                json!({ "key": key, "answer": if found.next().unwrap_or(false) { "maybe" } else { "no" } })
            }
        };
        json!({ "answers": self.keys.iter().enumerate().map(answer).collect::<Vec<_>>() })
    }
}

pub(super) fn ask(opened: &Opened, question: &Question) -> Result<Value, ApiError> {
    let key_type = check(question, &key_types(&opened.contents))?;
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
