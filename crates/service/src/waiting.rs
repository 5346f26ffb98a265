//! Work that may wait: on threads for that, so many at once, and no more in line than there is room for.

use crate::fault::{Fault, Kind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Most threads that wait at once; the others stand in line.
const THREADS: usize = 256;

/// When to come again where there is no place in line.
const AGAIN: Duration = Duration::from_secs(1);

/// The threads and the line. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Waiting {
    line: Arc<Semaphore>,
    threads: Arc<Semaphore>,
    most: usize,
}

impl Waiting {
    /// With room for so many requests, on threads and in line.
    #[must_use]
    pub fn up_to(most: usize) -> Self {
        Self { line: Arc::new(Semaphore::new(most)), threads: Arc::new(Semaphore::new(THREADS)), most }
    }

    /// How many there are now.
    #[must_use]
    pub fn now(&self) -> usize {
        self.most - self.line.available_permits()
    }

    /// Does work that may wait. Where its future is dropped, the work goes on, and what it took is lost.
    ///
    /// # Errors
    /// [`Kind::Overloaded`] where there is no place in line.
    pub async fn elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Fault> {
        let Ok(_place) = self.line.try_acquire() else {
            let detail =
                format!("{} requests wait for the store or for time to pass, and no more may", self.most);
            return Err(Fault::new(Kind::Overloaded, detail).again_in(AGAIN));
        };
        let closed = |_| Fault::new(Kind::Ending, "the server is ending");
        // Held by the work itself: it goes on when nobody waits for it any more.
        let thread = Arc::clone(&self.threads).acquire_owned().await.map_err(closed)?;
        let done = tokio::task::spawn_blocking(move || {
            let _thread = thread;
            work()
        });
        done.await.map_err(|error| Fault::new(Kind::Internal, format!("a task ended early: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_more_than_there_is_room_for_is_told_to_come_again() {
        let waiting = Waiting::up_to(1);
        let (begun, is_begun) = tokio::sync::oneshot::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let first = waiting.clone();
        let first = tokio::spawn(async move {
            first
                .elsewhere(move || {
                    let _ = begun.send(());
                    let _ = ended.recv();
                    1
                })
                .await
        });
        is_begun.await.unwrap();
        let fault = waiting.elsewhere(|| 2).await.unwrap_err();
        assert_eq!((fault.kind, fault.retry_after), (Kind::Overloaded, Some(AGAIN)));
        end.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(1));
        assert_eq!(waiting.elsewhere(|| 3).await, Ok(3));
    }
}
