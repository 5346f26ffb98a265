//! t
fn main() {
    for (i, op) in mintage_bench_peers::operations::OPERATIONS.iter().enumerate() {
        let _ = i;
        mintage_bench_peers::quick(op);
    }
}
