//! `eval`: the store is asked questions whose answers are known, as an agent asks them, and nothing is counted as used.
//!
//! Each question is read by the model once and answered with the settings in force and with those to compare, one after the other, so that
//! a busy moment is no advantage of either. Not here: where the questions come from (`engine::eval`).

use crate::config::Config;
use crate::handlers::read;
use crate::service::Service;
use loci_engine::model::encoding;
use loci_engine::model::time::Timestamp;
use loci_engine::operations::eval::{EvalQuestion, EvalSet};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::ranking::fusion::Fusion;
use loci_proto::error::Failure;
use loci_proto::limits;
use loci_proto::requests::eval::{
    EvalReply, EvalRequest, Figures, Latency, MOST_PROBES, PROBES, Run,
};
use loci_proto::requests::recall::{Degraded, MaxResults, RecallRequest, TokenBudget};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Judges the store.
///
/// # Errors
/// `invalid` for the number of probes or a setting; `busy`, `storage_failed`.
pub async fn run(service: &Service, request: EvalRequest) -> Result<EvalReply, Failure> {
    let probes = request.probes.unwrap_or(PROBES);
    if probes > MOST_PROBES {
        return Err(Failure::invalid(
            "probes",
            format!("must be a whole number in 0..{MOST_PROBES}"),
        ));
    }
    let config = service.settled.config();
    let mut fusions = vec![config.settings().fusion];
    if !request.set.is_empty() {
        fusions.push(with(config, &request.set)?.settings().fusion);
    }
    service.warm_pools().await?;
    service.flush_accesses().await?;
    let (seed, now) = (request.seed, service.now());
    let EvalSet { known, probes } =
        read(service, move |reader| reader.exam(probes, seed, now)).await?;
    let mut judged = Judged {
        fusions,
        now,
        reading: Vec::new(),
        answering: vec![Vec::new(); 2],
        degraded: Degraded::default(),
    };
    let of_known = judged.all(service, &known).await?;
    let of_probes = judged.all(service, &probes).await?;
    let sets = [Vec::new(), request.set];
    let run = |at: usize| Run {
        set: sets[at].clone(),
        known: figures(&of_known[at]),
        probes: figures(&of_probes[at]),
        answering: latency(&judged.answering[at]),
    };
    let runs = (0..judged.fusions.len()).map(run).collect();
    let reading = latency(&judged.reading);
    Ok(EvalReply {
        known: known.len(),
        probes: probes.len(),
        reading,
        runs,
        degraded: judged.degraded,
    })
}

/// The configuration with other values.
fn with(config: Config, set: &[String]) -> Result<Config, Failure> {
    set.iter().try_fold(config, |config, pair| match pair.split_once('=') {
        Some((key, value)) => config.with(key.trim(), value.trim()),
        None => Err(Failure::invalid("set", format!("must be KEY=VALUE, not {pair}"))
            .hint("For example retrieval.fusion=weighted")),
    })
}

/// What is known so far.
struct Judged {
    fusions: Vec<Fusion>,
    now: Timestamp,
    reading: Vec<Duration>,
    /// For each ranking.
    answering: Vec<Vec<Duration>>,
    degraded: Degraded,
}

impl Judged {
    /// For each ranking the place of each answer; none where it is not among those given.
    async fn all(
        &mut self,
        service: &Service,
        questions: &[EvalQuestion],
    ) -> Result<[Vec<Option<usize>>; 2], Failure> {
        let mut places = [Vec::new(), Vec::new()];
        for asking in questions {
            let begun = Instant::now();
            let (asked, degraded) = service.read_query(asking.query.clone()).await?;
            if asked.is_some() {
                self.reading.push(begun.elapsed());
            }
            self.degraded = degraded;
            let asked = Arc::new(asked);
            for (at, fusion) in self.fusions.iter().enumerate() {
                let (asking, asked, fusion, now) =
                    (asking.clone(), Arc::clone(&asked), *fusion, self.now);
                let (place, took) = read(service, move |reader| {
                    let begun = Instant::now();
                    place(reader, &asking, asked.as_ref().as_ref(), fusion, now)
                        .map(|place| (place, begun.elapsed()))
                })
                .await?;
                places[at].push(place);
                self.answering[at].push(took);
            }
        }
        Ok(places)
    }
}

/// The place at which a question's answer is given, by itself or beside one that says the same.
fn place(
    reader: &loci_engine::Reader,
    asking: &EvalQuestion,
    asked: Option<&encoding::QueryEncoding>,
    fusion: Fusion,
    now: Timestamp,
) -> loci_engine::error::Result<Option<usize>> {
    let request = RecallRequest {
        query: Some(asking.query.clone()),
        max_results: MaxResults::new(limits::MAX_RESULTS).ok(),
        token_budget: TokenBudget::new(i64::MAX).ok(),
        summary_only: true,
        dry_run: true,
        ..RecallRequest::default()
    };
    let degraded = Degraded::default();
    let context = RecallContext {
        group: &asking.group,
        encoding: asked,
        now,
        fusion: Some(fusion),
        degraded: &degraded,
    };
    let results = reader.recall(&prepare(request)?, context)?.reply.results;
    Ok(results
        .iter()
        .position(|result| result.id == asking.id || result.also.contains(&asking.id))
        .map(|at| at + 1))
}

fn figures(places: &[Option<usize>]) -> Option<Figures> {
    let share = |sum: f64| rounded(sum / places.len() as f64);
    let within =
        |most: usize| share(places.iter().flatten().filter(|place| **place <= most).count() as f64);
    (!places.is_empty()).then(|| Figures {
        recall_at_1: within(1),
        recall_at_5: within(5),
        recall_at_10: within(10),
        mrr: share(places.iter().flatten().map(|place| 1.0 / *place as f64).sum()),
    })
}

fn latency(times: &[Duration]) -> Latency {
    let mut times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    let at = |hundredths: usize| {
        times
            .get((times.len() * hundredths).div_ceil(100).saturating_sub(1))
            .copied()
            .map_or(0.0, rounded)
    };
    Latency { p50_ms: at(50), p99_ms: at(99) }
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_shares_of_all_questions() {
        let told = figures(&[Some(1), Some(4), Some(20), None]).expect("there are some");
        assert_eq!(
            (told.recall_at_1, told.recall_at_5, told.recall_at_10, told.mrr),
            (0.25, 0.5, 0.5, 0.325)
        );
        assert_eq!(figures(&[]), None);
    }

    #[test]
    fn latencies_are_those_of_the_slowest_of_so_many() {
        let told = latency(&(1..=200).map(Duration::from_millis).collect::<Vec<_>>());
        assert_eq!((told.p50_ms, told.p99_ms), (100.0, 198.0));
        assert_eq!(latency(&[]), Latency::default());
    }

    #[test]
    fn a_setting_that_ranks_nothing_is_refused_and_so_is_a_bad_value() {
        let said = |pair: &str| {
            with(Config::default(), &[pair.to_owned()]).expect_err("is refused").to_string()
        };
        assert!(said("fusion").starts_with("invalid: set must be KEY=VALUE"), "{}", said("fusion"));
        assert!(
            said("maintenance.enabled=true").contains("retrieval.fusion, retrieval.vector_weight"),
            "{}",
            said("maintenance.enabled=true")
        );
        assert!(
            said("retrieval.fusion=best").contains("one of soft, weighted, rrf"),
            "{}",
            said("retrieval.fusion=best")
        );
        assert!(
            said("retrieval.vector_weight=2").contains("retrieval.vector_weight"),
            "{}",
            said("retrieval.vector_weight=2")
        );
        let set = ["retrieval.fusion=rrf".to_owned(), "retrieval.rrf_k = 5".to_owned()];
        assert_eq!(
            with(Config::default(), &set).expect("are fine").settings().fusion,
            Fusion::Rrf { k: 5.0 }
        );
    }
}
