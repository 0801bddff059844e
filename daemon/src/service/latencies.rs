//! How long calls take, by verb: the number since the start, and percentiles of the latest ones, for `loci top`.

use loci_proto::admin::VerbLatency;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Latest calls of each verb of which the percentiles are taken.
const LATEST: usize = 256;

/// The latencies of all verbs since the start.
#[derive(Debug, Default)]
pub struct Latencies(Mutex<BTreeMap<&'static str, Latest>>);

#[derive(Debug, Default)]
struct Latest {
    calls: u64,
    failed: u64,
    micros: Vec<u32>,
}

impl Latencies {
    /// Records a call that has ended.
    pub fn record(&self, verb: &'static str, took: Duration, failed: bool) {
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX);
        let mut verbs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let latest = verbs.entry(verb).or_default();
        let place = usize::try_from(latest.calls).unwrap_or_default() % LATEST;
        match latest.micros.get_mut(place) {
            Some(oldest) => *oldest = micros,
            None => latest.micros.push(micros),
        }
        latest.calls += 1;
        latest.failed += u64::from(failed);
    }

    /// Returns each verb that was called, in the order of their names.
    pub fn list(&self) -> Vec<VerbLatency> {
        let verbs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_verb = |(verb, latest): (&&'static str, &Latest)| {
            let mut sorted = latest.micros.clone();
            sorted.sort_unstable();
            // The smallest value that at least this share of the calls does not exceed.
            let at = |percent: usize| {
                let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
                f64::from(sorted.get(place).copied().unwrap_or_default()) / 1000.0
            };
            VerbLatency {
                verb: (*verb).to_owned(),
                calls: latest.calls,
                failed: latest.failed,
                p50_ms: at(50),
                p99_ms: at(99),
                max_ms: at(100),
            }
        };
        verbs.iter().map(of_verb).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_latest_calls() {
        let latencies = Latencies::default();
        latencies.record("list", Duration::from_secs(9), true);
        for milliseconds in 1..=u64::try_from(LATEST).unwrap_or_default() {
            latencies.record("list", Duration::from_millis(milliseconds), false);
        }
        let listed = latencies.list();
        assert_eq!((listed.len(), listed[0].calls, listed[0].failed), (1, 257, 1));
        assert_eq!((listed[0].p50_ms, listed[0].p99_ms, listed[0].max_ms), (128.0, 254.0, 256.0));
    }
}
