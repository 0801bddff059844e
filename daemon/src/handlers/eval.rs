//! `eval`: measures retrieval quality with queries whose answers are known, recalled as an agent would, without recording usage.
//!
//! Each query is encoded once, then answered with the settings in force and directly afterwards with those to compare, so that load on
//! the machine affects both alike. Not here: where the queries come from (`engine::operations::eval`).

use crate::config::Config;
use crate::handlers::handle::Handle;
use crate::service::encoding::EncodedQuery;
use crate::service::{Caller, Service, index_warmup};
use loci_engine::model::encoding::QueryEncoding;
use loci_engine::model::time::Timestamp;
use loci_engine::operations::eval::{EvalQuestion, EvalSet};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::ranking::fusion::Fusion;
use loci_engine::{Reader, Viewer};
use loci_proto::bounded_numbers::{MaxResults, TokenBudget};
use loci_proto::degraded::Degraded;
use loci_proto::error::Failure;
use loci_proto::limits;
use loci_proto::memory::Origin;
use loci_proto::requests::eval::{
    DEFAULT_PROBES, EvalMetrics, EvalReply, EvalRequest, EvalRun, Latency, MAX_PROBES,
};
use loci_proto::requests::recall::RecallRequest;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Handle for EvalRequest {
    /// # Errors
    /// `invalid` for the number of probes or a setting; `busy`, `storage_failed`.
    async fn handle(self, service: &Service, _caller: Caller<'_>) -> Result<EvalReply, Failure> {
        let probes = self.probes.unwrap_or(DEFAULT_PROBES);
        if probes > MAX_PROBES {
            return Err(Failure::invalid(
                "probes",
                format!("must be a whole number in 0..{MAX_PROBES}"),
            ));
        }
        let config = service.config.config();
        let mut fusions = vec![config.settings().fusion];
        if !self.set.is_empty() {
            fusions.push(with_values(config, &self.set)?.settings().fusion);
        }
        index_warmup::pools_with_index(service).await?;
        service.flush_usage().await?;
        let (seed, now) = (self.seed, service.now());
        let EvalSet { known, probes } =
            service.read(move |reader| reader.eval_set(probes, seed, now)).await?;
        let mut evaluation = Evaluation {
            fusions,
            now,
            encoding_times: Vec::new(),
            answer_times: vec![Vec::new(); 2],
            degraded: Degraded::default(),
        };
        let known_ranks = evaluation.ranks(service, &known).await?;
        let probe_ranks = evaluation.ranks(service, &probes).await?;
        let sets = [Vec::new(), self.set];
        let run = |index: usize| EvalRun {
            set: sets[index].clone(),
            known: metrics(&known_ranks[index]),
            probes: metrics(&probe_ranks[index]),
            search_latency: latency(&evaluation.answer_times[index]),
        };
        let runs = (0..evaluation.fusions.len()).map(run).collect();
        let encode_latency = latency(&evaluation.encoding_times);
        Ok(EvalReply {
            known: known.len(),
            probes: probes.len(),
            encode_latency,
            runs,
            degraded: evaluation.degraded,
        })
    }
}

/// Returns the configuration with other values (`KEY=VALUE`).
fn with_values(config: Config, set: &[String]) -> Result<Config, Failure> {
    let mut keys = BTreeSet::new();
    set.iter().try_fold(config, |config, pair| match pair.split_once('=') {
        Some((key, _)) if !keys.insert(key.trim()) => {
            Err(Failure::invalid("set", format!("has {} twice", key.trim()))
                .hint("Give each key once; compare two values with two runs of loci eval"))
        }
        Some((key, value)) => config.with_value(key.trim(), value.trim()),
        None => Err(Failure::invalid("set", format!("must be KEY=VALUE, not {pair}"))
            .hint("For example retrieval.fusion=weighted")),
    })
}

/// The rankings to compare, and the measurements so far.
struct Evaluation {
    fusions: Vec<Fusion>,
    now: Timestamp,
    encoding_times: Vec<Duration>,
    /// For each ranking, the time to search and rank of each answer.
    answer_times: Vec<Vec<Duration>>,
    degraded: Degraded,
}

impl Evaluation {
    /// Returns for each ranking the rank of each expected answer; `None` where it is not among the results.
    async fn ranks(
        &mut self,
        service: &Service,
        questions: &[EvalQuestion],
    ) -> Result<[Vec<Option<usize>>; 2], Failure> {
        let mut ranks = [Vec::new(), Vec::new()];
        for question in questions {
            let started = Instant::now();
            let EncodedQuery { encoding, degraded } =
                service.encode_query(question.query.clone()).await?;
            if encoding.is_some() {
                self.encoding_times.push(started.elapsed());
            }
            self.degraded = degraded;
            let encoding = Arc::new(encoding);
            for (index, fusion) in self.fusions.iter().enumerate() {
                let (question, encoding, fusion, now) =
                    (question.clone(), Arc::clone(&encoding), *fusion, self.now);
                let (rank, elapsed) = service
                    .read(move |reader| {
                        let started = Instant::now();
                        rank(reader, &question, encoding.as_ref().as_ref(), fusion, now)
                            .map(|rank| (rank, started.elapsed()))
                    })
                    .await?;
                ranks[index].push(rank);
                self.answer_times[index].push(elapsed);
            }
        }
        Ok(ranks)
    }
}

/// Returns the rank of the expected answer, which may be collapsed into a result that says the same.
fn rank(
    reader: &Reader,
    question: &EvalQuestion,
    encoding: Option<&QueryEncoding>,
    fusion: Fusion,
    now: Timestamp,
) -> loci_engine::error::Result<Option<usize>> {
    let request = RecallRequest {
        query: Some(question.query.clone()),
        max_results: MaxResults::new(limits::MAX_RESULTS).ok(),
        token_budget: TokenBudget::new(i64::MAX).ok(),
        summary_only: true,
        dry_run: true,
        ..RecallRequest::default()
    };
    let degraded = Degraded::default();
    let context = RecallContext {
        viewer: Viewer { origin: Origin::Person, ..Viewer::from(&question.group) },
        client: None,
        encoding,
        now,
        fusion: Some(fusion),
        is_agent: false,
        names_project: false,
        files: None,
        rerank: None,
        degraded: &degraded,
    };
    let results = reader.recall(&prepare(request, now)?, context)?.reply.results;
    Ok(results
        .iter()
        .position(|result| result.id == question.id || result.also.contains(&question.id))
        .map(|index| index + 1))
}

fn metrics(ranks: &[Option<usize>]) -> Option<EvalMetrics> {
    let share = |sum: f64| rounded(sum / ranks.len() as f64);
    let within =
        |limit: usize| share(ranks.iter().flatten().filter(|rank| **rank <= limit).count() as f64);
    (!ranks.is_empty()).then(|| EvalMetrics {
        recall_at_1: within(1),
        recall_at_5: within(5),
        recall_at_10: within(10),
        mrr: share(ranks.iter().flatten().map(|rank| 1.0 / *rank as f64).sum()),
    })
}

fn latency(times: &[Duration]) -> Latency {
    let mut times: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    let percentile = |hundredths: usize| {
        times
            .get((times.len() * hundredths).div_ceil(100).saturating_sub(1))
            .copied()
            .map_or(0.0, rounded)
    };
    Latency { p50_ms: percentile(50), p99_ms: percentile(99) }
}

fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_shares_of_all_questions() {
        let reply = metrics(&[Some(1), Some(4), Some(20), None]).expect("there are ranks");
        assert_eq!(
            (reply.recall_at_1, reply.recall_at_5, reply.recall_at_10, reply.mrr),
            (0.25, 0.5, 0.5, 0.325)
        );
        assert_eq!(metrics(&[]), None);
    }

    #[test]
    fn latencies_are_the_50th_and_99th_percentile() {
        let reply = latency(&(1..=200).map(Duration::from_millis).collect::<Vec<_>>());
        assert_eq!((reply.p50_ms, reply.p99_ms), (100.0, 198.0));
        assert_eq!(latency(&[]), Latency::default());
    }

    #[test]
    fn only_ranking_keys_with_valid_values_can_be_compared() {
        let refusal_of = |pair: &str| {
            with_values(Config::default(), &[pair.to_owned()])
                .expect_err("the setting is refused")
                .to_string()
        };
        assert!(
            refusal_of("fusion").starts_with("invalid: set must be KEY=VALUE"),
            "{}",
            refusal_of("fusion")
        );
        assert!(
            refusal_of("maintenance.enabled=true")
                .contains("retrieval.fusion, retrieval.vector_weight"),
            "{}",
            refusal_of("maintenance.enabled=true")
        );
        assert!(
            refusal_of("retrieval.fusion=best").contains("one of soft, weighted, rrf"),
            "{}",
            refusal_of("retrieval.fusion=best")
        );
        assert!(
            refusal_of("retrieval.vector_weight=2").contains("retrieval.vector_weight"),
            "{}",
            refusal_of("retrieval.vector_weight=2")
        );
        let twice = ["retrieval.fusion=rrf".to_owned(), "retrieval.fusion = weighted".to_owned()];
        let refusal = with_values(Config::default(), &twice).expect_err("the key is given twice");
        assert!(refusal.to_string().starts_with("invalid: set has retrieval.fusion twice"));
        let set = ["retrieval.fusion=rrf".to_owned(), "retrieval.rrf_k = 5".to_owned()];
        assert_eq!(
            with_values(Config::default(), &set).expect("the settings are valid").settings().fusion,
            Fusion::Rrf { k: 5.0 }
        );
    }
}
