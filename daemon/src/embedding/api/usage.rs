//! What was sent to the API, by day: counted before each call, kept in a file next to the database, and checked against the daily limit.
//!
//! A call is counted with an estimate before it is made, and with what the provider says afterwards. So a daemon that is killed during a
//! call has counted too much rather than too little. If the file cannot be read or written, nothing is sent. Not here: making calls
//! (`sender`).

use crate::embedding::api::messages::{ApiFailure, FailureKind};
use crate::embedding::bounded_file::{self, MAX_TEXT};
use chrono::{Days, NaiveDate};
use loci_proto::cost::CostDay;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many days are kept.
const KEPT_DAYS: usize = 90;
/// Days before today that a day is compared with.
const WEEK: u64 = 7;
/// A day is compared if something was sent on at least this many of them.
const MIN_DAYS: usize = 3;
/// A day with this many times the average of the week is unusual.
const UNUSUAL: u64 = 3;
/// A day with fewer tokens is not unusual, whatever the average.
const MIN_UNUSUAL_TOKENS: u64 = 10_000;
/// Percent of the limit from which on it is reported.
const NEAR_LIMIT: u64 = 80;
/// The largest count of a day, so that no sum of days overflows.
const MAX_TOKENS: u64 = u64::MAX >> 16;

/// The counters of one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Day {
    calls: u64,
    failed: u64,
    texts: u64,
    tokens: u64,
}

/// The contents of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counters {
    days: BTreeMap<NaiveDate, Day>,
}

/// The counters and the limit.
#[derive(Debug)]
pub struct Usage {
    path: PathBuf,
    /// Maximum number of tokens of a day.
    limit: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The reason if the file cannot be read.
    counters: Result<Counters, String>,
    /// The day on which the limit was reached.
    limited_on: Option<NaiveDate>,
}

/// A call that was counted and has no result yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedCall {
    day: NaiveDate,
    tokens: u64,
}

/// What has become of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded; with the tokens that the provider counted, if it says so.
    Done(Option<u64>),
    /// It failed; the provider may have counted the texts.
    Lost,
    /// It failed before the provider counted anything.
    Refused,
}

/// Returns the day in the time zone of this machine.
#[must_use]
pub fn today() -> NaiveDate {
    chrono::Local::now().date_naive()
}

impl Usage {
    /// Reads the file; a missing one means that nothing was sent yet.
    #[must_use]
    pub fn open(path: &Path, limit: u64) -> Self {
        let counters = match bounded_file::read(path, MAX_TEXT) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| error.to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Counters::default()),
            Err(error) => Err(error.to_string()),
        };
        let state = Mutex::new(State { counters, limited_on: None });
        Self { path: path.to_owned(), limit, state }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many tokens may still be sent on a day.
    ///
    /// # Errors
    /// The counters cannot be read.
    pub fn left(&self, day: NaiveDate) -> Result<u64, ApiFailure> {
        let state = self.lock();
        let counters = state.counters.as_ref().map_err(|reason| self.unreadable(reason))?;
        let used = counters.days.get(&day).map_or(0, |day| day.tokens);
        Ok(self.limit.saturating_sub(used))
    }

    /// Counts a call that is about to be made, with an estimate of its tokens.
    ///
    /// # Errors
    /// The limit of the day is reached, or the counters cannot be read or written: the call must not be made.
    pub fn count(
        &self,
        day: NaiveDate,
        texts: usize,
        tokens: u64,
    ) -> Result<CountedCall, ApiFailure> {
        if tokens > self.left(day)? {
            self.lock().limited_on = Some(day);
            let limit = self.limit;
            let message =
                format!("the daily limit of {limit} tokens (embedding.daily_tokens) is reached");
            return Err(ApiFailure::new(FailureKind::Limit, message));
        }
        self.change(day, |counted| {
            counted.calls += 1;
            counted.texts += texts as u64;
            counted.tokens = counted.tokens.saturating_add(tokens);
        })?;
        Ok(CountedCall { day, tokens })
    }

    /// Corrects the count of a call by its outcome.
    ///
    /// # Errors
    /// The counters cannot be written.
    pub fn complete(&self, call: CountedCall, outcome: Outcome) -> Result<(), ApiFailure> {
        let before = self.alerts(call.day);
        self.change(call.day, |counted| {
            let tokens = match outcome {
                // A server that reports too little must not switch the limit off.
                Outcome::Done(Some(tokens)) => tokens.max(call.tokens / 2),
                Outcome::Done(None) | Outcome::Lost => call.tokens,
                Outcome::Refused => 0,
            };
            let before = counted.tokens.saturating_sub(call.tokens);
            counted.tokens = before.saturating_add(tokens).min(MAX_TOKENS);
            counted.failed += u64::from(!matches!(outcome, Outcome::Done(_)));
        })?;
        for alert in self.alerts(call.day).iter().skip(before.len()) {
            tracing::warn!("{alert}");
        }
        Ok(())
    }

    /// Returns true if the limit of this day has been reached.
    #[must_use]
    pub fn is_limited(&self, day: NaiveDate) -> bool {
        self.lock().limited_on == Some(day)
    }

    /// Returns what a person should know about a day, in sentences.
    #[must_use]
    pub fn alerts(&self, day: NaiveDate) -> Vec<String> {
        let state = self.lock();
        let Ok(counters) = &state.counters else { return Vec::new() };
        let used = counters.days.get(&day).map_or(0, |day| day.tokens);
        let mut alerts = Vec::new();
        if used.saturating_mul(100) >= self.limit.saturating_mul(NEAR_LIMIT)
            || state.limited_on == Some(day)
        {
            let limit = self.limit;
            alerts.push(format!(
                "{used} of {limit} tokens of the daily limit were sent to the embedding API today (embedding.daily_tokens)"
            ));
        }
        if let Some(average) = average_before(&counters.days, day)
            && used >= MIN_UNUSUAL_TOKENS
            && used > average.saturating_mul(UNUSUAL)
        {
            alerts.push(format!(
                "{used} tokens were sent to the embedding API today, more than {UNUSUAL} times the average of the last week ({average})"
            ));
        }
        alerts
    }

    /// Returns the counters of all days, the latest first. `price` is that of a million tokens.
    ///
    /// # Errors
    /// The counters cannot be read.
    pub fn days(&self, price: Option<f64>) -> Result<Vec<CostDay>, ApiFailure> {
        let state = self.lock();
        let counters = state.counters.as_ref().map_err(|reason| self.unreadable(reason))?;
        let day = |(day, counted): (&NaiveDate, &Day)| CostDay {
            day: day.to_string(),
            calls: counted.calls,
            failed: counted.failed,
            texts: counted.texts,
            tokens: counted.tokens,
            cost: price.map(|price| price * counted.tokens as f64 / 1e6),
        };
        Ok(counters.days.iter().rev().map(day).collect())
    }

    /// Changes the counters of a day and writes the file. If that fails, the counters stay as they were.
    fn change(&self, day: NaiveDate, change: impl FnOnce(&mut Day)) -> Result<(), ApiFailure> {
        let mut state = self.lock();
        let counters = state.counters.as_mut().map_err(|reason| self.unreadable(reason))?;
        let before = counters.days.get(&day).copied();
        change(counters.days.entry(day).or_default());
        while counters.days.len() > KEPT_DAYS {
            counters.days.pop_first();
        }
        self.write(counters).map_err(|error| {
            match before {
                Some(before) => counters.days.insert(day, before),
                None => counters.days.remove(&day),
            };
            let path = self.path.display();
            ApiFailure::new(FailureKind::Usage, format!("{path} cannot be written: {error}"))
        })
    }

    fn write(&self, counters: &Counters) -> io::Result<()> {
        let mut new = self.path.clone().into_os_string();
        new.push("-new");
        let options =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
        let mut file = options.open(&new)?;
        file.write_all(&serde_json::to_vec(counters)?)?;
        file.sync_data()?;
        fs::rename(&new, &self.path)
    }

    fn unreadable(&self, reason: &str) -> ApiFailure {
        let path = self.path.display();
        ApiFailure::new(
            FailureKind::Usage,
            format!("the counters in {path} cannot be read: {reason}"),
        )
    }
}

/// Returns the average of the days of the week before a day on which something was sent; `None` if there are too few.
fn average_before(days: &BTreeMap<NaiveDate, Day>, day: NaiveDate) -> Option<u64> {
    let start = day.checked_sub_days(Days::new(WEEK))?;
    let tokens: Vec<u64> =
        days.range(start..day).map(|(_, day)| day.tokens).filter(|tokens| *tokens > 0).collect();
    (tokens.len() >= MIN_DAYS).then(|| tokens.iter().sum::<u64>() / tokens.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 3, number).expect("the day exists")
    }

    fn use_tokens(usage: &Usage, on: NaiveDate, tokens: u64) {
        let call = usage.count(on, 2, tokens + tokens.min(50)).expect("the call is allowed");
        usage.complete(call, Outcome::Done(Some(tokens))).expect("the file is written");
    }

    #[test]
    fn the_limit_holds_over_a_restart_and_ends_with_the_day() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let path = folder.path().join("usage");
        let usage = Usage::open(&path, 1000);
        use_tokens(&usage, day(1), 700);
        // Killed during a call: the estimate stays.
        usage.count(day(1), 1, 200).expect("the call is allowed");
        drop(usage);
        let usage = Usage::open(&path, 1000);
        assert_eq!(usage.left(day(1)).expect("is read"), 100);
        let refused = usage.count(day(1), 1, 101).expect_err("the limit is reached");
        assert!(refused.message.contains("1000 tokens (embedding.daily_tokens)"), "{refused:?}");
        assert!(usage.is_limited(day(1)) && !usage.is_limited(day(2)));
        assert_eq!(usage.left(day(2)).expect("is read"), 1000);
        use_tokens(&usage, day(2), 10);
        let days = usage.days(Some(0.5)).expect("is read");
        let first = CostDay {
            day: "2026-03-01".to_owned(),
            calls: 2,
            failed: 0,
            texts: 3,
            tokens: 900,
            cost: Some(0.00045),
        };
        assert_eq!((days.len(), &days[1]), (2, &first));
    }

    #[test]
    fn failed_calls_are_counted_only_if_the_provider_may_count_them() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let usage = Usage::open(&folder.path().join("usage"), 1000);
        for (outcome, left) in
            [(Outcome::Refused, 1000), (Outcome::Lost, 900), (Outcome::Done(None), 800)]
        {
            let call = usage.count(day(1), 1, 100).expect("the call is allowed");
            usage.complete(call, outcome).expect("the file is written");
            assert_eq!(usage.left(day(1)).expect("is read"), left, "{outcome:?}");
        }
        assert_eq!(usage.days(None).expect("is read")[0].failed, 2);
    }

    #[test]
    fn a_reported_count_neither_overflows_nor_switches_the_limit_off() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let usage = Usage::open(&folder.path().join("usage"), 1000);
        let complete = |on, reported| {
            let call = usage.count(on, 1, 100).expect("the call is allowed");
            usage.complete(call, Outcome::Done(Some(reported))).expect("the file is written");
            usage.left(on).expect("is read")
        };
        // At least half of the estimate is counted, whatever the server says.
        assert_eq!([complete(day(1), 0), complete(day(1), 60)], [950, 890]);
        for on in 2..8 {
            assert_eq!(complete(day(on), u64::MAX), 0);
            assert!(usage.count(day(on), 1, 1).is_err());
        }
        assert_eq!(usage.alerts(day(8)), Vec::<String>::new());
        let usage = Usage::open(&folder.path().join("usage"), u64::MAX);
        usage.count(day(2), 1, u64::MAX / 2).expect("the call is allowed");
        assert!(usage.left(day(2)).expect("is read") < u64::MAX);
    }

    #[test]
    fn a_day_near_the_limit_and_an_unusual_day_are_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let usage = Usage::open(&folder.path().join("usage"), 100_000);
        for (number, tokens) in [(1, 4000), (2, 4000), (5, 7000), (7, 5000)] {
            use_tokens(&usage, day(number), tokens);
            assert!(usage.alerts(day(number)).is_empty(), "{number}");
        }
        // The average of the days 1 to 7 with calls is 5000.
        use_tokens(&usage, day(8), 15_000);
        assert!(usage.alerts(day(8)).is_empty());
        use_tokens(&usage, day(8), 1);
        let unusual = usage.alerts(day(8));
        assert!(unusual.len() == 1 && unusual[0].contains("3 times the average"), "{unusual:?}");
        use_tokens(&usage, day(8), 64_999);
        let both = usage.alerts(day(8));
        assert!(both.len() == 2 && both[0].starts_with("80000 of 100000 tokens"), "{both:?}");
    }

    #[test]
    fn without_readable_counters_no_call_is_allowed() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let path = folder.path().join("usage");
        for text in
            ["{\"days\": {\"2026-03-01\": {\"calls\": -1}}}", "", "{\"days\": {}, \"x\": 1}"]
        {
            fs::write(&path, text).expect("the file is written");
            let refused = Usage::open(&path, 1000).count(day(1), 1, 1).expect_err("is refused");
            assert!(
                refused.kind == FailureKind::Usage && refused.message.contains("cannot be read")
            );
        }
        fs::remove_file(&path).expect("the file is removed");
        let usage = Usage::open(&path, 1000);
        fs::create_dir(folder.path().join("usage-new")).expect("a folder is in the way");
        let refused = usage.count(day(1), 1, 1).expect_err("the file cannot be written");
        assert!(refused.message.contains("cannot be written"), "{refused:?}");
        assert_eq!(usage.left(day(1)).expect("is read"), 1000);
    }
}
