//! The events as a Parquet file: one row per event, with the columns of [`Row`]. Written, and read again.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use super::columns::{COLUMNS, SCHEMA_VERSION};
use super::{Cells, Recorder, Row, Values, cells};

/// Why the file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// An error of the file system.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// An error of the Parquet library.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// The file has other columns.
    #[error("these are not the events of a run: its columns are {0}")]
    Columns(String),
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
        let mut out = writer.next_row_group()?;
        write_group(&mut out, &cells(block))?;
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

fn write_group(out: &mut SerializedRowGroupWriter<'_, File>, columns: &[Cells]) -> Result<(), TableError> {
    for Cells { values, present } in columns {
        let present = present.as_deref();
        match values {
            Values::Long(values) => write_present::<Int64Type>(out, values, present)?,
            Values::Int(values) => write_present::<Int32Type>(out, values, present)?,
            Values::Double(values) => write_present::<DoubleType>(out, values, present)?,
            Values::Words { numbers, words } => {
                let words: Vec<ByteArray> = words.iter().map(|word| ByteArray::from(*word)).collect();
                let values: Vec<ByteArray> = numbers.iter().map(|number| words[*number as usize].clone()).collect();
                write_present::<ByteArrayType>(out, &values, present)?;
            }
        }
    }
    Ok(())
}

/// Writes a column, of which the file has only the values that are there.
fn write_present<T: DataType>(
    out: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    present: Option<&[bool]>,
) -> Result<(), TableError> {
    let Some(present) = present else { return write_column::<T>(out, values, None) };
    let there = values.iter().zip(present).filter(|(_, present)| **present).map(|(value, _)| value.clone());
    let levels: Vec<i16> = present.iter().copied().map(i16::from).collect();
    write_column::<T>(out, &there.collect::<Vec<_>>(), Some(&levels))
}

pub(crate) fn write_column<T: DataType>(
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

/// Reads the file at `path` and passes each row, in order, to `see`.
///
/// # Errors
/// When it cannot be read, or has other columns.
pub fn read_table(path: &Path, see: &mut dyn FnMut(&Row<'_>)) -> Result<(), TableError> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let wanted = SchemaDescriptor::new(Arc::new(schema()?));
    let columns = file.metadata().file_metadata().schema_descr().columns();
    // A file that another program has written again may have other types, and nulls anywhere.
    let form = |column: &ColumnDescPtr| (column.name().to_string(), column.physical_type(), column.max_rep_level());
    if !columns.iter().map(form).eq(wanted.columns().iter().map(form)) {
        let names = columns.iter().map(|column| format!("{} ({})", column.name(), column.physical_type()));
        return Err(TableError::Columns(names.collect::<Vec<_>>().join(", ")));
    }
    for place in 0..file.num_row_groups() {
        let group = &*file.get_row_group(place)?;
        let whole = |column| optional::<Int64Type>(group, column);
        let (times, flows) = (required::<Int64Type>(group, 0)?, required::<Int32Type>(group, 1)?);
        let [events, what, why] = [2, 11, 12].map(|column| required::<ByteArrayType>(group, column));
        let (events, what, why) = (events?, what?, why?);
        let [packet, frame, picture, bytes, count, rate, span] = [3, 4, 5, 6, 7, 8, 9].map(whole);
        let (packet, frame, picture, bytes) = (packet?, frame?, picture?, bytes?);
        let (count, rate, span) = (count?, rate?, span?);
        let values = optional::<DoubleType>(group, 10)?;
        let unsigned = |value: Option<i64>| value.map(|value| value as u64);
        for row in 0..times.len() {
            see(&Row {
                time_ns: times[row] as u64,
                flow: flows[row] as u16,
                event: events[row].as_utf8()?,
                packet: unsigned(packet[row]),
                frame: unsigned(frame[row]),
                picture: unsigned(picture[row]),
                bytes: unsigned(bytes[row]),
                count: unsigned(count[row]),
                rate_bps: unsigned(rate[row]),
                span_ns: span[row],
                value: values[row],
                what: what[row].as_utf8()?,
                why: why[row].as_utf8()?,
                kind: 0,
            });
        }
    }
    Ok(())
}

/// The values of a column by row.
pub(crate) fn optional<T: DataType>(
    group: &dyn RowGroupReader,
    column: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let rows = group.metadata().num_rows() as usize;
    let (mut values, mut present) = (Vec::new(), Vec::new());
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(column)?);
    let (records, ..) = reader.read_records(rows, Some(&mut present), None, &mut values)?;
    if records != rows {
        return Err(ParquetError::EOF(format!("column {column} has {records} of {rows} rows")));
    }
    // A column without nulls does not say which rows have a value.
    present.resize(rows, 1);
    let mut values = values.into_iter();
    Ok(present.iter().map(|present| if *present > 0 { values.next() } else { None }).collect())
}

/// The values of a column that every row has.
pub(crate) fn required<T: DataType>(group: &dyn RowGroupReader, column: usize) -> Result<Vec<T::T>, ParquetError> {
    let values = optional::<T>(group, column)?.into_iter().collect::<Option<_>>();
    values.ok_or_else(|| ParquetError::General(format!("column {column} has a row without a value")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;
    use thalweg_units::Span;

    #[test]
    fn what_is_read_is_what_was_written() {
        let scenario = Scenario { duration: Span::from_secs(2), ..Scenario::over("2Mbps") };
        let scheme: thalweg_sender::Scheme = "vidaptive".parse().unwrap();
        let run = scenario.play(&scheme).unwrap();
        let path = std::env::temp_dir().join(format!("thalweg-events-{}.parquet", std::process::id()));
        write_table(&path, &run.recorder, &[]).unwrap();
        let mut written = run.recorder.records().map(Row::of);
        read_table(&path, &mut |read| {
            let written = written.next().unwrap();
            assert_eq!(columns_of(&written), columns_of(read));
        })
        .unwrap();
        assert!(written.next().is_none());
        std::fs::write(&path, "no parquet").unwrap();
        assert!(read_table(&path, &mut |_| {}).is_err());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_file_with_the_same_names_in_other_types_is_refused() {
        let column = |name| Type::primitive_type_builder(name, Physical::INT64).with_repetition(Repetition::REQUIRED);
        let fields = COLUMNS.iter().map(|known| Arc::new(column(known.name).build().unwrap())).collect();
        let schema = Arc::new(Type::group_type_builder("schema").with_fields(fields).build().unwrap());
        let path = std::env::temp_dir().join(format!("thalweg-other-types-{}.parquet", std::process::id()));
        let mut writer = SerializedFileWriter::new(File::create(&path).unwrap(), schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        (0..COLUMNS.len()).for_each(|_| write_column::<Int64Type>(&mut group, &[1], None).unwrap());
        group.close().unwrap();
        writer.close().unwrap();
        let error = read_table(&path, &mut |_| {}).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(error.contains("not the events of a run") && error.contains("flow (INT64)"), "{error}");
    }

    /// All that is in the file.
    fn columns_of(row: &Row<'_>) -> String {
        let Row {
            time_ns, flow, event, packet, frame, picture, bytes, count, rate_bps, span_ns, value, what, why, ..
        } = row;
        format!(
            "{time_ns} {flow} {event} {packet:?} {frame:?} {picture:?} {bytes:?} {count:?} {rate_bps:?} {span_ns:?} {value:?} {what} {why}"
        )
    }
}
