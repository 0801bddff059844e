//! The part of a recall that shows candidates: below every confirmed result, and only if they fit.
//!
//! They are searched for apart, so that they change no score of a confirmed memory. Not here: what
//! makes a candidate a memory (`operations::confirm`).

use crate::Reader;
use crate::error::Result;
use crate::index::Statuses;
use crate::operations::recall::hydrate::Hit;
use crate::operations::recall::page::Page;
use crate::operations::recall::prepare::SearchText;
use crate::operations::recall::search::{Found, Scope};

/// Results that candidates may take if the confirmed ones hardly fit.
const SHARE_OF_WEAK_PAGE: usize = 2;

impl Reader {
    /// Appends the candidates that fit the query, as far as the page has room. On a page whose
    /// results hardly fit they take the last places; without any other result also those are shown
    /// that hardly fit.
    pub(super) fn append_candidates(
        &self,
        scope: Scope<'_>,
        text: &SearchText,
        found: &mut Found,
        hits: &mut Vec<Hit>,
    ) -> Result<()> {
        let limit = self.limit(scope);
        let is_weak = found.is_weak || hits.is_empty();
        let room = limit.saturating_sub(hits.len());
        let room = if is_weak { room.max(SHARE_OF_WEAK_PAGE.min(limit)) } else { room };
        let has_candidates = self.shared.warm().is_some_and(|index| index.has_candidates());
        if room == 0 || (!has_candidates && self.past.is_none()) {
            return Ok(());
        }
        let scope = Scope { statuses: Statuses::Candidate, ..scope };
        let of_candidates = self.find_at_time(scope, text, room)?;
        if of_candidates.is_weak && !hits.is_empty() {
            return Ok(());
        }
        let order = Self::order(scope.context, &text.query.text, room);
        let page = Page::read(&self.conn, of_candidates.ranked, order)?;
        found.matched += of_candidates.matched;
        if hits.is_empty() {
            // Confirmed results that hardly fit are not better for what is appended.
            found.is_weak = of_candidates.is_weak;
        }
        hits.truncate(limit - page.hits.len().min(limit));
        hits.extend(page.hits);
        Ok(())
    }
}
