//! What a run puts to the test: a scheme, one of its methods, and a generator of its own or the one that the process shares.

use crate::blind;
use anyhow::{Result, bail};
use mintage::scheme::{Coordination, Mint, Sortable};
use mintage::schemes::firebase_pushid::FirebasePushidScheme;
use mintage::schemes::ksuid::KsuidScheme;
use mintage::schemes::objectid::ObjectIdScheme;
use mintage::schemes::scru128::Scru128Scheme;
use mintage::schemes::typeid::TypeidScheme;
use mintage::schemes::ulid::UlidScheme;
use mintage::schemes::uuid_v1::UuidV1Scheme;
use mintage::schemes::uuid_v4::UuidV4Scheme;
use mintage::schemes::uuid_v6::UuidV6Scheme;
use mintage::schemes::uuid_v7::UuidV7Scheme;
use mintage::schemes::xid::XidScheme;
use mintage::{Clock, Error, Generator, Method, RawId, Scheme, Setting, Settings, StaticScheme, SystemClock};

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
    /// The one that `Id::new` uses, shared by the whole process.
    Shared(MintOne),
}

/// One id of a shared generator.
pub type MintOne = fn() -> Result<RawId, Error>;

/// The schemes that have a shared generator.
static SHARED: &[(&Scheme, MintOne)] = &[
    (UuidV1Scheme::SCHEME, shared::<UuidV1Scheme>),
    (UuidV4Scheme::SCHEME, shared::<UuidV4Scheme>),
    (UuidV6Scheme::SCHEME, shared::<UuidV6Scheme>),
    (UuidV7Scheme::SCHEME, shared::<UuidV7Scheme>),
    (UlidScheme::SCHEME, shared::<UlidScheme>),
    (KsuidScheme::SCHEME, shared::<KsuidScheme>),
    (ObjectIdScheme::SCHEME, shared::<ObjectIdScheme>),
    (XidScheme::SCHEME, shared::<XidScheme>),
    (FirebasePushidScheme::SCHEME, shared::<FirebasePushidScheme>),
    (Scru128Scheme::SCHEME, shared::<Scru128Scheme>),
    (TypeidScheme::SCHEME, shared::<TypeidScheme>),
];

fn shared<S: Mint>() -> Result<RawId, Error> {
    S::mint().map(mintage::raw::Repr::into_raw)
}

struct SharedGenerator(MintOne);

impl Generator for SharedGenerator {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        for id in out.iter_mut() {
            *id = (self.0)()?;
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
        let shared = SHARED.iter().find(|(other, _)| other.name == scheme.name);
        subjects.extend(shared.map(|(_, mint)| with(None, Source::Shared(*mint))));
        subjects
    }

    /// `uuid-v7 counter`, `uuid-v7 shared`, `ksuid`.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.source, self.method) {
            (Source::Shared(_), _) => format!("{} shared", self.scheme.name),
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
            Source::Shared(mint) => Ok(Box::new(SharedGenerator(mint))),
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
