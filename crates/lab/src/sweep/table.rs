//! The rows as a Parquet file: one row for each job, in order of its number.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use super::{Cell, Figures, Row, Status, axes};
use crate::behaviour::BEHAVIOUR;
use crate::metrics::FIGURES;
use crate::record::{TableError, optional, required, write_column};

/// Rows of a group.
const GROUP: usize = 4096;

/// Author of the file, whichever version of whichever library wrote it: the bytes are those of the rows.
const CREATED_BY: &str = "thalweg";

/// Writes rows, which are in order.
pub(super) fn write(path: &Path, rows: &[Row]) -> Result<(), TableError> {
    let behaviour = KeyValue::new("thalweg.behaviour".into(), format!("{BEHAVIOUR:016x}"));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_created_by(CREATED_BY.into())
        .set_key_value_metadata(Some(vec![behaviour]))
        .build();
    let axes = axes(rows);
    let mut writer = SerializedFileWriter::new(File::create(path)?, Arc::new(schema(&axes)?), Arc::new(properties))?;
    for group in rows.chunks(GROUP) {
        let mut out = writer.next_row_group()?;
        write_group(&mut out, group, &axes)?;
        out.close()?;
    }
    writer.close()?;
    Ok(())
}

fn schema(axes: &[(String, bool)]) -> Result<Type, ParquetError> {
    let column = |name: &str, physical: Physical, logical: Option<LogicalType>, repetition: Repetition| {
        let built = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        built.with_logical_type(logical).build().map(Arc::new)
    };
    let text = |name: &str| column(name, Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED);
    let whole = |name: &str, physical: Physical, bit_width: i8| {
        column(name, physical, Some(LogicalType::Integer { bit_width, is_signed: false }), Repetition::REQUIRED)
    };
    let mut fields = vec![
        whole("job", Physical::INT32, 32)?,
        text("key")?,
        text("scheme")?,
        whole("seed", Physical::INT64, 64)?,
        text("trace")?,
    ];
    for (name, is_number) in axes {
        fields.push(match is_number {
            true => column(name, Physical::DOUBLE, None, Repetition::REQUIRED)?,
            false => text(name)?,
        });
    }
    fields.extend([text("fingerprint")?, text("status")?, text("error")?]);
    for figure in FIGURES {
        fields.push(column(figure, Physical::DOUBLE, None, Repetition::OPTIONAL)?);
    }
    Type::group_type_builder("run").with_fields(fields).build()
}

fn write_group(
    out: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Row],
    axes: &[(String, bool)],
) -> Result<(), TableError> {
    // Unsigned numbers have the bits of signed ones.
    write_column::<Int32Type>(out, &rows.iter().map(|row| row.job as i32).collect::<Vec<_>>(), None)?;
    write_text(out, rows, |row| row.key.to_string())?;
    write_text(out, rows, |row| row.scheme.clone())?;
    write_column::<Int64Type>(out, &rows.iter().map(|row| row.seed as i64).collect::<Vec<_>>(), None)?;
    write_text(out, rows, |row| row.trace.clone())?;
    for (place, (_, is_number)) in axes.iter().enumerate() {
        if !is_number {
            write_text(out, rows, |row| row.axes[place].1.to_string())?;
            continue;
        }
        let numbers = rows.iter().filter_map(|row| match row.axes[place].1 {
            Cell::Number(number) => Some(number),
            Cell::Text(_) => None,
        });
        write_column::<DoubleType>(out, &numbers.collect::<Vec<_>>(), None)?;
    }
    write_text(out, rows, |row| row.fingerprint.clone())?;
    write_text(out, rows, |row| row.status.to_string())?;
    write_text(out, rows, |row| row.error.clone())?;
    for place in 0..FIGURES.len() {
        let present: Vec<i16> = rows.iter().map(|row| i16::from(row.figures.at(place).is_some())).collect();
        let values: Vec<f64> = rows.iter().filter_map(|row| row.figures.at(place)).collect();
        write_column::<DoubleType>(out, &values, Some(&present))?;
    }
    Ok(())
}

fn write_text(
    out: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Row],
    text: impl Fn(&Row) -> String,
) -> Result<(), TableError> {
    let values: Vec<ByteArray> = rows.iter().map(|row| ByteArray::from(text(row).into_bytes())).collect();
    write_column::<ByteArrayType>(out, &values, None)
}

/// Columns before the axes, and those between them and the figures.
const BEFORE: usize = 5;
const BETWEEN: usize = 3;

/// Reads the rows of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Row>, TableError> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let columns = file.metadata().file_metadata().schema_descr().columns();
    let axes = columns.len().saturating_sub(BEFORE + BETWEEN + FIGURES.len());
    let axes = columns.iter().skip(BEFORE).take(axes);
    let axes = axes.map(|column| (column.name().to_string(), column.physical_type() == Physical::DOUBLE));
    let axes: Vec<(String, bool)> = axes.collect();
    let wanted = SchemaDescriptor::new(Arc::new(schema(&axes)?));
    let form = |column: &ColumnDescPtr| (column.name().to_string(), column.physical_type(), column.max_rep_level());
    if !columns.iter().map(form).eq(wanted.columns().iter().map(form)) {
        return Err(
            ParquetError::General("not the results of a sweep of this version: it has other columns".into()).into()
        );
    }
    let mut rows = Vec::new();
    for place in 0..file.num_row_groups() {
        read_group(&*file.get_row_group(place)?, &axes, &mut rows)?;
    }
    Ok(rows)
}

fn read_group(group: &dyn RowGroupReader, axes: &[(String, bool)], rows: &mut Vec<Row>) -> Result<(), TableError> {
    let wrong = |problem: String| TableError::Parquet(ParquetError::General(problem));
    let jobs = required::<Int32Type>(group, 0)?;
    let [key, scheme, trace] = [1, 2, 4].map(|column| texts(group, column));
    let (key, scheme, trace) = (key?, scheme?, trace?);
    let seeds = required::<Int64Type>(group, 3)?;
    let mut cells: Vec<Vec<Cell>> = Vec::new();
    for (column, (_, is_number)) in (BEFORE..).zip(axes) {
        cells.push(match is_number {
            true => required::<DoubleType>(group, column)?.into_iter().map(Cell::Number).collect(),
            false => texts(group, column)?.into_iter().map(Cell::Text).collect(),
        });
    }
    let after = BEFORE + axes.len();
    let [fingerprint, status, error] = [0, 1, 2].map(|column| texts(group, after + column));
    let (fingerprint, status, error) = (fingerprint?, status?, error?);
    let figures = (0..FIGURES.len()).map(|place| optional::<DoubleType>(group, after + BETWEEN + place));
    let figures: Vec<Vec<Option<f64>>> = figures.collect::<Result<_, _>>()?;
    for row in 0..jobs.len() {
        let status = match status[row].as_str() {
            "done" => Status::Done,
            "failed" => Status::Failed,
            other => return Err(wrong(format!("a row has the status '{other}', and there are done and failed"))),
        };
        rows.push(Row {
            job: jobs[row] as u32,
            key: key[row].parse().map_err(wrong)?,
            scheme: scheme[row].clone(),
            seed: seeds[row] as u64,
            trace: trace[row].clone(),
            axes: axes.iter().zip(&cells).map(|((name, _), cells)| (name.clone(), cells[row].clone())).collect(),
            fingerprint: fingerprint[row].clone(),
            status,
            error: error[row].clone(),
            figures: Figures::from_columns(figures.iter().map(|column| column[row]).collect()),
        });
    }
    Ok(())
}

fn texts(group: &dyn RowGroupReader, column: usize) -> Result<Vec<String>, ParquetError> {
    let values = required::<ByteArrayType>(group, column)?;
    values.iter().map(|value| value.as_utf8().map(String::from)).collect()
}
