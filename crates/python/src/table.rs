//! Tables by Arrow's PyCapsule interface.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array};
use arrow_array::{RecordBatch, RecordBatchIterator, StringArray, UInt32Array, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use thalweg_lab::metrics::FIGURES;
use thalweg_lab::outcome::{FrameRecord, Series};
use thalweg_lab::record::columns::COLUMNS;
use thalweg_lab::record::{Cells, Recorder, Values, cells};
use thalweg_lab::sweep::{Cell, Row, axes};

use crate::array::Array;

/// Columns of equal length.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Table(RecordBatch);

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The numbers of a column, without a copy.
    fn column(&self, name: &str) -> PyResult<Array> {
        let Some(column) = self.0.column_by_name(name) else {
            let known = self.column_names().join(", ");
            return Err(PyKeyError::new_err(format!("unknown column '{name}': expected one of {known}")));
        };
        let length = column.len();
        // A missing figure is NaN in its place; a whole number has nothing of the kind.
        let gaps = if *column.data_type() == DataType::Float64 { 0 } else { column.null_count() };
        if gaps > 0 {
            let message = format!("{gaps} of {length} rows have no '{name}': use to_pandas() or to_polars()");
            return Err(PyValueError::new_err(message));
        }
        match column.data_type() {
            DataType::Int64 => Ok(Array::shared::<i64>(column.as_primitive::<Int64Type>().values().inner(), length)),
            DataType::Int32 => Ok(Array::shared::<i32>(column.as_primitive::<Int32Type>().values().inner(), length)),
            DataType::UInt32 => Ok(Array::shared::<u32>(column.as_primitive::<UInt32Type>().values().inner(), length)),
            DataType::UInt64 => Ok(Array::shared::<u64>(column.as_primitive::<UInt64Type>().values().inner(), length)),
            DataType::Float64 => {
                Ok(Array::shared::<f64>(column.as_primitive::<Float64Type>().values().inner(), length))
            }
            other => Err(PyTypeError::new_err(format!(
                "'{name}' holds {other}, not numbers of a fixed width: use to_pandas() or to_polars()"
            ))),
        }
    }

    /// The table as an Arrow stream; what `requested_schema` asks for is not converted to.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// The types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.0.schema().as_ref()).map_err(broken)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }
}

fn broken(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A column with its name and whether a row may have no value.
type Column = (String, ArrayRef, bool);

fn table(columns: Vec<Column>) -> PyResult<Table> {
    let field = |(name, cells, optional): &Column| Field::new(name, cells.data_type().clone(), *optional);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    let cells = columns.into_iter().map(|(_, cells, _)| cells).collect();
    RecordBatch::try_new(Arc::new(schema), cells).map(Table).map_err(broken)
}

/// Every event, with the columns of `events.parquet`.
pub(crate) fn events(recorder: &Recorder) -> PyResult<Table> {
    let column = |(column, Cells { values, present }): (&thalweg_lab::record::columns::Column, Cells)| {
        let optional = present.is_some();
        let gaps = present.map(NullBuffer::from);
        let cells: ArrayRef = match values {
            Values::Long(values) => Arc::new(Int64Array::new(values.into(), gaps)),
            Values::Int(values) => Arc::new(Int32Array::new(values.into(), gaps)),
            Values::Double(values) => Arc::new(Float64Array::new(values.into(), gaps)),
            Values::Words { numbers, words } => {
                let words = Arc::new(StringArray::from(words));
                Arc::new(
                    DictionaryArray::<Int32Type>::try_new(Int32Array::new(numbers.into(), gaps), words)
                        .map_err(broken)?,
                )
            }
        };
        Ok((column.name.to_string(), cells, optional))
    };
    table(COLUMNS.iter().zip(cells(recorder.records())).map(column).collect::<PyResult<_>>()?)
}

/// The series of a run, a row for each bin.
pub(crate) fn series(series: &Series) -> PyResult<Table> {
    let Series { bin_s, capacity_mbps, available_mbps, sent_mbps, video_mbps, padding_mbps, delivered_mbps, .. } =
        series;
    let bins = sent_mbps.len();
    let time: Vec<f64> = (0..bins).map(|bin| bin as f64 * bin_s).collect();
    // A path without a bottleneck has no capacity.
    let of = |values: Vec<f64>| figures((0..bins).map(move |bin| values.get(bin).copied()));
    let columns = [
        ("time_s", time),
        ("capacity_mbps", capacity_mbps.clone()),
        ("available_mbps", available_mbps.clone()),
        ("sent_mbps", sent_mbps.clone()),
        ("video_mbps", video_mbps.clone()),
        ("padding_mbps", padding_mbps.clone()),
        ("delivered_mbps", delivered_mbps.clone()),
    ];
    table(columns.into_iter().map(|(name, values)| (name.into(), of(values), true)).collect())
}

/// Figures that a row may not have: NaN where it is missing.
fn figures(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    let (values, present): (Vec<f64>, Vec<bool>) =
        values.map(|value| (value.unwrap_or(f64::NAN), value.is_some())).unzip();
    Arc::new(Float64Array::new(values.into(), Some(present.into())))
}

/// Every captured picture.
pub(crate) fn frames(frames: &[FrameRecord]) -> PyResult<Table> {
    let optional = |of: fn(&FrameRecord) -> Option<f64>| figures(frames.iter().map(of));
    let captured: Float64Array = frames.iter().map(|frame| Some(frame.captured_s)).collect();
    let bytes: Int64Array = frames.iter().map(|frame| Some(frame.bytes as i64)).collect();
    let keyframe: BooleanArray = frames.iter().map(|frame| Some(frame.keyframe)).collect();
    let quantizer: Int32Array = frames.iter().map(|frame| frame.quantizer.map(i32::from)).collect();
    let height: Int32Array = frames.iter().map(|frame| Some(i32::from(frame.height))).collect();
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("captured_s", Arc::new(captured), false),
        ("queued_s", optional(|frame| frame.queued_s), true),
        ("sent_s", optional(|frame| frame.sent_s), true),
        ("displayed_s", optional(|frame| frame.displayed_s), true),
        ("latency_ms", optional(|frame| Some((frame.displayed_s? - frame.captured_s) * 1e3)), true),
        ("bytes", Arc::new(bytes), false),
        ("keyframe", Arc::new(keyframe), false),
        ("quantizer", Arc::new(quantizer), true),
        ("height", Arc::new(height), false),
        ("psnr_db", optional(|frame| frame.psnr_db), true),
        ("ssim", optional(|frame| frame.ssim), true),
        ("ms_ssim", optional(|frame| frame.ms_ssim), true),
        ("vmaf", optional(|frame| frame.vmaf), true),
    ];
    table(columns.into_iter().map(|(name, cells, optional)| (name.into(), cells, optional)).collect())
}

/// The rows of a sweep, with the columns of `results.parquet`.
pub(crate) fn rows(rows: &[Row]) -> PyResult<Table> {
    fn texts<T: ToString>(rows: &[Row], of: impl Fn(&Row) -> T) -> ArrayRef {
        Arc::new(rows.iter().map(|row| Some(of(row).to_string())).collect::<StringArray>())
    }
    let jobs: UInt32Array = rows.iter().map(|row| Some(row.job)).collect();
    let seeds: UInt64Array = rows.iter().map(|row| Some(row.seed)).collect();
    let mut columns: Vec<(String, ArrayRef, bool)> = vec![
        ("job".into(), Arc::new(jobs), false),
        ("key".into(), texts(rows, |row| row.key), false),
        ("scheme".into(), texts(rows, |row| row.scheme.clone()), false),
        ("seed".into(), Arc::new(seeds), false),
        ("trace".into(), texts(rows, |row| row.trace.clone()), false),
    ];
    for (place, (name, is_number)) in axes(rows).into_iter().enumerate() {
        let number = |row: &Row| match row.axes[place].1 {
            Cell::Number(number) => Some(number),
            Cell::Text(_) => None,
        };
        let cells: ArrayRef = match is_number {
            true => Arc::new(rows.iter().map(number).collect::<Float64Array>()),
            false => texts(rows, |row| row.axes[place].1.clone()),
        };
        columns.push((name, cells, false));
    }
    columns.extend([
        ("fingerprint".into(), texts(rows, |row| row.fingerprint.clone()), false),
        ("status".into(), texts(rows, |row| row.status), false),
        ("error".into(), texts(rows, |row| row.error.clone()), false),
    ]);
    let of = |place: usize| figures(rows.iter().map(move |row| row.figures.at(place)));
    columns.extend(FIGURES.iter().enumerate().map(|(place, name)| ((*name).to_string(), of(place), true)));
    table(columns)
}
