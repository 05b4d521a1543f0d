//! Arrow's arrays: integers, text and bytes in all their forms, also as dictionaries.

use super::{Part, memory, signed_int};
use crate::key::Sink;
use arrow_array::{
    Array, ArrayRef,
    cast::AsArray,
    types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type},
};
use arrow_buffer::NullBuffer;
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

    /// Hands the keys at these places to a sink; nulls as the empty key, or not at all.
    pub(super) fn feed(&self, range: Range<usize>, keep_places: bool, sink: &mut impl Sink) {
        let values = &*self.values;
        macro_rules! ints {
            ($type:ty, signed) => {{
                let values = values.as_primitive::<$type>().values();
                self.each(range, keep_places, sink, |sink, at| signed_int(values[at].into(), sink))
            }};
            ($type:ty, unsigned) => {{
                let values = values.as_primitive::<$type>().values();
                self.each(range, keep_places, sink, |sink, at| sink.int(values[at].into(), false))
            }};
        }
        macro_rules! bytes {
            ($values:expr) => {{
                let values = $values;
                self.each(range, keep_places, sink, |sink, at| sink.bytes(values.value(at).as_ref()))
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
            DataType::Utf8 => bytes!(values.as_string::<i32>()),
            DataType::LargeUtf8 => bytes!(values.as_string::<i64>()),
            DataType::Utf8View => bytes!(values.as_string_view()),
            DataType::Binary => bytes!(values.as_binary::<i32>()),
            DataType::LargeBinary => bytes!(values.as_binary::<i64>()),
            DataType::BinaryView => bytes!(values.as_binary_view()),
            DataType::FixedSizeBinary(_) => bytes!(values.as_fixed_size_binary()),
            DataType::Boolean => {
                let values = values.as_boolean();
                self.each(range, keep_places, sink, |sink, at| sink.int(values.value(at).into(), false));
            }
            // All null.
            _ => self.each(range, keep_places, sink, |sink, _| sink.null()),
        }
    }

    #[inline(always)]
    fn each<S: Sink>(
        &self,
        range: Range<usize>,
        keep_places: bool,
        sink: &mut S,
        mut value: impl FnMut(&mut S, usize),
    ) {
        match (&self.places, &self.nulls) {
            (None, None) => range.for_each(|at| value(sink, at)),
            (Some(places), None) => places[range].iter().for_each(|at| value(sink, *at)),
            (places, Some(nulls)) => {
                for at in range {
                    match (nulls.is_null(at), places) {
                        (true, _) if keep_places => sink.null(),
                        (true, _) => {}
                        (false, Some(places)) => value(sink, places[at]),
                        (false, None) => value(sink, at),
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
