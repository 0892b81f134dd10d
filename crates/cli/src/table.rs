//! The results of runs as tables and as JSON: each run, and what several say together.

use serde_json::{Map, Value, json};
use thalweg_lab::metrics::{Column, Summary, columns, every_column};
use thalweg_lab::statistics::{Against, Cell, Estimate, cell_of, distinct, over, paired};
use thalweg_sender::FeedbackStyle;

use crate::grid::Grid;
use crate::suggest::Unknown;

/// A table with its title, if it needs one.
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) grid: Grid,
}

/// The columns of these names or keys; without any, those that say something about `runs`.
///
/// # Errors
/// When there is none of a name; the error says which are near, or lists them.
pub(crate) fn chosen<'a>(
    names: &[String],
    runs: impl IntoIterator<Item = &'a Summary> + Clone,
) -> anyhow::Result<Vec<&'static Column>> {
    if names.is_empty() {
        return Ok(columns(runs));
    }
    let find = |name: &String| {
        let is_it = |column: &&Column| column.key == name || column.name.eq_ignore_ascii_case(name);
        every_column().find(is_it).ok_or_else(|| {
            let names: Vec<&str> = every_column().map(|column| column.name).collect();
            let list = format!("expected one of {}, or a key of summary.json", names.join(", "));
            anyhow::Error::from(Unknown::of_few("column", name, every_column().flat_map(|it| [it.name, it.key]), list))
        })
    };
    names.iter().map(find).collect()
}

/// The tables of these runs: one row for each run, or, of several seeds, links or videos, the mean of each scheme over
/// each link and video, over all of them, and against the first scheme. The best rows by `sort` come first; the best of
/// each column is marked.
pub(crate) fn tables(runs: &[Summary], columns: &[&Column], sort: Option<&Column>) -> Vec<Table> {
    let all = Group::all(runs);
    if all.seeds == 1 && all.cells().len() == 1 {
        return vec![Table { title: String::new(), grid: each(&all.runs, columns, sort) }];
    }
    let cells = all.cells();
    let table = |cell: &Group| match all.seeds {
        1 => Table { title: cell.name(), grid: each(&cell.runs, columns, sort) },
        _ => Table { title: format!("{}: {}", cell.name(), meaning(cell)), grid: cell.means(columns, sort) },
    };
    let mut tables: Vec<Table> = cells.iter().map(table).collect();
    if cells.len() > 1 {
        tables.push(Table { title: meaning(&all), grid: all.means(columns, sort) });
    }
    if all.schemes().len() > 1 {
        let title = format!(
            "against {}, by pairs of the same link, video and seed: ratios (x) and differences; * significant \
             (95 % interval)",
            all.schemes()[0]
        );
        tables.push(Table { title, grid: all.against(columns, sort) });
    }
    tables
}

/// The default table: a row for each run, and one for each sender and each cross traffic that it competed with.
fn each(runs: &[&Summary], columns: &[&Column], sort: Option<&Column>) -> Grid {
    let named = Named::of(runs);
    let mut grid = named.grid(columns);
    let cells = |run: &Summary| -> Vec<String> {
        columns.iter().map(|column| column.cell(run).unwrap_or_else(|| "-".into())).collect()
    };
    let mut rows = Vec::new();
    for run in sorted(runs.to_vec(), sort, |run, column| (column.value)(run)) {
        rows.push((grid.rows(), run));
        named.row(&mut grid, &run.scheme, Some(run), cells(run));
        for competitor in &run.competitors {
            named.row(&mut grid, &format!("  and {}", competitor.scheme), Some(competitor), cells(competitor));
        }
    }
    mark_best(&mut grid, columns, &rows, |run, column| (column.value)(run));
    grid
}

/// Names of the rows of a table: the scheme, and its feedback where not all have the same.
struct Named {
    with_feedback: bool,
}

impl Named {
    fn of(runs: &[&Summary]) -> Named {
        Named { with_feedback: distinct(runs.iter().map(|run| run.feedback)).len() > 1 }
    }

    fn grid(&self, columns: &[&Column]) -> Grid {
        let names: &[&str] = if self.with_feedback { &["scheme", "feedback"] } else { &["scheme"] };
        Grid::new(names, columns.iter().map(|column| head(column)))
    }

    fn row(&self, grid: &mut Grid, name: &str, run: Option<&Summary>, cells: impl IntoIterator<Item = String>) {
        let feedback = run.and_then(|run| run.feedback).map_or("-", FeedbackStyle::name);
        if self.with_feedback { grid.row(&[name, feedback], cells) } else { grid.row(&[name], cells) }
    }
}

/// The feedback of all runs in words, where it is the same for several schemes and so no column of the table.
pub(crate) fn feedback(runs: &[Summary]) -> Option<String> {
    let styles = distinct(runs.iter().map(|run| run.feedback));
    let several = distinct(runs.iter().map(|run| run.scheme.as_str())).len() > 1;
    match styles.as_slice() {
        [Some(style)] if several => Some(format!("feedback of every row: {style}")),
        _ => None,
    }
}

/// Rows with the best first, if a column to sort by was named.
fn sorted<T>(mut rows: Vec<T>, sort: Option<&Column>, value: impl Fn(&T, &Column) -> Option<f64>) -> Vec<T> {
    if let Some(column) = sort {
        rows.sort_by(|one, other| column.order(value(one, column), value(other, column)));
    }
    rows
}

/// Marks the best of each column, of rows by their numbers.
fn mark_best<T>(grid: &mut Grid, columns: &[&Column], rows: &[(usize, T)], value: impl Fn(&T, &Column) -> Option<f64>) {
    for (number, column) in columns.iter().enumerate() {
        let values: Vec<(usize, f64)> = rows.iter().filter_map(|(row, of)| Some((*row, value(of, column)?))).collect();
        let Some(best) = column.best(values.iter().map(|(_, value)| *value)) else { continue };
        let alike = values.iter().filter(|(_, value)| column.text(*value) == column.text(best));
        alike.for_each(|(row, _)| grid.mark(*row, number));
    }
}

/// Description of the cross traffic, in words.
pub(crate) fn traffic(runs: &[Summary]) -> Vec<String> {
    let of = |run: &Summary| -> Vec<String> {
        run.traffic.iter().map(|traffic| format!("beside {}: {} {traffic}", run.scheme, traffic.name)).collect()
    };
    runs.iter().flat_map(of).collect()
}

/// How videos that are shorter than their runs were played, in words.
pub(crate) fn videos(runs: &[Summary]) -> Vec<String> {
    let turned = runs.iter().filter_map(|run| {
        let seconds = run.video_turns_after_s?;
        Some(format!("{} lasts {seconds:.1} s: it was played again and again", run.video))
    });
    distinct(turned)
}

/// Settings without effect, with the schemes on which they had none.
pub(crate) fn notes(runs: &[Summary]) -> Vec<String> {
    let all = || runs.iter().flat_map(|run| std::iter::once(run).chain(&run.competitors));
    let on = |note: &str| {
        let noted = all().filter(|run| run.notes.iter().any(|other| other == note)).map(|run| run.scheme.as_str());
        format!("note for {}: {note}", distinct(noted).join(", "))
    };
    distinct(all().flat_map(|run| &run.notes)).into_iter().map(|note| on(note)).collect()
}

/// Every number of every run, by the keys of summary.json.
pub(crate) fn raw(runs: &[Summary], columns: &[&Column]) -> Grid {
    let names = ["scheme", "trace", "video", "seed", "feedback"];
    let mut grid = Grid::new(&names, columns.iter().map(|column| column.key.to_string()));
    for run in runs {
        let feedback = run.feedback.map_or("", FeedbackStyle::name);
        let numbers = columns.iter().map(|column| (column.value)(run).map_or(String::new(), |value| value.to_string()));
        grid.row(&[&run.scheme, &run.trace, &run.video, &run.seed.to_string(), feedback], numbers);
    }
    grid
}

/// The estimates of each scheme for `--json`: over all runs, and against the first scheme.
pub(crate) fn json(runs: &[Summary]) -> Value {
    let all = Group::all(runs);
    let schemes = all.schemes();
    let of = |scheme: &&str| {
        let (ours, base) = (all.of(scheme), all.of(schemes[0]));
        let mut figures = Map::new();
        let mut against = Map::new();
        for column in every_column() {
            figures.extend(over(&ours, column.value).map(|found| (column.key.to_string(), of_estimate(found))));
            let compared = paired(&ours, &base, column.against(), column.value).filter(|_| *scheme != schemes[0]);
            against.extend(compared.map(|found| {
                let mut value = of_estimate(found);
                let kind = if column.against() == Against::Ratio { "ratio" } else { "difference" };
                value.as_object_mut().map(|object| object.insert("kind".into(), json!(kind)));
                (column.key.to_string(), value)
            }));
        }
        json!({ "scheme": scheme, "figures": figures, "against": { "scheme": schemes[0], "figures": against } })
    };
    Value::Array(schemes.iter().map(of).collect())
}

fn of_estimate(found: Estimate) -> Value {
    let (low, high) = found.interval.map_or((None, None), |(low, high)| (Some(low), Some(high)));
    json!({ "mean": found.mean, "low": low, "high": high, "runs": found.runs })
}

/// A column's heading: name and unit in two lines.
fn head(column: &Column) -> String {
    column.head().join("\n")
}

fn meaning(group: &Group) -> String {
    match (group.cells().len(), group.seeds) {
        (1, seeds) => format!("mean of {seeds} seeds and half its 95 % interval"),
        (cells, 1) => format!("mean over {cells} links and videos and half its 95 % interval (bootstrap)"),
        (cells, seeds) => {
            format!("mean over {cells} links and videos of {seeds} seeds each, and half its 95 % interval (bootstrap)")
        }
    }
}

/// Runs of several schemes.
struct Group<'a> {
    runs: Vec<&'a Summary>,
    seeds: usize,
}

impl<'a> Group<'a> {
    fn all(runs: &'a [Summary]) -> Group<'a> {
        Group::with(runs.iter().collect())
    }

    fn with(runs: Vec<&'a Summary>) -> Group<'a> {
        let seeds = distinct(runs.iter().map(|run| run.seed)).len();
        Group { runs, seeds }
    }

    fn schemes(&self) -> Vec<&'a str> {
        distinct(self.runs.iter().map(|run| run.scheme.as_str()))
    }

    /// The runs of each link and video.
    fn cells(&self) -> Vec<Group<'a>> {
        let of = |cell: Cell<'_>| Group::with(self.runs.iter().copied().filter(|run| cell_of(run) == cell).collect());
        distinct(self.runs.iter().map(|run| cell_of(run))).into_iter().map(of).collect()
    }

    /// The name of its first run's link and video.
    fn name(&self) -> String {
        self.runs.first().map_or(String::new(), |run| format!("{}, {}", run.trace, run.video))
    }

    fn of(&self, scheme: &str) -> Vec<&'a Summary> {
        self.runs.iter().copied().filter(|run| run.scheme == scheme).collect()
    }

    /// The schemes, the best mean first if a column to sort by was named.
    fn sorted(&self, sort: Option<&Column>) -> Vec<&'a str> {
        sorted(self.schemes(), sort, |scheme, column| self.mean(scheme, column))
    }

    fn mean(&self, scheme: &str, column: &Column) -> Option<f64> {
        Some(over(&self.of(scheme), column.value)?.mean)
    }

    fn means(&self, columns: &[&Column], sort: Option<&Column>) -> Grid {
        let named = Named::of(&self.runs);
        let mut grid = named.grid(columns);
        let schemes = self.sorted(sort);
        for scheme in &schemes {
            let runs = self.of(scheme);
            let cells = columns.iter().map(|column| mean(column, over(&runs, column.value)));
            named.row(&mut grid, scheme, runs.first().copied(), cells);
        }
        let rows: Vec<(usize, &str)> = schemes.into_iter().enumerate().collect();
        mark_best(&mut grid, columns, &rows, |scheme, column| self.mean(scheme, column));
        grid
    }

    fn against(&self, columns: &[&Column], sort: Option<&Column>) -> Grid {
        let mut grid = Grid::new(&["scheme"], columns.iter().map(|column| head(column)));
        let first = self.schemes().first().copied().unwrap_or_default();
        let base = self.of(first);
        for scheme in self.sorted(sort).into_iter().filter(|scheme| *scheme != first) {
            let runs = self.of(scheme);
            let cell = |column: &Column| {
                let against = column.against();
                let found = paired(&runs, &base, against, column.value);
                found.map_or("-".into(), |found| column.compared(against, found))
            };
            grid.row(&[scheme], columns.iter().map(|column| cell(column)));
        }
        grid
    }
}

/// A mean with half its interval.
fn mean(column: &Column, found: Option<Estimate>) -> String {
    let Some(found) = found else { return "-".into() };
    match found.margin() {
        Some(margin) => format!("{}±{}", column.text(found.mean), column.text(margin)),
        None => column.text(found.mean),
    }
}
