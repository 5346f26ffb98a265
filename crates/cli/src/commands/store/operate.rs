//! What an operator does to a space: hold, burn, bump, drop.

use super::create::Switch;
use super::paste::Paste;
use crate::exit::{Failure, Outcome, usage};
use crate::output;
use crate::quantities;
use crate::reach::{self, Trust};
use clap::Args;
use mintage_lease::Request;
use mintage_lease::request::{Bump, Event, Shown};
use mintage_lease::space::Kind;
use mintage_lease::state::ScopeName;
use serde_json::json;
use std::io::Write;
use std::str::FromStr;

/// Where a space is, and how to answer.
#[derive(Debug, Args)]
struct Target {
    /// The store's URL, unless MINTAGE_STORE has it, and the space's name
    #[arg(value_names = ["URL", "SPACE"], num_args = 1..=2, required = true)]
    place: Vec<String>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl Target {
    /// Has the space carry out a request, and says what was done; where the space stands now may be part of it.
    fn ask(
        &self,
        request: &Request,
        done: impl FnOnce(&Shown, &Paste) -> String,
    ) -> Result<Outcome, Failure> {
        let (url, [name]) = reach::url_and(&self.place, "the space's name")?;
        let store = self.trust.open(&url)?;
        let shown = reach::wait(async {
            let space = store.space(&name, reach::soon()).await?;
            store.ask(&space, &self.trust.caller(), request, reach::soon()).await?;
            Ok(store.show(&name, reach::soon()).await?)
        })?;
        self.tell(&name, &done(&shown, &Paste::of(&url, &name, self.trust)))
    }

    fn tell(&self, name: &str, done: &str) -> Result<Outcome, Failure> {
        tell(name, done, self.json)
    }
}

/// Has a space carry out a request; what happened on the way.
fn ask(url: &str, name: &str, trust: Trust, request: &Request) -> Result<Vec<Event>, Failure> {
    let store = trust.open(url)?;
    reach::wait(async {
        let space = store.space(name, reach::soon()).await?;
        Ok(store.ask(&space, &trust.caller(), request, reach::soon()).await?.events)
    })
}

fn tell(name: &str, done: &str, is_json: bool) -> Result<Outcome, Failure> {
    let mut out = output::stdout();
    match is_json {
        true => output::json_line(&mut out, &json!({ "space": name, "done": done }))?,
        false => writeln!(out, "space {name}: {done}")?,
    }
    out.flush()?;
    Ok(Outcome::Done)
}

/// Put a space on hold: a step of each restore, before clients come back.
///
/// The hold of a space of windows passes by itself. A counter stays stopped until `mintage store bump` moves it above what may have been
/// handed out, or `mintage store release-hold` says that nothing was lost.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store hold sqlite:ids.db orders")]
pub(crate) struct Hold {
    #[command(flatten)]
    target: Target,
}

impl Hold {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        self.target.ask(&Request::Hold, |shown, paste| {
            let (bump, release) = (paste.command("bump", &["--by", "N"]), paste.command("release-hold", &[]));
            match &shown.space.kind {
                Kind::Windows(windows) => {
                    format!("on hold until {}; it passes by itself", windows.terms.time_of(shown.state.floor))
                }
                Kind::Scopes(_) => {
                    format!("all scopes are stopped; {bump} moves them on by N, {release} says that nothing was lost")
                }
                Kind::Blocks(_) => {
                    format!("stopped; {bump} moves it on by N, {release} says that nothing was lost")
                }
            }
        })
    }
}

/// End a hold at once, or the stop of a counter, knowing that nothing was lost: not now, and not in an earlier loss whose hold the store's clock stands in.
///
/// The hold of a space that was created again stays until the windows of the dropped one have passed. What jumped or was bumped stays where
/// it is; a scope that isn't there yet begins above it, unless --begin-anew says that none was lost.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage store release-hold sqlite:ids.db orders\n  mintage store release-hold --begin-anew sqlite:ids.db issues"
)]
pub(crate) struct ReleaseHold {
    #[command(flatten)]
    target: Target,
    /// Of a space of scopes that isn't stopped: every scope that was ever used is there, so one that isn't begins with the first value again; wrong, it brings numbers twice
    #[arg(long)]
    begin_anew: bool,
}

impl ReleaseHold {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let (url, [name]) = reach::url_and(&self.target.place, "the space's name")?;
        let request = if self.begin_anew { Request::BeginAnew } else { Request::ReleaseHold };
        let events = ask(&url, &name, self.target.trust, &request)?;
        let stays = events.iter().any(|event| matches!(event, Event::HoldStays { .. }));
        let store = self.target.trust.open(&url)?;
        let shown = reach::wait(async { Ok(store.show(&name, reach::soon()).await?) })?;
        let done = match &shown.space.kind {
            _ if stays => "on hold until the windows of the dropped space have passed".to_owned(),
            Kind::Scopes(_) => {
                format!("in use; a scope that isn't there yet begins with {}", shown.state.block.next)
            }
            Kind::Windows(_) | Kind::Blocks(_) => "in use".to_owned(),
        };
        self.target.tell(&name, &done)
    }
}

/// Say whether a mere restart of the store's server begins a hold.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store restart-hold sqlite:ids.db orders --set off")]
pub(crate) struct RestartHold {
    #[command(flatten)]
    target: Target,
    /// On, or off for those who never restore volumes
    #[arg(long, value_enum, value_name = "ON|OFF")]
    set: Switch,
}

impl RestartHold {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let is_on = self.set == Switch::On;
        let done = if is_on { "a restart begins a hold" } else { "a restart begins no hold" };
        self.target.ask(&Request::RestartHold(is_on), |_, _| done.to_owned())
    }
}

/// Retire a worker of a space for ever: its holder can't renew, and nobody gets it again.
///
/// That lasts as long as the space does: one that is dropped and created again has all its workers, so burn it there again.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store burn-worker sqlite:ids.db orders 17")]
pub(crate) struct BurnWorker {
    /// The store's URL, unless MINTAGE_STORE has it, the space's name, and the worker
    #[arg(value_names = ["URL", "SPACE", "WORKER"], num_args = 2..=3, required = true)]
    place: Vec<String>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl BurnWorker {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let (url, [name, worker]) = reach::url_and(&self.place, "the space's name and the worker")?;
        let number = quantities::digits(&worker)
            .ok_or_else(|| usage(format!("`{worker}` is no worker; a whole number expected")))?;
        ask(&url, &name, self.trust, &Request::Burn(number))?;
        tell(&name, &format!("worker {number} is retired"), self.json)
    }
}

/// Move a counter up, at most to its last value, and let it hand out values again.
///
/// In a space of scopes, --by moves all of them, those that aren't there yet too. With --scope one of them is moved, and made where it isn't
/// there yet, as for numbers that were imported; a stop of the space stays.
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("how").required(true).args(["to", "by"]),
    after_help = "Examples:\n  mintage store bump sqlite:ids.db invoices --by 1000000\n  mintage store bump sqlite:ids.db issues --scope 42 --to 1307"
)]
pub(crate) struct BumpCounter {
    #[command(flatten)]
    target: Target,
    /// To this value, or the next that the offset allows
    #[arg(long, value_name = "N", value_parser = quantities::count_64)]
    to: Option<u64>,
    /// By this many, on to the next value that the offset allows
    #[arg(long, value_name = "N", value_parser = quantities::count_64)]
    by: Option<u64>,
    /// This scope alone
    #[arg(long, value_name = "NAME", value_parser = ScopeName::from_str, allow_hyphen_values = true)]
    scope: Option<ScopeName>,
}

impl BumpCounter {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let bump = match (self.to, self.by) {
            (Some(to), _) => Bump::To(to),
            (None, by) => Bump::By(by.unwrap_or(0)),
        };
        if let Some(scope) = &self.scope {
            let request = Request::BumpScope(scope.clone(), bump);
            return self.target.ask(&request, |shown, _| {
                let stopped = if shown.state.block.is_stale { "; the space is still stopped" } else { "" };
                format!("scope {scope} is bumped{stopped}")
            });
        }
        self.target.ask(&Request::Bump(bump), |shown, _| match shown.space.scopes() {
            Some(_) => format!(
                "all scopes are bumped; one that isn't there yet begins with {}",
                shown.state.block.next
            ),
            None => format!("bumped; the next value is {}", shown.state.block.next),
        })
    }
}

/// Make the tables of a store, or bring them up to this program's version.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store upgrade sqlite:ids.db")]
pub(crate) struct Upgrade {
    /// The store's URL, unless MINTAGE_STORE has it
    url: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl Upgrade {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let store = self.trust.open(&reach::url(self.url.as_deref())?)?;
        reach::wait(async { Ok(store.upgrade(reach::soon()).await?) })?;
        let mut out = output::stdout();
        match self.json {
            true => output::json_line(&mut out, &json!({ "store": store.url(), "done": "upgraded" }))?,
            false => writeln!(out, "{}: its tables are as this program knows them", store.url())?,
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}

/// Drop a space. Its marks are kept, so that a space of the same name can't repeat an id; it begins on hold.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  mintage store drop sqlite:ids.db orders")]
pub(crate) struct DropSpace {
    #[command(flatten)]
    target: Target,
}

impl DropSpace {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let (url, [name]) = reach::url_and(&self.target.place, "the space's name")?;
        let store = self.target.trust.open(&url)?;
        reach::wait(async { Ok(store.drop_space(&name, reach::soon()).await?) })?;
        self.target.tell(&name, "dropped")
    }
}
