//! What a facade costs an id.
//!
//! ```sh
//! cargo run --release -p mintage --features facade --example facade_cost
//! ```

use mintage::facade::{Alphabet, Domain, Ff1, Permute, Uuid47};
use mintage::token::{TokenForm, TokenFormat};
use mintage::{Clock, SystemClock, SystemEntropy, UuidV7};
use std::hint::black_box;

/// Calls a run, few enough that some runs pass undisturbed; the fastest is told.
const CALLS: u64 = 1_000;
const RUNS: usize = 500;

fn cost<T>(what: &str, mut work: impl FnMut(u64) -> T) {
    let mut least = u64::MAX;
    for _ in 0..RUNS {
        let began = SystemClock.monotonic_nanos();
        for number in 0..CALLS {
            black_box(work(black_box(number)));
        }
        least = least.min(SystemClock.monotonic_nanos() - began);
    }
    println!("{:>8} ns  {what}", least / CALLS);
}

fn main() -> Result<(), mintage::Error> {
    let key = [7; 32];
    for domain in ["u64", "u63", "decimal:10", "base62:7", "base62:21"] {
        let permute = Permute::new(&key, domain.parse()?)?;
        cost(&format!("permute {domain}, encode"), |id| permute.encode(id.into()));
        cost(&format!("permute {domain}, decode"), |id| permute.decode(id.into()));
    }
    let permute = Permute::new(&key, Domain::U63)?;
    let facade: &dyn mintage::facade::Facade = &permute;
    cost("permute u63, text to text", |id| facade.encode_text(&id.to_string()));
    let card = Ff1::new(&key, b"", Alphabet::Decimal, 16)?;
    cost("ff1 decimal:16, text to text", |_| card.encode("4111111111111111"));
    let mask = Uuid47::from_words(1, 2);
    let id: UuidV7 = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f".parse()?;
    cost("uuid47, encode", |_| mask.encode(black_box(id)));
    let facade = mask.encode(id);
    cost("uuid47, decode", |_| mask.decode(black_box(facade)));
    let format = TokenFormat::new(TokenForm::Base62, 128)?.with_checksum();
    cost("token of 128 bits with a checksum", |_| format.mint(&SystemEntropy));
    Ok(())
}
