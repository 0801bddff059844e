//! What a person may want to know about an embedding API: what was sent and what it costs, warnings, and whether a question waits.
//!
//! Not here: the counters (`embedding::api::usage`).

use crate::config::embedding::LOCAL;
use crate::config::options;
use crate::embedding::Embedder;
use crate::embedding::api::sender::Api;
use crate::embedding::api::usage::{Usage, today};
use crate::interface::agents::session::Session;
use crate::service::Service;
use crate::service::store_state::StorePools;
use loci_engine::model::withheld::Withheld;
use loci_proto::cost::CostReply;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;

impl Service {
    /// Returns the configured API; `None` with a model on this machine.
    #[must_use]
    pub fn api(&self) -> Option<&Api> {
        self.models.configured().api()
    }

    /// Returns whether the store has vectors of the configured API, or is getting them.
    #[must_use]
    pub fn uses_api(&self) -> bool {
        let id = self.api().map(Api::id);
        self.vector_sets().in_use().any(|set| Some(set.model.as_str()) == id.as_deref())
    }

    /// Returns which memories a model must not encode: those of projects that are off and expired ones are not sent to an API.
    #[must_use]
    pub fn withheld_from(&self, embedder: &Embedder, pools: &StorePools) -> Withheld {
        if embedder.api().is_none() {
            return Withheld::default();
        }
        Withheld { groups: pools.switches.off(), expired_at: Some(self.now()) }
    }

    /// Returns whether the text of a memory must not be encoded now: its project is off, and the text would be sent to an API.
    pub async fn is_withheld(&self, session: &Session, memory: &MemoryId) -> bool {
        let Some(embedder) = self.active_embedder() else { return false };
        let Ok(pools) = self.pools().await else { return false };
        let off = self.withheld_from(&embedder, &pools).groups;
        if off.is_empty() {
            return false;
        }
        let (actor, memory) = (session.actor(), memory.clone());
        let project = self.read(move |reader| reader.project_of_memory(&actor.group, &memory));
        project.await.is_ok_and(|project| off.contains(&project.id))
    }

    /// Returns warnings about what was sent today, in sentences.
    #[must_use]
    pub fn api_alerts(&self) -> Vec<String> {
        self.api().map(|api| api.usage.alerts(today())).unwrap_or_default()
    }

    /// Says that a person has to start sending the memories to the configured API.
    #[must_use]
    pub fn api_waits(&self) -> Option<String> {
        let host = &self.api()?.config.target.host;
        let active = self.vector_sets().active.model.clone();
        let waits = !self.uses_api() && !active.is_empty();
        waits.then(|| format!("The vectors of {active} are used; loci re-embed shows what would be sent to {host}, and asks"))
    }

    /// Returns what was sent, by day, also if the API is no longer configured (`GET /cost`).
    ///
    /// # Errors
    /// `internal` if the counters cannot be read.
    pub fn cost(&self) -> Result<CostReply, Failure> {
        let price = self.config.config().embedding.price;
        let unreadable = |failure: crate::embedding::api::messages::ApiFailure| {
            Failure::new(Code::Internal, failure.message.clone()).hint(failure.hint())
        };
        let Some(api) = self.api() else {
            let earlier = Usage::open(&options::usage_file(self.database()), 0);
            let days = earlier.days(price).map_err(unreadable)?;
            return Ok(CostReply {
                provider: LOCAL.to_owned(),
                host: None,
                daily_tokens: None,
                price,
                is_limited: false,
                alerts: Vec::new(),
                days,
            });
        };
        Ok(CostReply {
            provider: api.config.target.provider.as_str().to_owned(),
            host: Some(api.config.target.host.clone()),
            daily_tokens: Some(api.config.daily_tokens),
            price,
            is_limited: api.usage.is_limited(today()),
            alerts: self.api_alerts(),
            days: api.usage.days(price).map_err(unreadable)?,
        })
    }
}
