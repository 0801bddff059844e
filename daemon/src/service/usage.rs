//! Records the usage of memories by recalls, and writes it to the database after the answer, so that no recall waits for the writer.

use crate::interface::agents::session::Session;
use crate::service::Service;
use loci_engine::Writer;
use loci_engine::operations::eval::ClickFeedback;
use loci_engine::operations::recall::Answer;
use loci_engine::privacy::request::kept_query;
use loci_engine::transaction::access::Boosting;
use loci_proto::error::Failure;
use loci_proto::requests::recall::RecalledMemory;

impl Service {
    /// Records a recall's answer as usage. `previewed_query` is the query, if the answer consists of previews of the session's own group.
    ///
    /// A memory that is recalled by its id after a query has shown its preview counts as an answer to that query (click feedback).
    pub fn record_usage(
        &self,
        session: &Session,
        previewed_query: Option<String>,
        answer: &Answer,
    ) {
        session.shown.record(&answer.shown);
        if answer.reply.results.iter().all(|result| result.content.is_some()) {
            session.shown.record_in_full(&answer.shown, self.now());
        }
        let now = self.now();
        self.usage.record_accesses(&answer.accessed, |seq| session.shown.take_boost(seq, now));
        let results = &answer.reply.results;
        let has_scores = results.iter().any(|result| result.score.is_some());
        let policy = self.config.policy();
        // A query that holds a secret is answered, but not kept.
        let kept = |query: String| kept_query(&policy, &query);
        if has_scores && previewed_query.is_some() {
            let Some(query) = previewed_query.and_then(kept) else { return };
            let ids = results.iter().map(|result| result.id.clone()).collect();
            session.previews.record(query, ids, session.group.clone());
            return;
        }
        let by_id =
            answer.accessed.iter().zip(results).filter(|(_, result)| result.score.is_none());
        let click = |(seq, result): (&i64, &RecalledMemory)| {
            let (query, group) = session.previews.query_that_showed(&result.id)?;
            // The configuration may have changed since the previews were shown.
            Some(ClickFeedback { query: kept(query)?, seq: *seq, group })
        };
        self.usage.record_clicks(by_id.filter_map(click));
    }

    /// Writes the usage of all earlier answers to the database, so that the next read sees it.
    ///
    /// # Errors
    /// `storage_failed`, `busy`.
    pub async fn flush_usage(&self) -> Result<(), Failure> {
        // Wait for a flush in progress: it may still be writing the usage of earlier answers.
        let lock = self.usage.lock_flush().await;
        let (clicks, accesses) = (self.usage.take_clicks(), self.usage.take_accesses());
        if accesses.is_empty() && clicks.is_empty() {
            return Ok(());
        }
        let reading = self.clock.read();
        let boosting = if reading.is_trusted { Boosting::On } else { Boosting::Off };
        let pools = self.pools().await?;
        let write = move |writer: &mut Writer| {
            // The job runs even if the caller no longer waits; it keeps the lock until it ends.
            let _lock = lock;
            writer.touch(&accesses, reading.now, boosting)?;
            if clicks.is_empty() { Ok(()) } else { writer.store_click_feedback(&clicks) }
        };
        pools.writer()?.run(write).await??;
        self.request_checkpoint();
        Ok(())
    }

    /// Like [`Service::flush_usage`], on a disk that may be full or read-only: the usage is dropped there.
    ///
    /// # Errors
    /// As [`Service::flush_usage`], except for failures of the disk.
    pub async fn flush_or_drop_usage(&self) -> Result<(), Failure> {
        match self.flush_usage().await {
            Err(failure) if failure.fault.is_some() => {
                self.health.record_failure(&failure, self.now());
                Ok(())
            }
            flushed => flushed,
        }
    }

    /// Flushes usage, unless the write would have to wait until the index is loaded.
    ///
    /// # Errors
    /// As [`Service::flush_usage`].
    pub async fn flush_usage_unless_loading(&self) -> Result<(), Failure> {
        match self.pools().await?.warmup.progress() {
            Some(_) => Ok(()),
            None => self.flush_usage().await,
        }
    }
}
