//! How a filter hashes, whoever made it; and the seed, as Python gives it.

use gowk::{Digest, Hasher, KeyHash, Seed, format::foreign::keys::MakersHash};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyBytes,
};

/// The hash of our own filters, or that of another system with its form of numbers.
#[derive(Clone, Copy)]
pub(crate) enum Hash {
    Own(Hasher),
    Makers { hash: MakersHash, key_type: &'static str },
}

impl KeyHash for Hash {
    #[inline(always)]
    fn bytes(&self, bytes: &[u8]) -> Digest {
        match self {
            Self::Own(hasher) => hasher.bytes(bytes),
            Self::Makers { hash, .. } => hash.bytes(bytes),
        }
    }

    #[inline(always)]
    fn word(&self, word: u64) -> Digest {
        match self {
            Self::Own(hasher) => hasher.word(word),
            Self::Makers { hash, .. } => hash.word(word),
        }
    }
}

/// A seed as Python gives it: an integer of 64 bits, or the 16 bytes that `filter.seed` gives.
pub(crate) struct PySeed(pub(crate) Seed);

impl<'py> FromPyObject<'_, 'py> for PySeed {
    type Error = PyErr;

    fn extract(seed: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = seed.cast::<PyBytes>() {
            return match bytes.as_bytes().try_into() {
                Ok(bytes) => Ok(Self(Seed::from_bytes(bytes))),
                Err(_) => Err(PyValueError::new_err(format!(
                    "a seed of bytes has 16 of them, not {}",
                    bytes.as_bytes().len()
                ))),
            };
        }
        match seed.extract::<u64>() {
            Ok(word) => Ok(Self(Seed::from(word))),
            Err(_) if seed.is_instance_of::<pyo3::types::PyInt>() => {
                Err(PyValueError::new_err("a seed is an integer from 0 to 2**64 - 1, or 16 bytes"))
            }
            Err(_) => Err(PyTypeError::new_err("a seed is an integer, or 16 bytes")),
        }
    }
}
