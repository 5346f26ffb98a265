//! x
use mintage::*;
use mintage_testkit::forked::{End, Forked};
use std::sync::atomic::{AtomicUsize, Ordering};
fn main() {
    let s = Scheme::by_name("ulid").unwrap();
    let (mut hung, mut fine) = (0, 0);
    for _ in 0..300 {
        let gens: Vec<_> = (0..20_000).map(|_| s.generator(&Settings::default()).unwrap()).collect();
        let at = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (i, g) in gens.iter().enumerate() {
                    at.store(i, Ordering::Relaxed);
                    let _ = g.try_next();
                }
            });
            while at.load(Ordering::Relaxed) < 100 {}
            let child = Forked::run(std::time::Duration::from_secs(1), |_| {
                let i = at.load(Ordering::Relaxed);
                for g in &gens[i.saturating_sub(1)..(i + 3).min(gens.len())] {
                    let _ = g.try_next();
                }
            })
            .unwrap();
            match child.finish().unwrap().1 {
                End::Code(0) => fine += 1,
                _ => hung += 1,
            }
        });
    }
    println!("fine {fine} hung {hung}");
}
