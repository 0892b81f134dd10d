//! Processor time of a process.

use std::collections::BTreeMap;

/// The processor time of a process's threads by name, in seconds.
pub fn time(process: &str) -> BTreeMap<String, f64> {
    let mut times = BTreeMap::new();
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else { return times };
    for task in tasks.flatten() {
        let Ok(stat) = std::fs::read_to_string(task.path().join("stat")) else { continue };
        let Some((name, rest)) = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')')) else { continue };
        // proc(5): the 14th and 15th field, in hundredths of a second; two come before these.
        let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
        *times.entry(name.to_owned()).or_default() += ticks.sum::<f64>() / 100.0;
    }
    times
}

/// The resident memory of a process, in megabytes.
pub fn memory(process: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?;
    Some(kilobytes.parse::<f64>().ok()? / 1000.0)
}
