//! The events as a Parquet file: one row per event, with the columns of [`Row`].

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::columns::{COLUMNS, SCHEMA_VERSION};
use super::{Recorder, Row};

/// Why the file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// An error of the file system.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// An error of the Parquet library.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
}

/// Writes all records to `path`, with `metadata` and the columns' units as key-value metadata of the file, whose keys
/// begin with `thalweg.`.
///
/// # Errors
/// When the file cannot be created or written.
pub fn write_table(path: &Path, recorder: &Recorder, metadata: &[(&str, String)]) -> Result<(), TableError> {
    // Min and max statistics would cost more than everything else, and a run's events are not filtered by them.
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_key_value_metadata(Some(key_values(recorder, metadata)))
        .build();
    let mut writer = SerializedFileWriter::new(File::create(path)?, Arc::new(schema()?), Arc::new(properties))?;
    for block in recorder.blocks() {
        let rows: Vec<Row> = block.iter().map(Row::of).collect();
        let mut out = writer.next_row_group()?;
        write_group(&mut out, &rows)?;
        out.close()?;
    }
    writer.close()?;
    Ok(())
}

fn key_values(recorder: &Recorder, metadata: &[(&str, String)]) -> Vec<KeyValue> {
    let units = COLUMNS.iter().map(|column| (column.name.into(), column.unit.into())).collect();
    let known = [
        ("schema_version", SCHEMA_VERSION.to_string()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("fingerprint", format!("{:016x}", recorder.fingerprint())),
        ("units", serde_json::Value::Object(units).to_string()),
    ];
    let all = known.iter().chain(metadata);
    all.map(|(key, value)| KeyValue::new(format!("thalweg.{key}"), value.clone())).collect()
}

fn schema() -> Result<Type, ParquetError> {
    let column = |name: &str, physical: Physical, repetition: Repetition| {
        let text = physical == Physical::BYTE_ARRAY;
        let logical = text.then_some(LogicalType::String);
        let built =
            Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical).build();
        built.map(Arc::new)
    };
    let fields = vec![
        column("time_ns", Physical::INT64, Repetition::REQUIRED)?,
        column("flow", Physical::INT32, Repetition::REQUIRED)?,
        column("event", Physical::BYTE_ARRAY, Repetition::REQUIRED)?,
        column("packet", Physical::INT64, Repetition::OPTIONAL)?,
        column("frame", Physical::INT64, Repetition::OPTIONAL)?,
        column("picture", Physical::INT64, Repetition::OPTIONAL)?,
        column("bytes", Physical::INT64, Repetition::OPTIONAL)?,
        column("count", Physical::INT64, Repetition::OPTIONAL)?,
        column("rate_bps", Physical::INT64, Repetition::OPTIONAL)?,
        column("span_ns", Physical::INT64, Repetition::OPTIONAL)?,
        column("value", Physical::DOUBLE, Repetition::OPTIONAL)?,
        column("what", Physical::BYTE_ARRAY, Repetition::REQUIRED)?,
        column("why", Physical::BYTE_ARRAY, Repetition::REQUIRED)?,
    ];
    Type::group_type_builder("event").with_fields(fields).build()
}

/// A column of optional integers.
type Column = fn(&Row) -> Option<i64>;

fn whole(value: Option<u64>) -> Option<i64> {
    value.map(|value| value as i64)
}

fn write_group(out: &mut SerializedRowGroupWriter<'_, File>, rows: &[Row]) -> Result<(), TableError> {
    let columns: [Column; 7] = [
        |row| whole(row.packet),
        |row| whole(row.frame),
        |row| whole(row.picture),
        |row| whole(row.bytes),
        |row| whole(row.count),
        |row| whole(row.rate_bps),
        |row| row.span_ns,
    ];
    let times: Vec<i64> = rows.iter().map(|row| row.time_ns as i64).collect();
    write::<Int64Type>(out, &times, None)?;
    let flows: Vec<i32> = rows.iter().map(|row| row.flow.into()).collect();
    write::<Int32Type>(out, &flows, None)?;
    write_text(out, rows, |row| row.event)?;
    for column in columns {
        let present: Vec<i16> = rows.iter().map(|row| i16::from(column(row).is_some())).collect();
        let values: Vec<i64> = rows.iter().filter_map(column).collect();
        write::<Int64Type>(out, &values, Some(&present))?;
    }
    let present: Vec<i16> = rows.iter().map(|row| i16::from(row.value.is_some())).collect();
    let values: Vec<f64> = rows.iter().filter_map(|row| row.value).collect();
    write::<DoubleType>(out, &values, Some(&present))?;
    write_text(out, rows, |row| row.what)?;
    write_text(out, rows, |row| row.why)
}

fn write_text(
    out: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Row],
    text: impl Fn(&Row) -> &'static str,
) -> Result<(), TableError> {
    let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(text(row))).collect();
    write::<ByteArrayType>(out, &values, None)
}

fn write<T: parquet::data_type::DataType>(
    out: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), TableError> {
    if let Some(mut column) = out.next_column()? {
        column.typed::<T>().write_batch(values, present, None)?;
        column.close()?;
    }
    Ok(())
}
