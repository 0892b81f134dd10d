//! Jobs and results as text, which any machine reads.

use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::errors::from;

pub(crate) fn to_json<T: Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| from("RunError", &error))
}

pub(crate) fn of_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| from("RunError", &error))
}
