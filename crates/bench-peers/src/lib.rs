//! Mintage beside its peers: the same work, one process, interleaved rounds.

mod engines;
mod given_clock;
mod inputs;
pub mod operations;
mod ours;
pub mod peers;
pub fn quick(op: &operations::Operation) {
    let mut e = vec![(op.ours)()];
    e.extend(op.rivals.iter().map(|r| (r.make)()));
    let rows = mintage_bench::timing::measure(&e, &[op.threads], mintage_bench::timing::Effort::FULL);
    println!("{:54} ours {:9.2} +-{:.2}", op.name, rows[0].ns, rows[0].spread);
    for (r, row) in op.rivals.iter().zip(&rows[1..]) {
        println!("    {:50} peer {:9.2} +-{:.2}  ratio {:.3} target {:?} {}", r.peer.name, row.ns, row.spread, rows[0].ns/row.ns, r.target, r.peer.version());
    }
}
