//! What the service does, whatever it is asked by: no transport is known here.

use crate::credentials::{Caller, Credentials, Need};
use crate::facades::{Facades, Way};
use crate::fault::{Fault, Kind};
use crate::issuer::{Issued, Issuer};
use crate::metrics::Metrics;
use crate::spec::SpaceSpec;
use crate::waiting::Waiting;
use mintage::{Generator, RawId, SCHEMES, Scheme, Settings};
use mintage_lease::request::{Block, Shown};
use mintage_lease::session::Session;
use mintage_lease::space::{BlockTerms, Kind as Terms, Windows};
use mintage_lease::state::ScopeName;
use mintage_lease::store::{CreateOptions, Deadline, draw_nonce};
use mintage_lease::{Error, Space, SpaceId, Store};
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::OnceCell;

/// How much is taken on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most ids of one request.
    pub max_count: u64,
    /// Most requests that wait for a store or for ticks.
    pub max_waiting: usize,
}

/// How long the store may take for what isn't minting.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it may take for a look.
const LOOK_PATIENCE: Duration = Duration::from_secs(3);

/// The spaces that a new server has from the start: a Snowflake space and a counter.
pub const FIRST_SPACES: [&str; 2] = ["default", "counter"];

/// So many ids of a scheme are minted at once, without a thread that may wait: it takes some microseconds.
const AT_ONCE: usize = 1_000;

type Opening = Arc<OnceCell<Arc<Issuer>>>;

/// All that a server does, over one store.
pub struct Api {
    session: Session,
    /// Spaces that were asked for; each is opened once, at the first call.
    issuers: RwLock<HashMap<String, Opening>>,
    /// Facts of spaces that processes lease from through this server.
    spaces: RwLock<HashMap<String, Arc<Space>>>,
    /// Schemes that need no worker, by name.
    generators: RwLock<HashMap<&'static str, Arc<dyn Generator>>>,
    credentials: Credentials,
    facades: Facades,
    limits: Limits,
    waiting: Waiting,
    metrics: Arc<Metrics>,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").field("store", &self.store_url()).finish_non_exhaustive()
    }
}

impl Api {
    /// Over this store; nothing is connected before the first call.
    #[must_use]
    pub fn over(
        session: Session,
        credentials: Credentials,
        facades: Facades,
        limits: Limits,
        metrics: Arc<Metrics>,
    ) -> Self {
        let waiting = Waiting::up_to(limits.max_waiting);
        Self {
            session,
            issuers: RwLock::default(),
            spaces: RwLock::default(),
            generators: RwLock::default(),
            credentials,
            facades,
            limits,
            waiting,
            metrics,
        }
    }

    /// The store itself, for processes that mint themselves.
    pub(crate) fn store(&self) -> Result<&Arc<dyn Store>, Error> {
        self.session.store()
    }

    /// The space of this name and UUID; asked of the store where another was known, or none.
    pub(crate) async fn known_space(
        &self,
        name: &str,
        id: u128,
        deadline: Deadline,
    ) -> Result<Arc<Space>, Error> {
        let known = self.spaces.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        if let Some(known) = known.filter(|known| known.id.0 == id) {
            return Ok(known);
        }
        let gone = || Error::SpaceGone { space: name.to_owned() };
        let space = match self.session.store()?.space(name, deadline).await {
            Ok(space) if space.id.0 == id => Arc::new(space),
            // Whoever asks knew it once.
            Ok(_) | Err(Error::NoSuchSpace { .. }) => return Err(gone()),
            Err(error) => return Err(error),
        };
        self.spaces
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.to_owned(), Arc::clone(&space));
        Ok(space)
    }

    /// Who may do what.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Public forms of ids.
    #[must_use]
    pub fn facades(&self) -> &Facades {
        &self.facades
    }

    /// How much is taken on at once.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The store's URL, without a password.
    #[must_use]
    pub fn store_url(&self) -> &str {
        self.session.url()
    }

    /// So many ids of a scheme that needs no worker.
    ///
    /// # Errors
    /// [`Kind::NoSuchScheme`], [`Kind::BadRequest`] for a count out of range.
    pub async fn ids_of_scheme(&self, caller: &Caller, name: &str, count: u64) -> Result<Issued, Fault> {
        caller.may(Need::Any)?;
        let count = self.spent(caller, count)?;
        let scheme = Scheme::by_name(name).ok_or_else(|| no_scheme(name))?;
        let generator = self.generator(scheme)?;
        let work = move || {
            let mut ids = vec![RawId::ZERO; count];
            generator.fill(&mut ids).map(|()| ids)
        };
        let ids = if count <= AT_ONCE { work()? } else { self.waiting.elsewhere(work).await?? };
        self.metrics.ids_of_scheme(scheme.name, count as u64);
        Ok(Issued::Ids(scheme, ids))
    }

    fn generator(&self, scheme: &'static Scheme) -> Result<Arc<dyn Generator>, Fault> {
        let known = self.generators.read().unwrap_or_else(PoisonError::into_inner).get(scheme.name).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let made: Arc<dyn Generator> = match scheme.generator(&Settings::default()) {
            Ok(made) => made.into(),
            Err(mintage::Error::WorkerMissing { .. }) => {
                let detail = format!("{}: its ids have a worker, so they are minted in a space", scheme.name);
                return Err(Fault::new(Kind::NoSuchScheme, detail));
            }
            Err(error) => return Err(Fault::new(Kind::NoSuchScheme, error.to_string())),
        };
        let mut all = self.generators.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(all.entry(scheme.name).or_insert(made)))
    }

    /// What hands out the ids of a space; opened when it is asked for first. No space is made by asking.
    ///
    /// # Errors
    /// [`Kind::NoSuchSpace`], and whatever keeps the store from answering.
    pub async fn issuer(&self, name: &str) -> Result<Arc<Issuer>, Fault> {
        if let Some(open) = self.opened(name) {
            return Ok(open);
        }
        let opening = {
            let mut all = self.issuers.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(name.to_owned()).or_default())
        };
        let opened = opening
            .get_or_try_init(|| async {
                let space = self.session.space(name).await?;
                Issuer::open(&space, self.waiting.clone(), self.metrics.of_space(name)).await.map(Arc::new)
            })
            .await;
        if opened.is_err() {
            // A name that leads nowhere leaves nothing behind.
            let mut all = self.issuers.write().unwrap_or_else(PoisonError::into_inner);
            if all.get(name).is_some_and(|other| Arc::ptr_eq(other, &opening) && !opening.initialized()) {
                all.remove(name);
            }
        }
        opened.cloned()
    }

    /// Whether a space turned out to be dropped; it is opened anew by whoever asks next.
    fn has_gone<T>(&self, name: &str, issuer: &Arc<Issuer>, done: &Result<T, Fault>) -> bool {
        let has_gone = done.as_ref().is_err_and(|fault| fault.kind == Kind::SpaceGone);
        if has_gone {
            self.forget(name, issuer);
        }
        has_gone
    }

    fn forget(&self, name: &str, issuer: &Arc<Issuer>) {
        let mut all = self.issuers.write().unwrap_or_else(PoisonError::into_inner);
        if all.get(name).and_then(|opening| opening.get()).is_some_and(|known| Arc::ptr_eq(known, issuer)) {
            all.remove(name);
        }
    }

    /// The same where it is open already.
    #[must_use]
    pub fn opened(&self, name: &str) -> Option<Arc<Issuer>> {
        self.issuers.read().unwrap_or_else(PoisonError::into_inner).get(name)?.get().cloned()
    }

    /// So many ids of a space.
    ///
    /// # Errors
    /// See [`Api::issuer`] and [`Issuer::issue`].
    pub async fn ids(&self, caller: &Caller, space: &str, count: u64) -> Result<Issued, Fault> {
        caller.may(Need::Mint(space))?;
        let count = self.spent(caller, count)?;
        let issuer = self.issuer(space).await?;
        let issued = issuer.issue(count).await;
        if self.has_gone(space, &issuer, &issued) {
            return self.issuer(space).await?.issue(count).await;
        }
        issued
    }

    /// The last of so many values of a counter that follow each other.
    ///
    /// # Errors
    /// See [`Api::issuer`] and [`Issuer::next`].
    pub async fn next(&self, caller: &Caller, space: &str, count: u64) -> Result<u64, Fault> {
        caller.may(Need::Mint(space))?;
        caller.spend(count, u64::MAX)?;
        if count == 1
            && let Some(open) = self.opened(space)
            && let Some(value) = open.try_next()
        {
            return Ok(value);
        }
        let issuer = self.issuer(space).await?;
        let last = issuer.next(count).await;
        if self.has_gone(space, &issuer, &last) {
            return self.issuer(space).await?.next(count).await;
        }
        last
    }

    /// A block of so many values, for the caller alone.
    ///
    /// # Errors
    /// See [`Api::issuer`] and [`Issuer::block`].
    pub async fn block(&self, caller: &Caller, space: &str, count: u64) -> Result<Block, Fault> {
        caller.may(Need::Mint(space))?;
        caller.spend(count, u64::MAX)?;
        let issuer = self.issuer(space).await?;
        let block = issuer.block(count).await;
        if self.has_gone(space, &issuer, &block) {
            return self.issuer(space).await?.block(count).await;
        }
        block
    }

    /// So many numbers of a scope, one after the other.
    ///
    /// # Errors
    /// See [`Api::issuer`] and [`Issuer::of_scope`].
    pub async fn of_scope(
        &self,
        caller: &Caller,
        space: &str,
        scope: &ScopeName,
        count: u64,
    ) -> Result<Range<u64>, Fault> {
        caller.may(Need::Mint(space))?;
        self.spent(caller, count)?;
        let issuer = self.issuer(space).await?;
        let numbers = issuer.of_scope(scope, count).await;
        if self.has_gone(space, &issuer, &numbers) {
            return self.issuer(space).await?.of_scope(scope, count).await;
        }
        numbers
    }

    /// Public forms of ids, or the ids of public forms.
    ///
    /// # Errors
    /// See [`Facades::carry`].
    pub fn carry(
        &self,
        caller: &Caller,
        name: &str,
        way: Way,
        key: Option<&str>,
        texts: &[&str],
    ) -> Result<Vec<String>, Fault> {
        caller.may(Need::Read)?;
        self.facades.carry(name, way, key, texts)
    }

    /// Every space that is in use, by name.
    ///
    /// # Errors
    /// Whatever keeps the store from answering.
    pub async fn spaces(&self, caller: &Caller) -> Result<Vec<Shown>, Fault> {
        caller.may(Need::Read)?;
        let mut all = self.session.store()?.list(Deadline::after(PATIENCE)).await?;
        all.retain(|shown| shown.dropped.is_none());
        Ok(all)
    }

    /// One space.
    ///
    /// # Errors
    /// [`Kind::NoSuchSpace`], and whatever keeps the store from answering.
    pub async fn space(&self, caller: &Caller, name: &str) -> Result<Shown, Fault> {
        caller.may(Need::Read)?;
        Ok(self.session.store()?.show(name, Deadline::after(PATIENCE)).await?)
    }

    /// The counter below which all that was handed out is, as far as the store knows: what servers hold in memory is below it, used or not.
    ///
    /// # Errors
    /// [`Kind::WrongKind`] for a space that has no counter, and see [`Api::space`].
    pub async fn high_water_mark(&self, caller: &Caller, name: &str) -> Result<u64, Fault> {
        // Who may move a counter may read it.
        caller.may(Need::Mint(name)).or_else(|fault| caller.may(Need::Read).map_err(|_| fault))?;
        let shown = self.session.store()?.show(name, Deadline::after(PATIENCE)).await?;
        match shown.space.blocks() {
            Some(_) => Ok(shown.state.block.next),
            None => {
                let kind = shown.space.kind.name();
                Err(Fault::new(
                    Kind::WrongKind,
                    format!("{name} is a space of {kind}; GET doesn't go with it"),
                ))
            }
        }
    }

    /// Creates a space, or finds it with the same facts; and whether it is new.
    ///
    /// # Errors
    /// [`Kind::BadRequest`] for facts that don't go together, [`Kind::SpaceDiffers`], and whatever keeps the store from answering.
    pub async fn create(&self, caller: &Caller, spec: &SpaceSpec) -> Result<(Space, bool), Fault> {
        caller.may(Need::Admin)?;
        let space = Space { id: SpaceId(draw_nonce()?.0), name: spec.name.clone(), kind: spec.kind()? };
        let made = self.session.create(&space, CreateOptions::default()).await?;
        let is_new = made.id == space.id;
        Ok((made, is_new))
    }

    /// Takes so many ids from what a caller may have.
    fn spent(&self, caller: &Caller, count: u64) -> Result<usize, Fault> {
        caller.spend(count, self.limits.max_count)?;
        usize::try_from(count).map_err(|_| Fault::bad(format!("count {count} is too many at once")))
    }

    /// Makes [`FIRST_SPACES`] where they are missing; those that are there stay, whatever they are.
    ///
    /// # Errors
    /// Whatever keeps the store from answering.
    pub async fn make_first_spaces(&self) -> Result<(), Fault> {
        let [ids, counter] = FIRST_SPACES;
        let twitter = Scheme::by_name("snowflake").ok_or_else(|| no_scheme("snowflake"))?;
        let windows =
            Windows::of(twitter, None).map_err(|fault| Fault::new(Kind::Internal, fault.to_string()))?;
        for (name, kind) in [(ids, Terms::Windows(windows)), (counter, Terms::Blocks(BlockTerms::default()))]
        {
            let space = Space { id: SpaceId(draw_nonce()?.0), name: name.to_owned(), kind };
            match self.session.create(&space, CreateOptions::default()).await {
                Ok(_) | Err(Error::SpaceDiffers { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// What keeps the server from handing out ids of the spaces that it has open.
    #[must_use]
    pub fn lacks(&self) -> Vec<String> {
        self.all_open().iter().filter_map(|issuer| issuer.lacks()).collect()
    }

    /// What it counts.
    #[must_use]
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// How many requests wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.now()
    }

    /// Looks at what the store has of the spaces that are open here, for the metrics.
    pub async fn look_at_store(&self) {
        let mut all = Vec::new();
        let mut is_up = true;
        let Ok(store) = self.session.store() else { return };
        let open = self.all_open();
        if open.is_empty() {
            is_up = store.list(Deadline::after(LOOK_PATIENCE)).await.is_ok();
        }
        for issuer in open {
            let name = issuer.facts().name.as_str();
            match store.show(name, Deadline::after(LOOK_PATIENCE)).await {
                Ok(shown) if shown.space.id == issuer.facts().id => all.push(shown),
                // Dropped meanwhile, and perhaps created again.
                Ok(_) | Err(Error::NoSuchSpace { .. }) => self.forget(name, &issuer),
                Err(_) => is_up = false,
            }
        }
        self.metrics.looked(all, is_up);
    }

    /// Everything that it counts, as Prometheus reads it.
    ///
    /// # Errors
    /// [`Kind::Internal`].
    pub fn metrics_text(&self, caller: &Caller) -> Result<String, Fault> {
        caller.may(Need::Read)?;
        self.metrics.text(self).map_err(|error| Fault::new(Kind::Internal, error.to_string()))
    }

    /// Gives back what all spaces hold, at once.
    pub async fn close(&self) {
        let closing: Vec<_> = self
            .all_open()
            .into_iter()
            .map(|issuer| tokio::spawn(async move { issuer.close().await }))
            .collect();
        for closed in closing {
            let _ = closed.await;
        }
    }

    pub(crate) fn all_open(&self) -> Vec<Arc<Issuer>> {
        let all = self.issuers.read().unwrap_or_else(PoisonError::into_inner);
        all.values().filter_map(|opening| opening.get().cloned()).collect()
    }
}

fn no_scheme(name: &str) -> Fault {
    let lower = name.to_ascii_lowercase();
    let nearest = SCHEMES
        .iter()
        .filter(|scheme| scheme.generator.is_some())
        .min_by_key(|scheme| strsim::damerau_levenshtein(&lower, scheme.name));
    let hint = nearest.map_or_else(String::new, |scheme| format!("; did you mean {}?", scheme.name));
    Fault::new(Kind::NoSuchScheme, format!("there is no scheme {name:?}{hint}"))
}
