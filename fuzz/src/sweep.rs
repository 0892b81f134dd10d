//! The grids of sweeps.

use std::sync::Arc;

use thalweg_lab::Scenario;
use thalweg_lab::run_folder::Input;
use thalweg_lab::sweep::{Files, Grid};
use thalweg_netsim::Trace;
use thalweg_sender::Registry;

/// Grids of more runs are not expanded here, which takes no time.
const FEW: usize = 64;

/// Reads a grid, writes it and reads that; makes the jobs of one with few runs, of which no two are alike.
pub fn sweep_grid(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let grid = match Grid::read(text) {
        Ok(grid) => grid,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    // Numbers beyond TOML's integers are refused when they are written.
    if let Ok(written) = toml::to_string(&grid) {
        let again = Grid::read(&written).unwrap_or_else(|error| panic!("{error} in what was written:\n{written}"));
        assert_eq!(toml::to_string(&again), Ok(written));
    }
    let runs: usize = grid.axes.iter().map(|axis| axis.values.as_array().map_or(FEW + 1, Vec::len)).product();
    // Patterns of files would be looked for on this machine.
    if runs > FEW || grid.axes.iter().any(|axis| axis.name() == "trace") {
        return;
    }
    match grid.expand(&Registry::new(), &Anything) {
        Ok(sweep) => {
            assert!((1..=runs as u32).contains(&sweep.len()));
            let mut keys: Vec<_> = (0..sweep.len()).map(|job| sweep.key_of(job)).collect();
            keys.sort();
            keys.dedup();
            assert_eq!(keys.len(), sweep.len() as usize);
            let job = sweep.job(0, &Registry::new(), &Anything).expect("a job that was read before");
            assert!(job.read(&Registry::new()).is_ok(), "{}", job.run);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Every name is a link, and none a file.
struct Anything;

impl Files for Anything {
    fn inputs(&self, _: &Scenario) -> Result<Vec<Input>, String> {
        Ok(Vec::new())
    }

    fn trace(&self, _: &str, _: &Scenario) -> Result<Arc<Trace>, String> {
        Trace::parse("1\n").map(Arc::new).map_err(|error| error.to_string())
    }
}
