//! Printing and parsing the canonical text of each scheme, as a program does that knows the scheme by name.

use super::{BATCH, given_clock, is_minted};
use crate::{Engine, Over};
use mintage::{Error, RawId, SCHEMES, Scheme};

pub(super) fn engines() -> Vec<Box<dyn Engine>> {
    let mut engines = Vec::new();
    for scheme in SCHEMES.iter().copied() {
        engines.push(Over::boxed(format!("print {}", scheme.name), ids(scheme), |id| scheme.print(*id)));
    }
    for scheme in SCHEMES.iter().copied() {
        let texts = ids(scheme).into_iter().map(|id| scheme.print(id).to_string()).collect();
        engines
            .push(Over::boxed(format!("parse {}", scheme.name), texts, |text: &String| scheme.parse(text)));
    }
    engines
}

/// A batch of minted ids; the published ones where there is nothing to mint.
fn ids(scheme: &'static Scheme) -> Vec<RawId> {
    if !is_minted(scheme) {
        let published = scheme.vectors.iter().map(|(text, _)| scheme.parse(text));
        return published.map(|id| id.expect("a published id is read")).collect();
    }
    let (clock, settings) = given_clock(scheme, None);
    let generator = scheme.generator(&settings).expect("the scheme mints with these settings");
    let mut ids = vec![RawId::ZERO; BATCH];
    let mut made = 0;
    while made < ids.len() {
        match generator.try_fill(&mut ids[made..]) {
            Ok(more) => made += more,
            // A spent sequence: let the tick pass.
            Err(Error::Busy { wait_nanos, .. }) => clock.pass(wait_nanos),
            Err(error) => panic!("{}: {error}", scheme.name),
        }
    }
    ids
}
