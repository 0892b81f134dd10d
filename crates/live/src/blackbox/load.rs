//! How busy the machine is, by the kernel's count.

use std::io;

/// The machine's processor time so far, over all cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessorTime {
    idle: u64,
    total: u64,
}

impl ProcessorTime {
    pub(super) fn read() -> io::Result<ProcessorTime> {
        let text = std::fs::read_to_string("/proc/stat")?;
        ProcessorTime::parse(&text).ok_or_else(|| io::Error::other("/proc/stat has no line `cpu`"))
    }

    /// `cpu user nice system idle iowait irq softirq steal guest guest_nice` (proc_stat(5)); guests are in user and nice.
    fn parse(text: &str) -> Option<ProcessorTime> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let times: Vec<u64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let (idle, waiting) = (times.get(3)?, times.get(4)?);
        Some(ProcessorTime { idle: idle + waiting, total: times.iter().take(8).sum() })
    }

    /// The share of the time since `before` in which nothing ran; 1 if no time has passed.
    pub(super) fn idle_since(self, before: ProcessorTime) -> f64 {
        let total = self.total.saturating_sub(before.total);
        if total == 0 { 1.0 } else { self.idle.saturating_sub(before.idle) as f64 / total as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_disk_is_idle_and_time_taken_by_another_machine_is_not() {
        let read = |numbers: &str| ProcessorTime::parse(&format!("cpu  {numbers}\ncpu0 1 2\n")).unwrap();
        let before = read("100 0 50 800 50 0 0 0 0 0");
        assert_eq!(read("160 0 60 820 60 0 0 0 40 0").idle_since(before), 0.3);
        assert_eq!(read("100 0 50 850 50 0 0 150 0 0").idle_since(before), 0.25);
        assert_eq!(before.idle_since(before), 1.0);
        assert_eq!(ProcessorTime::parse("intr 5\n"), None);
    }
}
