//! The signals that end a drill: it stops between two steps, and what it had started is gone when its handles are.

use crate::exit::Failure;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once somebody wants the drill to end.
#[derive(Clone, Debug)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens for SIGINT, SIGTERM and SIGHUP on a thread of its own, while the drill works on its own.
    pub(super) fn at_signals() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let stop = Self(Arc::new(AtomicBool::new(false)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (mut interrupt, mut terminate, mut hangup) = {
            let _inside = runtime.enter();
            (
                signal(SignalKind::interrupt())?,
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
            )
        };
        let told = stop.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hangup.recv() => {}
                }
            });
            // Ordering: nothing else is told by it.
            told.0.store(true, Ordering::Relaxed);
        })?;
        Ok(stop)
    }

    /// The same, for those who look by themselves.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether the drill is to end.
    pub(super) fn is_set(&self) -> bool {
        // Ordering: nothing else is told by it.
        self.0.load(Ordering::Relaxed)
    }

    /// An error once the drill is to end; `what_stays` says what is left of it.
    pub(super) fn check(&self, what_stays: &str) -> Result<(), Failure> {
        if self.is_set() {
            return Err(Failure::Cannot(anyhow::anyhow!("stopped by a signal; {what_stays}")));
        }
        Ok(())
    }
}
