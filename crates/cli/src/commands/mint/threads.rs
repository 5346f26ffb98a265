//! The threads that mint: how they are told to stop, what the first failure was, and when the last has ended.

use crate::exit::Failure;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A process that was told to stop doesn't wait longer for a reader that doesn't read.
const LONGEST_END: Duration = Duration::from_secs(2);

/// How often a task looks whether it was told to stop.
const LOOK: Duration = Duration::from_millis(20);

/// What the threads of one run have in common.
#[derive(Debug)]
pub(super) struct Threads {
    stop: Arc<AtomicBool>,
    running: AtomicUsize,
    ended: Mutex<Option<oneshot::Sender<()>>>,
    failure: Mutex<Option<Failure>>,
}

impl Threads {
    /// So many threads that are to run, which `stop` stops; what comes with them tells when the last has ended.
    pub(super) fn new(count: usize, stop: Arc<AtomicBool>) -> (Self, oneshot::Receiver<()>) {
        let (ended, has_ended) = oneshot::channel();
        let running = AtomicUsize::new(count);
        (Self { stop, running, ended: Mutex::new(Some(ended)), failure: Mutex::default() }, has_ended)
    }

    pub(super) fn are_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// One thread's work. A failure ends all of them, and so does a panic: a thread that is gone must not be waited for.
    pub(super) fn run(&self, work: impl FnOnce() -> Result<(), Failure>) {
        let _out = Out(self);
        if let Err(failure) = work() {
            self.fail(failure);
        }
    }

    fn fail(&self, failure: Failure) {
        self.stop.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
    }

    /// Waits until the threads have ended; once they were told to stop, not for ever. The first failure.
    pub(super) async fn end(&self, mut has_ended: oneshot::Receiver<()>) -> Result<(), Failure> {
        loop {
            let is_told = self.are_to_stop();
            let longest = if is_told { LONGEST_END } else { LOOK };
            if tokio::time::timeout(longest, &mut has_ended).await.is_ok() || is_told {
                break;
            }
        }
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), Err)
    }
}

/// Counts a thread out, however it ends.
struct Out<'a>(&'a Threads);

impl Drop for Out<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(Failure::Cannot(anyhow::anyhow!(
                "a thread that mints has panicked; this is a bug of mintage"
            )));
        }
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(ended) = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            let _ = ended.send(());
        }
    }
}

/// What `work` gives, unless `stop` comes first: then nothing, at once.
pub(super) async fn unless_stopped<T>(stop: &AtomicBool, work: impl Future<Output = T>) -> Option<T> {
    let stopped = async {
        while !stop.load(Ordering::Relaxed) {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        biased;
        done = work => Some(done),
        () = stopped => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::usage;

    fn ended(
        count: usize,
        work: impl Fn(usize) -> Result<(), Failure> + Send + Copy + 'static,
    ) -> Result<(), Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        let (threads, has_ended) = Threads::new(count, stop);
        let threads = Arc::new(threads);
        for number in 0..count {
            let threads = Arc::clone(&threads);
            std::thread::spawn(move || threads.run(|| work(number)));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let longest = Duration::from_secs(20);
        runtime.block_on(async { tokio::time::timeout(longest, threads.end(has_ended)).await }).unwrap()
    }

    #[test]
    fn a_thread_that_panics_ends_the_run_with_a_failure() {
        let result = ended(3, |number| if number == 1 { panic!("as it should") } else { Ok(()) });
        assert!(matches!(result, Err(Failure::Cannot(error)) if error.to_string().contains("panicked")));
    }

    #[test]
    fn the_run_ends_well_or_with_the_failure_of_a_thread() {
        assert!(ended(3, |_| Ok(())).is_ok());
        let result = ended(3, |number| if number == 2 { Err(usage("no")) } else { Ok(()) });
        assert!(matches!(result, Err(Failure::Usage(text)) if text == "no"));
    }

    #[test]
    fn what_waits_for_ever_ends_when_it_is_told() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let stop = AtomicBool::new(true);
        assert_eq!(runtime.block_on(unless_stopped(&stop, std::future::pending::<()>())), None);
        assert_eq!(runtime.block_on(unless_stopped(&stop, async { 7 })), Some(7));
    }
}
