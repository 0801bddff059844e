//! `CurrentPolicy`: what texts may contain, as the configuration says now; clones share it.
//!
//! Not here: the keys (`privacy`), the rules (`engine::privacy`).

use loci_engine::privacy::Policy;
use std::sync::{Arc, PoisonError, RwLock};

/// The policy in force, which a reload of the configuration replaces.
#[derive(Debug, Clone)]
pub struct CurrentPolicy(Arc<RwLock<Arc<Policy>>>);

impl CurrentPolicy {
    /// Puts a policy in force.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(policy))))
    }

    /// Returns the policy in force.
    #[must_use]
    pub fn get(&self) -> Arc<Policy> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the policy.
    pub fn set(&self, policy: Policy) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }
}
