//! `maintenance`: shows and controls the maintenance scheduler, and executes one step of a run.

use crate::handlers::handle::Handle;
use crate::service::maintenance_run::{self, StepDone};
use crate::service::scheduler::due_at;
use crate::service::store_state::StorePools;
use crate::service::{Caller, Service, index_warmup};
use loci_engine::Reader;
use loci_engine::model::time::Timestamp;
use loci_proto::error::Failure;
use loci_proto::requests::maintenance::{MaintenanceAction, MaintenanceReply, MaintenanceRequest};

impl Handle for MaintenanceRequest {
    /// # Errors
    /// `conflict` for `run` while maintenance is paused or the clock is not trusted; `busy`, `storage_failed`.
    async fn handle(
        self,
        service: &Service,
        _caller: Caller<'_>,
    ) -> Result<MaintenanceReply, Failure> {
        let needs_index = matches!(self.action, MaintenanceAction::Plan | MaintenanceAction::Run);
        let pools = if needs_index {
            index_warmup::pools_with_index(service).await?
        } else {
            service.pools().await?
        };
        match self.action {
            MaintenanceAction::Status => status_reply(service, &pools).await,
            MaintenanceAction::Plan => {
                let now = service.now();
                let describe = move |reader: &mut Reader| reader.describe_plan(&reader.plan(now)?);
                let plan = pools.readers.run(describe).await??;
                Ok(MaintenanceReply { plan: Some(plan), ..status_reply(service, &pools).await? })
            }
            MaintenanceAction::Pause | MaintenanceAction::Resume => {
                let is_paused = self.action == MaintenanceAction::Pause;
                pools.writer()?.run(move |writer| writer.set_paused(is_paused)).await??;
                status_reply(service, &pools).await
            }
            MaintenanceAction::Run => {
                let StepDone { done, left } =
                    maintenance_run::do_step(service, &pools, self.restart).await?;
                Ok(MaintenanceReply {
                    done,
                    left: Some(left),
                    ..status_reply(service, &pools).await?
                })
            }
        }
    }
}

async fn status_reply(service: &Service, pools: &StorePools) -> Result<MaintenanceReply, Failure> {
    let state = pools.readers.run(|reader| reader.maintenance_state()).await??;
    let schedule = service.scheduler.schedule();
    let next_run = schedule
        .filter(|schedule| schedule.enabled && !state.paused)
        .map(|schedule| due_at(schedule, state.last_run).max(service.now()));
    Ok(MaintenanceReply {
        enabled: schedule.is_some_and(|schedule| schedule.enabled),
        idle_minutes: schedule
            .and_then(|schedule| schedule.idle)
            .map(|idle| idle.as_secs_f64() / 60.0),
        paused: state.paused,
        last_run_at: state.last_run.map(Timestamp::iso),
        next_run_at: next_run.map(Timestamp::iso),
        ..MaintenanceReply::default()
    })
}

#[cfg(test)]
mod tests {
    use crate::embedding::Embedder;
    use crate::service::test_fixture::ServiceFixture;
    use loci_engine::model::time::Timestamp;
    use loci_proto::error::Code;
    use serde_json::{Value, json};

    /// Returns a service over an empty store; its clock takes `latest` as the time of the latest entry.
    fn fixture(folder: &tempfile::TempDir, latest: Timestamp) -> ServiceFixture {
        let fixture = ServiceFixture::warm(folder, Embedder::with_hash_vectors()).by_person();
        fixture.service.clock.initialise(latest, None);
        fixture
    }

    #[tokio::test]
    async fn while_the_clock_is_not_trusted_nothing_is_compacted_or_cleaned_up() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = fixture(&folder, Timestamp(1_700_000_000_000));
        for (name, arguments) in [
            ("maintenance", json!({"action": "run"})),
            ("cleanup", json!({"dry_run": true})),
            ("cleanup", json!({})),
            ("compact_memories", json!({})),
        ] {
            let refused = fixture.call(name, arguments).await.expect_err("the call is refused");
            assert!(
                refused.code == Code::Conflict && refused.to_string().contains("not trusted"),
                "{name}: {refused}"
            );
        }
        let plan = fixture.call("maintenance", json!({"action": "plan"})).await;
        assert!(plan.is_ok(), "a plan changes nothing");
    }

    #[tokio::test]
    async fn an_agent_lists_a_cluster_and_replaces_it_by_a_summary() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = fixture(&folder, Timestamp(0));
        for i in 0..5 {
            let arguments = json!({"content": format!("Old thing {i}"), "type": "episodic", "metadata": {"event_date": "2025-03-05"}});
            fixture.call("store_memory", arguments).await.expect("the memory is stored");
        }
        let listed =
            fixture.call("compact_memories", json!({})).await.expect("a cluster is listed");
        assert_eq!(listed["memories"].as_array().map(Vec::len), Some(5));
        let arguments = json!({"cluster": listed["cluster"], "summary": "Five old things happened in March 2025."});
        let stored =
            fixture.call("compact_memories", arguments).await.expect("the summary is stored");
        assert_eq!(stored["compacted"], 5);
        let query = json!({"query": "old things"});
        let recalled = fixture.call("recall_memory", query).await.expect("the call is answered");
        assert_eq!(recalled["results"][0]["content"], "Five old things happened in March 2025.");
        let listed =
            fixture.call("compact_memories", json!({})).await.expect("the call is answered");
        assert_eq!(listed["note"], "Nothing is due");
    }

    #[tokio::test]
    async fn a_run_advances_step_by_step_and_stops_while_paused() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = fixture(&folder, Timestamp(0));
        for date in ["2025-03-05", "2025-03-12"] {
            for i in 0..5 {
                let arguments = json!({"content": format!("{date} thing {i}"), "type": "episodic", "metadata": {"event_date": date}});
                fixture.call("store_memory", arguments).await.expect("the memory is stored");
            }
        }
        let maintenance = async |arguments: Value| fixture.call("maintenance", arguments).await;
        let first = maintenance(json!({"action": "run", "restart": true}))
            .await
            .expect("the step is executed");
        assert_eq!((&first["left"], &first["last_run_at"]), (&json!(1), &Value::Null));
        maintenance(json!({"action": "pause"})).await.expect("maintenance is paused");
        assert!(maintenance(json!({"action": "run"})).await.is_err());
        maintenance(json!({"action": "resume"})).await.expect("maintenance is resumed");
        let last = maintenance(json!({"action": "run"})).await.expect("the step is executed");
        assert!(last["left"] == 0 && last["last_run_at"].is_string(), "{last}");
        let stats =
            fixture.call("memory_stats", json!({})).await.expect("the memories are counted");
        assert_eq!(stats["compacted"], 10);
    }
}
