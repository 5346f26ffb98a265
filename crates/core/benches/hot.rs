//! The hot paths: `cargo bench -p mintage --bench hot`, with a part of a name behind `--` for a part of them.
//!
//! For looking at one path while changing it. How two runs are compared is in docs/speed.md.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use mintage::text::Text;
use mintage::{Error, Generator, Id, Ksuid, ManualClock, RawId, Scheme, Settings, UnixNanos};
use mintage::{SnowflakeTwitter, StaticScheme, Ulid, UuidV4, UuidV7};
use std::str::FromStr;
use std::sync::Arc;

fn main() {
    divan::main();
}

/// Ids in a batch.
const BATCH: usize = 1024;

/// A generator by a clock that is set by hand, and the clock.
fn generator(scheme: &Scheme) -> (Box<dyn Generator>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(UnixNanos::from_secs(1_767_225_600)));
    let worker = scheme.max_worker().map(|_| 1);
    let settings = Settings { worker, clock: Some(clock.clone()), ..Settings::default() };
    (scheme.generator(&settings).expect("the scheme mints with these settings"), clock)
}

/// Fills the slice; where a tick's sequence is spent, the clock goes on.
fn fill(generator: &dyn Generator, clock: &ManualClock, ids: &mut [RawId]) {
    let mut made = 0;
    while made < ids.len() {
        match generator.try_fill(&mut ids[made..]) {
            Ok(more) => made += more,
            Err(Error::Busy { wait_nanos, .. }) => clock.pass(wait_nanos),
            Err(error) => panic!("{error}"),
        }
    }
}

/// `Id::new`, from the generator that the process shares, by the system clock.
mod new {
    use super::{Ulid, UuidV4, UuidV7};

    #[divan::bench]
    fn uuid_v4() -> UuidV4 {
        UuidV4::new()
    }

    #[divan::bench]
    fn uuid_v7() -> UuidV7 {
        UuidV7::new()
    }

    #[divan::bench]
    fn ulid() -> Ulid {
        Ulid::new()
    }
}

/// One id a call, by name.
#[divan::bench(args = ["uuid-v4", "uuid-v7", "ulid", "snowflake-twitter"])]
fn one(bencher: Bencher<'_, '_>, name: &str) {
    let (generator, clock) = generator(Scheme::by_name(name).expect("a scheme of the list"));
    let mut id = [RawId::ZERO];
    bencher.bench_local(|| {
        fill(&*generator, &clock, &mut id);
        id[0]
    });
}

/// A batch a call, by name.
#[divan::bench(args = ["uuid-v4", "uuid-v7", "ulid", "snowflake-twitter"])]
fn batch(bencher: Bencher<'_, '_>, name: &str) {
    let (generator, clock) = generator(Scheme::by_name(name).expect("a scheme of the list"));
    let mut ids = vec![RawId::ZERO; BATCH];
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        fill(&*generator, &clock, &mut ids);
        black_box(ids.as_mut_slice());
    });
}

/// The canonical text of an id whose scheme is known when compiling.
mod print {
    use super::{Ksuid, SnowflakeTwitter, Ulid, UuidV4, print_one};
    use divan::Bencher;

    #[divan::bench]
    fn uuid(bencher: Bencher<'_, '_>) {
        print_one::<UuidV4>(bencher);
    }

    #[divan::bench]
    fn ulid(bencher: Bencher<'_, '_>) {
        print_one::<Ulid>(bencher);
    }

    #[divan::bench]
    fn ksuid(bencher: Bencher<'_, '_>) {
        print_one::<Ksuid>(bencher);
    }

    #[divan::bench]
    fn snowflake(bencher: Bencher<'_, '_>) {
        print_one::<SnowflakeTwitter>(bencher);
    }
}

/// Reading that text.
mod parse {
    use super::{Ksuid, SnowflakeTwitter, Ulid, UuidV4, parse_one};
    use divan::Bencher;

    #[divan::bench]
    fn uuid(bencher: Bencher<'_, '_>) {
        parse_one::<UuidV4>(bencher);
    }

    #[divan::bench]
    fn ulid(bencher: Bencher<'_, '_>) {
        parse_one::<Ulid>(bencher);
    }

    #[divan::bench]
    fn ksuid(bencher: Bencher<'_, '_>) {
        parse_one::<Ksuid>(bencher);
    }

    #[divan::bench]
    fn snowflake(bencher: Bencher<'_, '_>) {
        parse_one::<SnowflakeTwitter>(bencher);
    }
}

fn print_one<T: Sample>(bencher: Bencher<'_, '_>) {
    let id: T = T::TEXT.parse().expect("a published id is read");
    bencher.bench(|| black_box(id).print());
}

fn parse_one<T: Sample>(bencher: Bencher<'_, '_>) {
    bencher.bench(|| black_box(T::TEXT).parse::<T>());
}

/// A typed id with a published example.
trait Sample: Copy + Sync + FromStr<Err = Error> {
    const TEXT: &'static str;
    fn print(self) -> Text;
}

impl<S: StaticScheme> Sample for Id<S> {
    const TEXT: &'static str = S::SCHEME.vectors[0].0;
    fn print(self) -> Text {
        self.to_text()
    }
}
