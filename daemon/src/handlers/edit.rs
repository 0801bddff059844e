//! `edit`: changes one memory in place.

use crate::handlers::handle::Handle;
use crate::service::{Caller, Service};
use loci_engine::Writer;
use loci_engine::model::document::Document;
use loci_engine::model::encoding::TextEncodings;
use loci_engine::operations::edit;
use loci_engine::transaction::change::CallContext;
use loci_proto::error::Failure;
use loci_proto::requests::edit::{ChangedReply, EditRequest};

impl Handle for EditRequest {
    async fn handle(
        mut self,
        service: &Service,
        caller: Caller<'_>,
    ) -> Result<ChangedReply, Failure> {
        let mut encodings = TextEncodings::default();
        edit::clean(&mut self)?;
        // A person may edit where loci is off; nothing of it is sent.
        if let Some(text) = &self.content
            && !service.is_withheld(caller.session, &self.memory_id).await
        {
            encodings = service.encode_document(&Document::from(text.clone())).await?;
        }
        let may_lack_encoding = self.content.is_some() || self.metadata.is_some();
        let edit =
            move |writer: &mut Writer, call: &CallContext| writer.edit(call, &self, &encodings);
        let edited = service.write(caller, edit).await;
        if may_lack_encoding {
            // The new text has its encoding, but not with the questions of the memory.
            service.set_vectors_missing(true);
        }
        edited
    }
}
