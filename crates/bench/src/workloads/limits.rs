//! What no generator can do without: the floor under the other figures.

use crate::{Each, Engine};
use mintage::{Clock, Entropy, SystemClock, SystemEntropy};
use std::hint::black_box;

pub(super) fn engines() -> Vec<Box<dyn Engine>> {
    vec![
        Each::boxed("limit: read the clock", "system", || SystemClock.now()),
        Each::shared("limit: 16 bytes of system entropy", "none", entropy::<16>),
        Each::shared("limit: 512 bytes of system entropy", "none", entropy::<512>),
        Box::new(Write),
    ]
}

fn entropy<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemEntropy.fill(&mut bytes).expect("the system has entropy");
    bytes
}

/// Writes 16 bytes after 16 bytes into a buffer that fits the first-level cache.
#[derive(Debug)]
struct Write;

impl Engine for Write {
    fn operation(&self) -> &'static str {
        "limit: write 16 bytes to memory"
    }
    fn clock(&self) -> &'static str {
        "none"
    }
    fn run(&self, n: usize) -> usize {
        let mut buffer = [0u128; 1024];
        let rounds = n.div_ceil(buffer.len());
        for round in 0..rounds {
            for (i, place) in buffer.iter_mut().enumerate() {
                *place = (round ^ i) as u128;
            }
            black_box(&mut buffer);
        }
        rounds * buffer.len()
    }
}
