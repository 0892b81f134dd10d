//! Numbers that NumPy views without a copy.

use arrow_buffer::{ArrowNativeType, Buffer};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// A column of numbers by NumPy's array interface (version 3), which needs nothing of NumPy to build: the stable ABI has no
/// buffers before Python 3.11.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Array {
    buffer: Buffer,
    /// NumPy's name of the type, such as `<f8`.
    kind: &'static str,
    length: usize,
}

/// A number with NumPy's name of its type on this machine; all that are built for are little-endian.
pub(crate) trait Number: ArrowNativeType {
    const KIND: &'static str;
}

impl Number for i64 {
    const KIND: &'static str = "<i8";
}

impl Number for i32 {
    const KIND: &'static str = "<i4";
}

impl Number for u32 {
    const KIND: &'static str = "<u4";
}

impl Number for u64 {
    const KIND: &'static str = "<u8";
}

impl Number for f32 {
    const KIND: &'static str = "<f4";
}

impl Number for f64 {
    const KIND: &'static str = "<f8";
}

impl Number for u8 {
    const KIND: &'static str = "|u1";
}

impl Array {
    /// These numbers.
    pub(crate) fn of<T: Number>(values: Vec<T>) -> Array {
        let length = values.len();
        Array { buffer: Buffer::from_vec(values), kind: T::KIND, length }
    }

    /// Truth values.
    pub(crate) fn flags(values: impl Iterator<Item = bool>) -> Array {
        Array { kind: "|b1", ..Array::of(values.map(u8::from).collect()) }
    }

    /// Numbers of a table's column, shared with it.
    pub(crate) fn shared<T: Number>(buffer: &Buffer, length: usize) -> Array {
        Array { buffer: buffer.clone(), kind: T::KIND, length }
    }

    /// As a `numpy.ndarray`.
    pub(crate) fn numpy(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        AS_ARRAY.import(py, "numpy", "asarray")?.call1((Bound::new(py, self)?,))
    }
}

#[pymethods]
impl Array {
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", self.kind)?;
        interface.set_item("shape", (self.length,))?;
        // The address, and that it is read only.
        interface.set_item("data", (self.buffer.as_ptr().addr(), true))?;
        Ok(interface)
    }

    fn __len__(&self) -> usize {
        self.length
    }
}
