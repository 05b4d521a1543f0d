//! Arrow's arrays: integers, text and bytes in all their forms, also as dictionaries.

use super::{Part, memory, signed_int};
use crate::key::Sink;
use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type},
};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::DataType;
use pyo3::{exceptions::PyTypeError, prelude::*};
use std::ops::Range;

/// An array whose values are keys.
pub(crate) struct Keys {
    values: ArrayRef,
    /// Where the array is a dictionary: which of the values each place has.
    places: Option<Vec<usize>>,
    nulls: Option<NullBuffer>,
    len: usize,
}

/// The arrays of an object of Arrow's kind; none if it is something else.
pub(super) fn parts(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Part>>> {
    let Some(arrays) = memory::arrow_arrays(object)? else { return Ok(None) };
    arrays.into_iter().map(|array| Keys::new(array).map(Part::Arrow)).collect::<PyResult<_>>().map(Some)
}

impl Keys {
    fn new(array: ArrayRef) -> PyResult<Self> {
        let (len, nulls) = (array.len(), array.logical_nulls().filter(|nulls| nulls.null_count() > 0));
        let (values, places) = match array.as_any_dictionary_opt() {
            None => (array, None),
            Some(dictionary) if dictionary.values().is_empty() => {
                (dictionary.values().clone(), Some(Vec::new()))
            }
            Some(dictionary) => (dictionary.values().clone(), Some(dictionary.normalized_keys())),
        };
        match can_be_keys(values.data_type()) {
            true => Ok(Self { values, places, nulls, len }),
            false => Err(PyTypeError::new_err(match values.data_type() {
                DataType::Struct(_) => "a table has no plain keys; give one of its columns".to_owned(),
                other => format!("an array of {other} has no keys: a key is str, bytes or int"),
            })),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn null_count(&self) -> usize {
        self.nulls.as_ref().map_or(0, NullBuffer::null_count)
    }

    pub(super) fn null_places(&self) -> impl Iterator<Item = usize> + '_ {
        let nulls = self.nulls.iter();
        nulls.flat_map(|nulls| (0..nulls.len()).filter(|place| nulls.is_null(*place)))
    }

    pub(super) fn are_ints(&self) -> bool {
        self.values.data_type().is_integer()
            || matches!(self.values.data_type(), DataType::Boolean | DataType::Null)
    }

    /// Hands the integers at these places to a sink, where the keys are integers; of nulls none, or that there is one.
    pub(super) fn feed_ints(&self, range: Range<usize>, keep_places: bool, sink: &mut impl Sink) {
        let values = &*self.values;
        macro_rules! ints {
            ($type:ty, signed) => {{
                let values = values.as_primitive::<$type>().values();
                self.each(range, keep_places, |at| match at {
                    Some(at) => signed_int(values[at].into(), sink),
                    None => sink.null(),
                })
            }};
            ($type:ty, unsigned) => {{
                let values = values.as_primitive::<$type>().values();
                self.each(range, keep_places, |at| match at {
                    Some(at) => sink.int(values[at].into(), false),
                    None => sink.null(),
                })
            }};
        }
        match values.data_type() {
            DataType::Int8 => ints!(Int8Type, signed),
            DataType::Int16 => ints!(Int16Type, signed),
            DataType::Int32 => ints!(Int32Type, signed),
            DataType::Int64 => ints!(Int64Type, signed),
            DataType::UInt8 => ints!(UInt8Type, unsigned),
            DataType::UInt16 => ints!(UInt16Type, unsigned),
            DataType::UInt32 => ints!(UInt32Type, unsigned),
            DataType::UInt64 => ints!(UInt64Type, unsigned),
            DataType::Boolean => {
                let values = values.as_boolean();
                self.each(range, keep_places, |at| match at {
                    Some(at) => sink.int(values.value(at).into(), false),
                    None => sink.null(),
                });
            }
            // All null.
            _ => self.each(range, keep_places, |_| sink.null()),
        }
    }

    /// The bytes of the keys at these places, where the keys are text or bytes; of nulls none, or an empty key.
    pub(super) fn slices<'a>(&'a self, range: Range<usize>, keep_places: bool, slices: &mut Vec<&'a [u8]>) {
        let values = &*self.values;
        macro_rules! bytes {
            ($values:expr) => {{
                let values = $values;
                self.each(range, keep_places, |at| {
                    slices.push(match at {
                        Some(at) => values.value(at).as_ref(),
                        None => b"",
                    });
                })
            }};
        }
        // Values one behind the other, and all of them wanted: by far the commonest columns.
        macro_rules! in_a_row {
            ($values:expr) => {{
                let values = $values;
                if self.places.is_some() || self.nulls.is_some() {
                    bytes!(values)
                } else {
                    let (data, ends) =
                        (values.value_data(), &values.value_offsets()[range.start..=range.end]);
                    slices.extend(ends.windows(2).map(|ends| &data[ends[0].as_usize()..ends[1].as_usize()]))
                }
            }};
        }
        match values.data_type() {
            DataType::Utf8 => in_a_row!(values.as_string::<i32>()),
            DataType::LargeUtf8 => in_a_row!(values.as_string::<i64>()),
            DataType::Utf8View => bytes!(values.as_string_view()),
            DataType::Binary => in_a_row!(values.as_binary::<i32>()),
            DataType::LargeBinary => in_a_row!(values.as_binary::<i64>()),
            DataType::BinaryView => bytes!(values.as_binary_view()),
            DataType::FixedSizeBinary(_) => bytes!(values.as_fixed_size_binary()),
            other => unreachable!("{other} has no bytes"),
        }
    }

    /// Which of the values the keys in this range are; none for a null whose place is kept.
    #[inline(always)]
    fn each(&self, range: Range<usize>, keep_places: bool, mut value: impl FnMut(Option<usize>)) {
        match (&self.places, &self.nulls) {
            (None, None) => range.for_each(|at| value(Some(at))),
            (Some(places), None) => places[range].iter().for_each(|at| value(Some(*at))),
            (places, Some(nulls)) => {
                for at in range {
                    match (nulls.is_null(at), places) {
                        (true, _) if keep_places => value(None),
                        (true, _) => {}
                        (false, Some(places)) => value(Some(places[at])),
                        (false, None) => value(Some(at)),
                    }
                }
            }
        }
    }
}

fn can_be_keys(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Utf8
                | DataType::LargeUtf8
                | DataType::Utf8View
                | DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
                | DataType::Boolean
                | DataType::Null
        )
}
