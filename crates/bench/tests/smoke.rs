//! Every workload runs, and the report can show it.

use mintage_bench::timing::{Effort, measure};
use mintage_bench::{report, workloads};
use std::collections::BTreeSet;

#[test]
fn every_workload_runs_with_one_thread_and_with_two() {
    let engines = workloads::all();
    let names: BTreeSet<&str> = engines.iter().map(|engine| engine.operation()).collect();
    assert_eq!(names.len(), engines.len(), "an operation has a name of its own");
    let rows = measure(&engines, &[1, 2], Effort::SMOKE);
    assert!(rows.iter().all(|row| row.ns.is_finite() && row.ns > 0.0), "{rows:?}");
    assert!(rows.iter().any(|row| row.threads == 2));
    assert_eq!(report::json(&rows).lines().count(), rows.len());
    assert!(report::table(&rows).lines().count() > rows.len());
}
