//! The table of results.

use thalweg_lab::metrics::{COLUMNS, Summary};

/// Prints one row for each run, and one for each sender and each cross traffic it competed with.
pub(crate) fn print(runs: &[Summary]) {
    print_row("scheme", COLUMNS.iter().map(|column| column.name));
    print_row("", COLUMNS.iter().map(|column| column.unit));
    for run in runs {
        print_run(&run.scheme, run);
        for competitor in &run.competitors {
            print_run(&format!("  and {}", competitor.scheme), competitor);
        }
        for traffic in &run.traffic {
            outln!("{:20} {traffic}", format!("  and {}", traffic.name));
        }
    }
}

fn print_run(name: &str, run: &Summary) {
    let cells: Vec<Option<String>> = COLUMNS.iter().map(|column| (column.cell)(run)).collect();
    print_row(name, cells.iter().map(|cell| cell.as_deref().unwrap_or("-")));
}

fn print_row<'a>(name: &str, cells: impl Iterator<Item = &'a str>) {
    out!("{name:20}");
    cells.for_each(|cell| out!(" {cell:>7}"));
    outln!("");
}
