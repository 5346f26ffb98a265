//! Outages: the times in which no thread was given an id.

/// When one thread got its ids, on the monotonic clock: only the gaps of a millisecond and more are kept.
#[derive(Clone, Debug)]
pub struct Gaps {
    last: u64,
    gaps: Vec<(u64, u64)>,
}

/// Shorter gaps are not kept: a spent sequence waits as long.
const LEAST_NANOS: u64 = 1_000_000;

impl Gaps {
    /// A thread that begins to mint at `now`.
    #[must_use]
    pub const fn since(now: u64) -> Self {
        Self { last: now, gaps: Vec::new() }
    }

    /// It got an id, or ended, at `now`.
    pub fn mark(&mut self, now: u64) {
        if now.saturating_sub(self.last) >= LEAST_NANOS {
            self.gaps.push((self.last, now));
        }
        self.last = self.last.max(now);
    }

    /// It begins to ask at `now`, after a time in which it didn't: that time was no outage.
    pub const fn resume(&mut self, now: u64) {
        self.last = now;
    }

    /// Nanoseconds of the longest time in which none of these threads got an id; 0 when it is below a millisecond.
    #[must_use]
    pub fn longest_common(threads: &[Self]) -> u64 {
        let Some((first, others)) = threads.split_first() else {
            return 0;
        };
        let mut common = first.gaps.clone();
        for thread in others {
            common = intersect(&common, &thread.gaps);
        }
        common.iter().map(|(from, until)| until - from).max().unwrap_or(0)
    }
}

/// Both lists are in order and each without overlap; so is the answer.
fn intersect(a: &[(u64, u64)], b: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let (mut i, mut j) = (0, 0);
    let mut both = Vec::new();
    while i < a.len() && j < b.len() {
        let (from, until) = (a[i].0.max(b[j].0), a[i].1.min(b[j].1));
        if from < until {
            both.push((from, until));
        }
        if a[i].1 < b[j].1 { i += 1 } else { j += 1 }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn gaps(marks: &[u64]) -> Gaps {
        let mut gaps = Gaps::since(0);
        for mark in marks {
            gaps.mark(mark * MS);
        }
        gaps
    }

    #[test]
    fn an_outage_is_what_all_threads_have_in_common() {
        let (a, b) = (gaps(&[10, 100, 101]), gaps(&[40, 70, 160]));
        assert_eq!(Gaps::longest_common(std::slice::from_ref(&a)), 90 * MS);
        assert_eq!(Gaps::longest_common(&[a, b]), 30 * MS);
        assert_eq!(Gaps::longest_common(&[]), 0);
    }

    #[test]
    fn short_gaps_are_no_outage() {
        let mut gaps = Gaps::since(0);
        gaps.mark(MS - 1);
        assert_eq!(Gaps::longest_common(&[gaps]), 0);
    }
}
