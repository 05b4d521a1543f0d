//! One key, as Python hands it over: str, bytes, int. Nothing else has bytes that are the same in every process.

use gowk::{Digest, KeyHash};
use pyo3::{
    buffer::PyBuffer,
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyByteArray, PyBytes, PyFloat, PyInt, PyMemoryView, PyString},
};

/// What takes keys, one after another.
pub(crate) trait Sink {
    /// An integer, as the 64 bits of its two's complement.
    fn int(&mut self, word: u64, negative: bool);
    /// Text or bytes, or the 16 bytes of a larger integer.
    fn bytes(&mut self, bytes: &[u8]);
    /// Something in the place of a null, where places matter; its answer is put right later.
    fn null(&mut self);
}

/// Takes one key's digest.
struct One<'a, H> {
    hash: &'a H,
    digest: Digest,
}

impl<H: KeyHash> Sink for One<'_, H> {
    #[inline(always)]
    fn int(&mut self, word: u64, _: bool) {
        self.digest = self.hash.word(word);
    }

    #[inline(always)]
    fn bytes(&mut self, bytes: &[u8]) {
        self.digest = self.hash.bytes(bytes);
    }

    fn null(&mut self) {}
}

/// The digest of a key.
#[inline(always)]
pub(crate) fn digest(key: &Bound<'_, PyAny>, hash: &impl KeyHash) -> PyResult<Digest> {
    let mut one = One { hash, digest: Digest::default() };
    feed(key, &mut one)?;
    Ok(one.digest)
}

/// Hands a key to a sink.
#[inline(always)]
pub(crate) fn feed(key: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<()> {
    // By far the most keys are of just these types; comparing the type itself is cheaper than asking for its flags. Asked before the cast, which
    // makes an error of a "no".
    if key.is_exact_instance_of::<PyString>()
        && let Ok(text) = key.cast_exact::<PyString>()
    {
        sink.bytes(text.to_str()?.as_bytes());
    } else if key.is_exact_instance_of::<PyInt>() {
        return feed_int(key, sink);
    } else if key.is_exact_instance_of::<PyBytes>()
        && let Ok(bytes) = key.cast_exact::<PyBytes>()
    {
        sink.bytes(bytes.as_bytes());
    } else {
        return feed_other(key, sink);
    }
    Ok(())
}

#[inline(always)]
fn feed_int(key: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<()> {
    match key.extract::<i64>() {
        Ok(int) => {
            sink.int(int as u64, int < 0);
            Ok(())
        }
        Err(error) => feed_large(key, error, sink),
    }
}

/// Integers beyond 64 bits have 16 bytes, as `u128` and `i128` have in Rust.
#[cold]
fn feed_large(key: &Bound<'_, PyAny>, error: PyErr, sink: &mut impl Sink) -> PyResult<()> {
    // Errors that PyO3 drops without its own note that this thread has the interpreter stay in memory.
    Python::attach(|_| {
        drop(error);
        feed_wide(key, sink)
    })
}

fn feed_wide(key: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<()> {
    if let Ok(int) = key.extract::<u64>() {
        sink.int(int, false);
    } else if let Ok(int) = key.extract::<u128>() {
        sink.bytes(&int.to_le_bytes());
    } else if let Ok(int) = key.extract::<i128>() {
        sink.bytes(&int.to_le_bytes());
    } else {
        return Err(PyValueError::new_err(
            "an integer of more than 128 bits is no key; give bytes of it, as by int.to_bytes",
        ));
    }
    Ok(())
}

/// Subclasses, what is as good as an integer (numpy's), and what is as good as bytes.
#[cold]
fn feed_other(key: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<()> {
    Python::attach(|_| feed_as_good(key, sink))
}

fn feed_as_good(key: &Bound<'_, PyAny>, sink: &mut impl Sink) -> PyResult<()> {
    if let Ok(text) = key.cast::<PyString>() {
        sink.bytes(text.to_str()?.as_bytes());
        return Ok(());
    }
    if let Ok(bytes) = key.cast::<PyBytes>() {
        sink.bytes(bytes.as_bytes());
        return Ok(());
    }
    if key.is_instance_of::<PyByteArray>() || key.is_instance_of::<PyMemoryView>() {
        let bytes = PyBuffer::<u8>::get(key)?.to_vec(key.py())?;
        sink.bytes(&bytes);
        return Ok(());
    }
    if key.is_instance_of::<PyInt>() || !key.is_instance_of::<PyFloat>() && key.hasattr("__index__")? {
        let int = key.call_method0("__index__")?;
        return feed_int(&int, sink);
    }
    Err(PyTypeError::new_err(format!("a key is str, bytes or int, not {}", key.get_type().name()?)))
}
