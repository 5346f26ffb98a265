//! x
use mintage::*;
use mintage_testkit::forked::{Forked, End};
use std::sync::atomic::{AtomicUsize, Ordering};
fn main() {
    let s = Scheme::by_name("ulid").unwrap();
    let n = 20000usize;
    let (mut hung, mut fine) = (0, 0);
    // A thread makes first use of one generator after another; the fork falls anywhere.
    let gens: Vec<_> = (0..500_000).map(|_| s.generator(&Settings::default()).unwrap()).collect();
    let at = AtomicUsize::new(0);
    let wait = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| { for (i, g) in gens.iter().enumerate() { at.store(i, Ordering::Relaxed);
            while i > wait.load(Ordering::Relaxed) * 100 + 100 && i + 1 < gens.len() {}  let _ = g.try_next(); } });
        for run in 0..n {
            wait.store(run, Ordering::Relaxed);
            if at.load(Ordering::Relaxed) >= gens.len() - 2 { break; }
            let child = Forked::run(std::time::Duration::from_secs(1), |_| {
                let i = at.load(Ordering::Relaxed);
                for g in &gens[i.saturating_sub(1)..(i + 3).min(gens.len())] { let _ = g.try_next(); }
            }).unwrap();
            match child.finish().unwrap().1 { End::Code(0) => fine += 1, _ => { hung += 1; } }
            if hung > 3 {wait.store(100_000_000, Ordering::Relaxed); break; }
        }
        wait.store(100_000_000, Ordering::Relaxed);
    });
    println!("fine {fine} hung {hung}");
}
