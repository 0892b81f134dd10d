//! The table of results.

use thalweg_lab::metrics::{Column, Summary, columns};

/// Prints one row for each run, and one for each sender and each cross traffic that it competed with.
pub(crate) fn print(runs: &[Summary]) {
    let columns = columns(runs);
    print_row("scheme", columns.iter().map(|column| column.name));
    print_row("", columns.iter().map(|column| column.unit));
    for run in runs {
        print_run(&run.scheme, &columns, run);
        for competitor in &run.competitors {
            print_run(&format!("  and {}", competitor.scheme), &columns, competitor);
        }
        for traffic in &run.traffic {
            outln!("{:20} {traffic}", format!("  and {}", traffic.name));
        }
    }
}

fn print_run(name: &str, columns: &[&Column], run: &Summary) {
    let cells: Vec<Option<String>> = columns.iter().map(|column| (column.cell)(run)).collect();
    print_row(name, cells.iter().map(|cell| cell.as_deref().unwrap_or("-")));
}

fn print_row<'a>(name: &str, cells: impl Iterator<Item = &'a str>) {
    out!("{name:20}");
    cells.for_each(|cell| out!(" {cell:>7}"));
    outln!("");
}
