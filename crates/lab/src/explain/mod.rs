//! Why a sender did what it did: answers from the recorded events of a run, in words.

mod log;
mod sentence;
#[cfg(test)]
mod tests;
mod timeline;
mod words;
mod worst;

pub use timeline::Timeline;
pub use worst::{Moment, Worst, capacity};

#[cfg(feature = "parquet")]
impl Timeline {
    /// The timeline of a run by its `events.parquet`.
    ///
    /// # Errors
    /// When the file cannot be read or has other columns.
    pub fn read(path: &std::path::Path) -> Result<Timeline, crate::record::TableError> {
        let mut timeline = Timeline::default();
        crate::record::read_table(path, &mut |row| timeline.add(row))?;
        Ok(timeline)
    }
}
