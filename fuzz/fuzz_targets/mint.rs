//! Batches of any scheme, whose texts read as what was minted; and any text, which typed ids read as their scheme does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mintage::scheme::{Coordination, Setting};
use mintage::{
    Clock, Error, Id, Ksuid, ManualClock, Nanoid, ObjectId, RawId, SCHEMES, Settings, SnowflakeTwitter,
    StaticScheme, Ulid, UnixNanos, UuidV4, UuidV7,
};
use std::str::FromStr;
use std::sync::Arc;

fuzz_target!(|data: (u8, u16, &str)| {
    let (scheme, count, text) = data;
    mint(usize::from(scheme) % SCHEMES.len(), usize::from(count) % 3000 + 1);
    read::<<UuidV4 as Known>::Scheme>(text);
    read::<<UuidV7 as Known>::Scheme>(text);
    read::<<Ulid as Known>::Scheme>(text);
    read::<<Ksuid as Known>::Scheme>(text);
    read::<<Nanoid as Known>::Scheme>(text);
    read::<<ObjectId as Known>::Scheme>(text);
    read::<<SnowflakeTwitter as Known>::Scheme>(text);
});

/// The scheme of a typed id.
trait Known {
    type Scheme: StaticScheme;
}

impl<S: StaticScheme> Known for Id<S> {
    type Scheme = S;
}

fn mint(scheme: usize, count: usize) {
    let scheme = SCHEMES[scheme];
    // 2026-11-30, which lies in every field that hasn't ended.
    let clock = Arc::new(ManualClock::new(UnixNanos::from_secs(1_795_996_800)));
    let settings = Settings {
        worker: scheme.max_worker(),
        name: scheme.takes(Setting::Name).then(|| (0, b"name".to_vec())),
        clock: Some(clock.clone() as Arc<dyn Clock>),
        ..Settings::default()
    };
    let Ok(generator) = scheme.generator(&settings) else { return };
    let (mut ids, mut made) = (vec![RawId::ZERO; count], 0);
    while made < count {
        match generator.try_fill(&mut ids[made..]) {
            Ok(more) => made += more,
            Err(Error::Busy { wait_nanos, .. }) => clock.pass(wait_nanos),
            Err(Error::TimeFieldEnded { .. }) => return,
            Err(error) => panic!("{}: {error}", scheme.name),
        }
    }
    let mut lines = String::new();
    scheme.canonical().print_lines(ids.iter().copied(), &mut lines).expect("a scheme spells its ids");
    for (id, line) in ids.iter().zip(lines.lines()) {
        assert_eq!(scheme.parse(line), Ok(*id), "{}: {line}", scheme.name);
    }
    let chance = scheme.facts.coordination == Coordination::SameInput;
    ids.sort_unstable();
    assert!(chance || ids.is_sorted_by(|a, b| a < b), "{}: an id twice", scheme.name);
}

fn read<S: StaticScheme>(text: &str) {
    let (quick, plain) = (Id::<S>::from_str(text), S::SCHEME.parse(text));
    assert_eq!(quick.map(Id::raw), plain, "{}: {text:?}", S::SCHEME.name);
    if let Ok(id) = quick {
        assert_eq!(S::SCHEME.parse(&id.to_string()), Ok(id.raw()), "{}: {text:?}", S::SCHEME.name);
    }
}
