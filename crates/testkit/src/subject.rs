//! What a run puts to the test: a scheme, one of its methods, and a generator of its own or the one that the process shares.

use crate::blind;
use anyhow::{Result, bail};
use mintage::generators::typed::Ids;
use mintage::scheme::{Coordination, Mint, Sortable};
use mintage::schemes::firebase_pushid::FirebasePushidScheme;
use mintage::schemes::ksuid::KsuidScheme;
use mintage::schemes::nanoid::NanoidScheme;
use mintage::schemes::objectid::ObjectIdScheme;
use mintage::schemes::scru128::Scru128Scheme;
use mintage::schemes::typeid::TypeidScheme;
use mintage::schemes::ulid::UlidScheme;
use mintage::schemes::uuid_v1::UuidV1Scheme;
use mintage::schemes::uuid_v4::UuidV4Scheme;
use mintage::schemes::uuid_v6::UuidV6Scheme;
use mintage::schemes::uuid_v7::UuidV7Scheme;
use mintage::schemes::xid::XidScheme;
use mintage::{Clock, Error, Generator, Id, IdSource, Method, RawId, Scheme, Setting, Settings, SystemClock};
use std::sync::{Mutex, PoisonError};

/// One thing to test.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The scheme.
    pub scheme: &'static Scheme,
    /// The method; `None` where the scheme has one way only, and for the shared generator.
    pub method: Option<Method>,
    /// Whose generator.
    pub source: Source,
}

/// Whose generator mints.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// One made for the run.
    Own,
    /// The one that the whole process shares, one id a call.
    Shared(SharedScheme),
    /// The same, a batch a call.
    Batch(SharedScheme),
    /// An iterator over ids of the same, which is held from call to call. It stands behind a lock of ours, which no thread may hold at a
    /// fork.
    Held(SharedScheme),
}

/// A scheme that has a shared generator, and the ways to mint from it.
#[derive(Clone, Copy, Debug)]
pub struct SharedScheme {
    scheme: &'static Scheme,
    one: fn(&mut [RawId]) -> Result<(), Error>,
    batch: fn(&mut [RawId]) -> Result<(), Error>,
    held: fn() -> Box<dyn Generator>,
}

static SHARED: &[SharedScheme] = &[
    SharedScheme::of::<UuidV1Scheme>(),
    SharedScheme::of::<UuidV4Scheme>(),
    SharedScheme::of::<UuidV6Scheme>(),
    SharedScheme::of::<UuidV7Scheme>(),
    SharedScheme::of::<UlidScheme>(),
    SharedScheme::of::<KsuidScheme>(),
    SharedScheme::of::<ObjectIdScheme>(),
    SharedScheme::of::<XidScheme>(),
    SharedScheme::of::<FirebasePushidScheme>(),
    SharedScheme::of::<Scru128Scheme>(),
    SharedScheme::of::<TypeidScheme>(),
    SharedScheme::of::<NanoidScheme>(),
];

impl SharedScheme {
    const fn of<S: Mint>() -> Self {
        Self { scheme: S::SCHEME, one: one::<S>, batch: batch::<S>, held: held::<S> }
    }
}

/// `Id::new`, for each.
fn one<S: Mint>(out: &mut [RawId]) -> Result<(), Error> {
    out.iter_mut().try_for_each(|id| Id::<S>::try_new().map(|new| *id = new.raw()))
}

/// `Id::fill`.
fn batch<S: Mint>(out: &mut [RawId]) -> Result<(), Error> {
    let mut ids = vec![Id::<S>::ZERO; out.len()];
    Id::fill(&mut ids)?;
    out.iter_mut().zip(ids).for_each(|(out, id)| *out = id.raw());
    Ok(())
}

struct Filled(fn(&mut [RawId]) -> Result<(), Error>);

impl Generator for Filled {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        (self.0)(out).map(|()| out.len())
    }
}

/// An iterator that is held from call to call, with what it has left of a batch.
struct HeldIterator<S: Mint>(Mutex<Ids<'static, S, S::Shared>>);

fn held<S: Mint>() -> Box<dyn Generator> {
    Box::new(HeldIterator::<S>(Mutex::new(S::shared().ids(usize::MAX))))
}

impl<S: Mint> Generator for HeldIterator<S> {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for out in out.iter_mut() {
            match ids.next() {
                Some(id) => *out = id?.raw(),
                None => return Err(Error::Overflow { scheme: S::SCHEME.name }),
            }
        }
        Ok(out.len())
    }
}

impl Subject {
    /// The subjects of a scheme, or of every scheme with `all`: one a method, then the shared generator where there is one.
    /// With a method, that one only.
    ///
    /// # Errors
    /// When there is no such scheme or method, or its ids are not minted, not to be unique, or not any more.
    pub fn named(name: &str, method: Option<&str>) -> Result<Vec<Self>> {
        let mut subjects = Vec::new();
        for scheme in mintage::SCHEMES.iter().chain(blind::SCHEMES) {
            let is_asked = if name == "all" { is_put_to_test(scheme) } else { scheme.name == name };
            if !is_asked {
                continue;
            }
            if !is_put_to_test(scheme) && !is_blind(scheme) {
                bail!("{name}: its ids are not minted, not to be unique, or not any more");
            }
            subjects.extend(Self::of(scheme));
        }
        if let Some(method) = method {
            subjects.retain(|subject| subject.method.is_some_and(|own| own.name() == method));
        }
        if subjects.is_empty() {
            bail!("{name}: no such scheme or method; `mintage-fault subjects` lists them");
        }
        Ok(subjects)
    }

    fn of(scheme: &'static Scheme) -> Vec<Self> {
        let with = |method, source| Self { scheme, method, source };
        let mut subjects: Vec<Self> =
            scheme.methods.iter().map(|method| with(Some(*method), Source::Own)).collect();
        if subjects.is_empty() {
            subjects.push(with(None, Source::Own));
        }
        for shared in SHARED.iter().filter(|shared| shared.scheme.name == scheme.name) {
            let sources = [Source::Shared(*shared), Source::Batch(*shared), Source::Held(*shared)];
            subjects.extend(sources.map(|source| with(None, source)));
        }
        subjects
    }

    /// `uuid-v7 counter`, `uuid-v7 shared`, `ksuid`.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.source, self.method) {
            (Source::Shared(_), _) => format!("{} shared", self.scheme.name),
            (Source::Batch(_), _) => format!("{} batch", self.scheme.name),
            (Source::Held(_), _) => format!("{} iterator", self.scheme.name),
            (Source::Own, Some(method)) => format!("{} {}", self.scheme.name, method.name()),
            (Source::Own, None) => self.scheme.name.to_owned(),
        }
    }

    /// Whether the scheme has a worker, which no two processes may share.
    #[must_use]
    pub fn has_worker(&self) -> bool {
        self.scheme.takes(Setting::Worker)
    }

    /// Whether its ids are made of tick, worker and sequence alone, with policies for a clock that goes back and a sequence that is
    /// spent.
    #[must_use]
    pub fn has_policies(&self) -> bool {
        self.scheme.takes(Setting::Policies)
    }

    /// Whether only one process may go on from its state, so that a forked child must be refused.
    #[must_use]
    pub const fn belongs_to_one_process(&self) -> bool {
        matches!(self.scheme.facts.coordination, Coordination::Worker | Coordination::OneWriter)
    }

    /// Nanoseconds a tick; 0 without a time field.
    #[must_use]
    pub fn tick_nanos(&self) -> u64 {
        self.scheme.layout.time_base().map_or(0, |base| base.tick_nanos)
    }

    /// Whether each id of a thread must be above the one before.
    #[must_use]
    pub fn promises_order(&self) -> bool {
        self.scheme.facts.sortable == Sortable::Strictly && self.method != Some(Method::Random)
    }

    /// Settings with this method, and this worker where there are workers.
    #[must_use]
    pub fn settings(&self, worker: u64) -> Settings {
        Settings { method: self.method, worker: self.has_worker().then_some(worker), ..Settings::default() }
    }

    /// Its generator; the shared one takes no settings.
    ///
    /// # Errors
    /// See [`Scheme::generator`].
    pub fn generator(&self, settings: &Settings) -> Result<Box<dyn Generator>, Error> {
        match self.source {
            Source::Own => self.scheme.generator(settings),
            Source::Shared(shared) => Ok(Box::new(Filled(shared.one))),
            Source::Batch(shared) => Ok(Box::new(Filled(shared.batch))),
            Source::Held(shared) => Ok((shared.held)()),
        }
    }
}

/// Whether its ids are minted here, are meant to differ, and can still be had: some time fields have ended.
fn is_put_to_test(scheme: &Scheme) -> bool {
    scheme.generator.is_some()
        && scheme.facts.coordination != Coordination::SameInput
        && scheme.layout.ends_at().is_none_or(|end| end > SystemClock.now())
        && !is_blind(scheme)
}

fn is_blind(scheme: &Scheme) -> bool {
    blind::SCHEMES.iter().any(|blind| blind.name == scheme.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_minted_scheme_and_method_is_a_subject() {
        let all = Subject::named("all", None).unwrap();
        for scheme in mintage::SCHEMES.iter().filter(|scheme| is_put_to_test(scheme)) {
            let own = all.iter().filter(|s| s.scheme.name == scheme.name && matches!(s.source, Source::Own));
            assert_eq!(own.count(), scheme.methods.len().max(1), "{}", scheme.name);
        }
        assert!(all.iter().filter(|subject| subject.has_policies()).count() >= 7);
    }

    #[test]
    fn each_subject_mints() {
        for subject in Subject::named("all", None).unwrap() {
            let generator = subject.generator(&subject.settings(1)).unwrap();
            let id = generator.next().unwrap();
            assert_eq!(subject.scheme.check(id), Ok(id), "{}", subject.name());
        }
    }

    #[test]
    fn what_is_not_minted_is_refused() {
        assert!(Subject::named("uuid-nil", None).is_err());
        assert!(Subject::named("uuid-v2", None).is_err());
        assert!(Subject::named("uuid-v7", Some("strict")).is_err());
        assert_eq!(Subject::named("blind-clock", None).unwrap().len(), 1);
    }
}
