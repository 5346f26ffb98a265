//! What a request says of a space that it wants made.

use crate::fault::Fault;
use crate::object::Object;
use mintage::schemes::snowflake::{DEFAULT_BASE, custom_split};
use mintage::{Scheme, TimeBase, UnixNanos};
use mintage_lease::space::{BlockTerms, Kind, ScopeTerms, Windows};
use serde::Deserialize;

/// A space as a body of JSON: a name, and exactly one of `snowflake`, `block`, `ticket` and `scope`. Numbers of 64 bits may be texts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceSpec {
    /// a-z, 0-9, `-`, `_` and `.`
    pub name: String,
    /// A scheme with a worker, or the bits of timestamp, worker and sequence.
    snowflake: Option<Object<Snowflake>>,
    /// Blocks of a counter.
    block: Option<Object<Counter>>,
    /// One value of a counter a round trip.
    ticket: Option<Object<Counter>>,
    /// A counter for each scope.
    scope: Option<Object<Scopes>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Snowflake {
    /// Such as `twitter`, or `41/10/12`.
    layout: String,
    epoch: Option<String>,
    tick_nanos: Option<Number>,
    first_worker: Option<Number>,
    last_worker: Option<Number>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counter {
    first: Option<Number>,
    last: Option<Number>,
    step: Option<Number>,
    offset: Option<Number>,
    max_size: Option<Number>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scopes {
    first: Option<Number>,
    last: Option<Number>,
}

/// A number of 64 bits, as a number or, since many clients round those, as a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Plain(u64),
    Text(String),
}

impl Number {
    fn value(this: Option<&Self>, name: &str, default: u64) -> Result<u64, Fault> {
        match this {
            None => Ok(default),
            Some(Self::Plain(number)) => Ok(*number),
            Some(Self::Text(text)) => text.parse().map_err(|_| {
                Fault::bad(format!("{name} {text:?} was given, a number from 0 to {} expected", u64::MAX))
            }),
        }
    }
}

impl SpaceSpec {
    /// Its facts.
    ///
    /// # Errors
    /// [`crate::fault::Kind::BadRequest`] for facts that don't go together.
    pub fn kind(&self) -> Result<Kind, Fault> {
        match (&self.snowflake, &self.block, &self.ticket, &self.scope) {
            (Some(Object(snowflake)), None, None, None) => Ok(Kind::Windows(snowflake.windows()?)),
            (None, Some(Object(block)), None, None) => {
                Ok(Kind::Blocks(block.terms(BlockTerms::default().max_size)?))
            }
            (None, None, Some(Object(ticket)), None) => Ok(Kind::Blocks(ticket.terms(1)?)),
            (None, None, None, Some(Object(scope))) => {
                let default = ScopeTerms::default();
                Ok(Kind::Scopes(ScopeTerms {
                    first: Number::value(scope.first.as_ref(), "first", default.first)?,
                    last: Number::value(scope.last.as_ref(), "last", default.last)?,
                    ..default
                }))
            }
            _ => Err(Fault::bad(
                "a space is exactly one of snowflake, block, ticket and scope, such as {\"name\":\"orders\",\"block\":{}}",
            )),
        }
    }
}

impl Counter {
    fn terms(&self, max_size: u64) -> Result<BlockTerms, Fault> {
        let default = BlockTerms::default();
        Ok(BlockTerms {
            first: Number::value(self.first.as_ref(), "first", default.first)?,
            last: Number::value(self.last.as_ref(), "last", default.last)?,
            step: Number::value(self.step.as_ref(), "step", default.step)?,
            offset: Number::value(self.offset.as_ref(), "offset", default.offset)?,
            max_size: match max_size {
                1 if self.max_size.is_some() => return Err(Fault::bad("a ticket has no max_size: it is 1")),
                most => Number::value(self.max_size.as_ref(), "max_size", most)?,
            },
            ..default
        })
    }
}

impl Snowflake {
    fn windows(&self) -> Result<Windows, Fault> {
        let given = &self.layout;
        let bad = |error: mintage::Error| Fault::bad(format!("layout {given:?}: {error}"));
        let (scheme, layout) = if given.contains('/') {
            let epoch = match &self.epoch {
                None => DEFAULT_BASE.epoch,
                Some(text) => UnixNanos::parse(text).map_err(|_| {
                    Fault::bad(format!(
                        "epoch {text:?} was given, a time such as 2025-01-01T00:00:00Z expected"
                    ))
                })?,
            };
            let tick_nanos = Number::value(self.tick_nanos.as_ref(), "tick_nanos", DEFAULT_BASE.tick_nanos)?;
            let base = TimeBase { epoch, tick_nanos };
            (Scheme::by_name("snowflake"), Some(custom_split(given, base).map_err(bad)?))
        } else if self.epoch.is_some() || self.tick_nanos.is_some() {
            return Err(Fault::bad(format!(
                "layout {given:?} is fixed; epoch and tick_nanos go with a split such as 41/10/12"
            )));
        } else {
            (Scheme::by_name(&format!("snowflake-{given}")).or_else(|| Scheme::by_name(given)), None)
        };
        let Some(scheme) = scheme else {
            return Err(Fault::bad(format!(
                "layout {given:?} was given, a scheme with a worker such as twitter, or a split such as 41/10/12 expected"
            )));
        };
        let mut windows = Windows::of(scheme, layout.as_ref())
            .map_err(|fault| Fault::bad(format!("layout {given:?}: {fault}")))?;
        let terms = &mut windows.terms;
        terms.first_worker = Number::value(self.first_worker.as_ref(), "first_worker", terms.first_worker)?;
        terms.last_worker = Number::value(self.last_worker.as_ref(), "last_worker", terms.last_worker)?;
        let workers = terms.last_worker.saturating_sub(terms.first_worker).saturating_add(1);
        terms.host_quota = u32::try_from(workers / 4).unwrap_or(u32::MAX).clamp(1, 4096);
        Ok(windows)
    }
}
