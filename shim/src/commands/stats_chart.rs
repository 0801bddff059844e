//! `loci stats --chart`: what was stored, delivered and changed over time, and by which type and project. Bars at a terminal, numbers in a
//! pipe.

use crate::client::call::VerbClient;
use crate::output::local_time::{day, first_of_month, monday, today};
use crate::output::{Ink, Problem, Screen, bar, escape_line, table_on};
use chrono::{Days, Months, NaiveDate};
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryType;
use loci_proto::requests::history::{HistoryReply, HistoryRequest};
use loci_proto::requests::injected::{InjectedReply, InjectedRequest};
use loci_proto::requests::list::{ListReply, ListRequest};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Memories per request.
const PAGE: usize = 1000;
/// Most deliveries and acts that are counted.
const EVENTS: usize = 1000;
/// Most periods of a chart.
const MAX_PERIODS: usize = 26;
/// Most projects that are listed.
const MAX_PROJECTS: usize = 12;
/// Widths that the bars may have.
const BARS: std::ops::RangeInclusive<usize> = 10..=60;

/// The length of the periods of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Period {
    Day,
    Week,
    Month,
}

impl Period {
    /// Returns the period with which a span of days has a readable number of bars.
    fn for_days(days: i64) -> Self {
        match days {
            ..=21 => Self::Day,
            22..=182 => Self::Week,
            _ => Self::Month,
        }
    }

    fn start(self, day: NaiveDate) -> NaiveDate {
        match self {
            Self::Day => day,
            Self::Week => monday(day),
            Self::Month => first_of_month(day),
        }
    }

    fn next(self, start: NaiveDate) -> NaiveDate {
        let next = match self {
            Self::Day => start.checked_add_days(Days::new(1)),
            Self::Week => start.checked_add_days(Days::new(7)),
            Self::Month => start.checked_add_months(Months::new(1)),
        };
        next.unwrap_or(NaiveDate::MAX)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Week => "WEEK OF",
            Self::Month => "MONTH",
        }
    }
}

/// What happened on each local day.
#[derive(Debug, Default)]
struct Activity {
    stored: BTreeMap<NaiveDate, BTreeMap<MemoryType, usize>>,
    delivered: BTreeMap<NaiveDate, usize>,
    acts: BTreeMap<NaiveDate, usize>,
    projects: BTreeMap<String, BTreeMap<NaiveDate, usize>>,
    is_cut: bool,
}

/// Returns the charts.
///
/// # Errors
/// The daemon cannot be reached, or refuses a call.
pub async fn text(client: &VerbClient, group: Option<GroupName>) -> Result<String, Problem> {
    let activity = fetch(client, group).await?;
    Ok(charts(&activity, today(), Screen::of_stdout()))
}

async fn fetch(client: &VerbClient, group: Option<GroupName>) -> Result<Activity, Problem> {
    let mut activity = Activity::default();
    let mut request = ListRequest {
        from_group: group.is_some(),
        all_groups: group.is_none(),
        group,
        uncounted: true,
        limit: Some(PAGE),
        ..ListRequest::default()
    };
    loop {
        let page: ListReply = client.call(&request).await?;
        for memory in page.memories {
            let Some(day) = day(&memory.created_at) else { continue };
            *activity.stored.entry(day).or_default().entry(memory.kind).or_default() += 1;
            let project = memory.group.unwrap_or_else(|| "-".to_owned());
            *activity.projects.entry(project).or_default().entry(day).or_default() += 1;
        }
        match page.next {
            Some(next) => request.before = Some(next),
            None => break,
        }
    }
    let injected = InjectedRequest { session: None, limit: Some(EVENTS), all: false };
    let injected: InjectedReply = client.call(&injected).await?;
    for receipt in injected.receipts.iter().filter(|receipt| !receipt.memories.is_empty()) {
        if let Some(day) = day(&receipt.at) {
            *activity.delivered.entry(day).or_default() += receipt.memories.len();
        }
    }
    let history = HistoryRequest { limit: Some(EVENTS), ..HistoryRequest::default() };
    let history: HistoryReply = client.call(&history).await?;
    activity.is_cut = injected.more || history.next.is_some();
    for day in history.acts.iter().filter_map(|act| day(&act.at)) {
        *activity.acts.entry(day).or_default() += 1;
    }
    Ok(activity)
}

fn charts(activity: &Activity, today: NaiveDate, screen: Screen) -> String {
    let Some(first) = activity.stored.keys().next().copied() else {
        return "There is nothing to chart yet.".to_owned();
    };
    let period = Period::for_days((today - first).num_days());
    let starts = periods(period, first, today);
    let mut text = over_time(activity, (period, &starts), screen);
    let _ = write!(text, "\n{}", by_type(activity, screen));
    let _ = write!(text, "\n{}", by_project(activity, (period, &starts), screen));
    if activity.is_cut {
        let _ = write!(text, "\nUse and acts: only the latest {EVENTS} of each are counted.\n");
    }
    text
}

/// Returns the beginnings of the latest periods.
fn periods(period: Period, first: NaiveDate, today: NaiveDate) -> Vec<NaiveDate> {
    let (mut starts, mut start) = (Vec::new(), period.start(first));
    // Years are bounded, so this ends even for a wrong clock.
    while start <= today {
        starts.push(start);
        start = period.next(start);
    }
    starts.split_off(starts.len().saturating_sub(MAX_PERIODS))
}

fn sum(of: &BTreeMap<NaiveDate, usize>, period: Period, start: NaiveDate) -> usize {
    of.range(start..period.next(start)).map(|(_, count)| count).sum()
}

fn over_time(
    activity: &Activity,
    (period, starts): (Period, &[NaiveDate]),
    screen: Screen,
) -> String {
    let stored: BTreeMap<NaiveDate, usize> =
        activity.stored.iter().map(|(day, kinds)| (*day, kinds.values().sum())).collect();
    let before = starts.first().map_or(0, |first| stored.range(..*first).map(|(_, n)| n).sum());
    let most = starts.iter().map(|start| sum(&stored, period, *start)).max().unwrap_or_default();
    let mut total: usize = before;
    let heading = [period.name(), "STORED", "ACTIVE", "USED", "ACTS", ""].map(str::to_owned);
    let room = screen.width.saturating_sub(58).clamp(*BARS.start(), *BARS.end());
    let row = |start: &NaiveDate| {
        let count = sum(&stored, period, *start);
        total += count;
        [
            start.format(if period == Period::Month { "%Y-%m" } else { "%Y-%m-%d" }).to_string(),
            count.to_string(),
            total.to_string(),
            sum(&activity.delivered, period, *start).to_string(),
            sum(&activity.acts, period, *start).to_string(),
            bar_cell(count, most, room, screen),
        ]
    };
    let rows: Vec<_> = std::iter::once(heading).chain(starts.iter().map(row)).collect();
    table_on(screen, &rows)
}

/// Returns a bar at a terminal, nothing in a pipe.
fn bar_cell(count: usize, most: usize, width: usize, screen: Screen) -> String {
    if !screen.is_terminal || most == 0 {
        return String::new();
    }
    bar(count as f64 / most as f64, width)
}

fn by_type(activity: &Activity, screen: Screen) -> String {
    let count = |kind: MemoryType| -> usize {
        activity.stored.values().filter_map(|kinds| kinds.get(&kind)).sum()
    };
    let all: usize = MemoryType::ALL.iter().map(|kind| count(*kind)).sum();
    let room = screen.width.saturating_sub(40).clamp(*BARS.start(), *BARS.end());
    let mut text = screen.style.bold("  TYPE        ACTIVE  SHARE");
    text.push('\n');
    for kind in MemoryType::ALL {
        let (name, count) = (kind.as_str(), count(*kind));
        let share = (count * 100).checked_div(all).unwrap_or_default();
        let bar = bar_cell(count, all, room, screen);
        let line = format!(
            "  {}  {count:>6}  {share:>3} %  {}",
            screen.style.paint(Ink::Type(*kind), &format!("{name:<10}")),
            screen.style.paint(Ink::Type(*kind), &bar)
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn by_project(
    activity: &Activity,
    (period, starts): (Period, &[NaiveDate]),
    screen: Screen,
) -> String {
    let mut projects: Vec<(&String, usize, &BTreeMap<NaiveDate, usize>)> =
        activity.projects.iter().map(|(name, days)| (name, days.values().sum(), days)).collect();
    projects.sort_by_key(|(name, count, _)| (std::cmp::Reverse(*count), *name));
    let heading = ["PROJECT", "ACTIVE", "OVER TIME"].map(str::to_owned);
    let row = |(name, count, days): &(&String, usize, &BTreeMap<NaiveDate, usize>)| {
        let counts: Vec<usize> = starts.iter().map(|start| sum(days, period, *start)).collect();
        let over_time = if screen.is_terminal {
            sparkline(&counts)
        } else {
            counts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        [escape_line(name), count.to_string(), over_time]
    };
    let shown = projects.iter().take(MAX_PROJECTS).map(row);
    let rows: Vec<_> = std::iter::once(heading).chain(shown).collect();
    let mut text = table_on(screen, &rows);
    if projects.len() > MAX_PROJECTS {
        let _ = writeln!(text, "  … and {} more projects", projects.len() - MAX_PROJECTS);
    }
    text
}

/// Returns one character for each number, as high as the number compared with the highest.
fn sparkline(counts: &[usize]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or_default().max(1);
    let height = |count: &usize| match count {
        0 => ' ',
        count => HEIGHTS[(count * HEIGHTS.len()).div_ceil(most).clamp(1, HEIGHTS.len()) - 1],
    };
    counts.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    #[test]
    fn a_pipe_gets_numbers_and_a_terminal_bars() {
        let mut activity = Activity::default();
        for (day, kind, count) in
            [("2026-03-02", MemoryType::Semantic, 4), ("2026-03-04", MemoryType::Episodic, 2)]
        {
            activity.stored.entry(date(day)).or_default().insert(kind, count);
            activity.projects.entry("shop".to_owned()).or_default().insert(date(day), count);
        }
        activity.delivered.insert(date("2026-03-04"), 3);
        let plain = charts(&activity, date("2026-03-04"), Screen::plain(80));
        let expected = "  DAY         STORED  ACTIVE  USED  ACTS\n  2026-03-02       4       4     0     0\n  2026-03-03       0       4     0     0\n  2026-03-04       2       6     3     0\n";
        assert!(plain.starts_with(expected), "{plain}");
        assert!(plain.contains("  shop          6  4 0 2\n") && !plain.contains('█'), "{plain}");
        let screen = Screen { is_terminal: true, ..Screen::plain(80) };
        let drawn = charts(&activity, date("2026-03-04"), screen);
        assert!(drawn.contains("██") && drawn.contains("█ ▄"), "{drawn}");
    }

    #[test]
    fn a_long_time_is_charted_by_months_and_its_beginning_is_summed_up() {
        assert_eq!(
            [0, 21, 22, 182, 183].map(Period::for_days),
            [Period::Day, Period::Day, Period::Week, Period::Week, Period::Month]
        );
        let starts = periods(Period::Month, date("2020-01-15"), date("2026-03-04"));
        assert_eq!((starts.len(), starts.last().copied()), (MAX_PERIODS, Some(date("2026-03-01"))));
    }
}
