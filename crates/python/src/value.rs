//! Python's dicts, lists and numbers in the shape of a TOML file, read by the same serde as the file.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::de::value::StringDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess};
use serde::de::{Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use thalweg_units::with_nearest;

use crate::errors::raised;

/// Reads a value; an error is raised as the exception of this name, with the path of the field that it is about.
pub(crate) fn read<T: DeserializeOwned>(object: &Bound<'_, PyAny>, class: &str) -> PyResult<T> {
    serde_path_to_error::deserialize(Object(object.clone())).map_err(|error| {
        let (path, message) = (error.path().to_string(), with_nearest(&error.inner().to_string()));
        match path.as_str() {
            "." => raised(object.py(), class, &message, None),
            path => raised(object.py(), class, &format!("{path}: {message}"), Some(path)),
        }
    })
}

/// Message of serde or Python.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Problem(String);

impl serde::de::Error for Problem {
    fn custom<T: std::fmt::Display>(message: T) -> Problem {
        Problem(message.to_string())
    }
}

impl From<PyErr> for Problem {
    fn from(error: PyErr) -> Problem {
        Problem(error.to_string())
    }
}

#[derive(Clone)]
struct Object<'py>(Bound<'py, PyAny>);

/// The quantities that may be numbers, with the suffix of their SI unit.
const UNITS: [(&str, &str); 3] = [("Rate", "bps"), ("Span", "s"), ("Bytes", "B")];

impl Object<'_> {
    /// The number, if it is one: Python's, or one of a library that converts to it, such as NumPy's.
    fn number(&self) -> Option<f64> {
        let number = self.0.is_instance_of::<PyFloat>() || self.0.is_instance_of::<PyInt>();
        let number = number || self.0.hasattr("__float__").unwrap_or(false);
        if number && !self.0.is_instance_of::<PyBool>() { self.0.extract().ok() } else { None }
    }

    /// The text of a string or of a path.
    fn text(&self) -> Result<Option<String>, Problem> {
        if let Ok(text) = self.0.cast::<PyString>() {
            return Ok(Some(text.to_str()?.to_owned()));
        }
        if self.0.hasattr("__fspath__")? {
            return Ok(Some(self.0.call_method0("__fspath__")?.extract()?));
        }
        Ok(None)
    }
}

impl<'de> Deserializer<'de> for Object<'_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let object = &self.0;
        if object.is_none() {
            return visitor.visit_unit();
        }
        if let Ok(flag) = object.cast::<PyBool>() {
            return visitor.visit_bool(flag.is_true());
        }
        if let Some(text) = self.text()? {
            return visitor.visit_string(text);
        }
        if let Ok(table) = object.cast::<PyDict>() {
            return visitor.visit_map(Table { items: table.items(), at: 0 });
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return visitor.visit_seq(Items(object.try_iter()?.collect::<PyResult<Vec<_>>>()?.into_iter()));
        }
        // An int of any library is one that can be an index.
        if object.hasattr("__index__")? {
            return match object.extract::<u64>() {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(object.extract()?),
            };
        }
        match self.number() {
            Some(number) => visitor.visit_f64(number),
            None => Err(Problem(format!(
                "{} is of the type {}: a dict, a list, a text, a number or None is expected",
                object.repr()?,
                object.get_type().name()?
            ))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        if self.0.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Problem> {
        let unit = UNITS.iter().find(|(quantity, _)| *quantity == name);
        match (unit, self.number()) {
            (Some((_, unit)), Some(number)) => visitor.visit_string(format!("{number}{unit}")),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if let Some(text) = self.text()? {
            return visitor.visit_enum(text.into_deserializer());
        }
        let one = self.0.cast::<PyDict>().ok().filter(|table| table.len() == 1);
        let Some(table) = one else {
            return Err(Problem(format!("{}: a choice of {name} is a text or a dict of one key", self.0.repr()?)));
        };
        let (key, content) = table.items().get_item(0)?.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        visitor.visit_enum(Choice { key: key_of(&key)?, content: Object(content) })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

fn key_of(key: &Bound<'_, PyAny>) -> Result<String, Problem> {
    key.extract().map_err(|_| Problem(format!("key {key} is not a string")))
}

struct Items<'py>(std::vec::IntoIter<Bound<'py, PyAny>>);

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Problem;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Problem> {
        self.0.next().map(|item| seed.deserialize(Object(item))).transpose()
    }
}

struct Table<'py> {
    items: Bound<'py, PyList>,
    at: usize,
}

impl<'py> Table<'py> {
    fn item(&self, part: usize) -> Result<Bound<'py, PyAny>, Problem> {
        Ok(self.items.get_item(self.at)?.get_item(part)?)
    }
}

impl<'de> MapAccess<'de> for Table<'_> {
    type Error = Problem;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Problem> {
        if self.at == self.items.len() {
            return Ok(None);
        }
        let key: StringDeserializer<Problem> = key_of(&self.item(0)?)?.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        let value = self.item(1)?;
        self.at += 1;
        seed.deserialize(Object(value))
    }
}

struct Choice<'py> {
    key: String,
    content: Object<'py>,
}

impl<'de, 'py> EnumAccess<'de> for Choice<'py> {
    type Error = Problem;
    type Variant = Object<'py>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Object<'py>), Problem> {
        let key: StringDeserializer<Problem> = self.key.into_deserializer();
        Ok((seed.deserialize(key)?, self.content))
    }
}

impl<'de> VariantAccess<'de> for Object<'_> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        let is_empty = self.0.is_none() || self.0.cast::<PyDict>().is_ok_and(|table| table.is_empty());
        if is_empty { Ok(()) } else { Err(Problem(format!("{}: this choice has no fields", self.0.repr()?))) }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Problem> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_any(visitor)
    }
}
