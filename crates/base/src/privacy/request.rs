//! Applies a [`Policy`] to every text of a request that may be written to disk. The match names
//! every verb, so a new verb cannot be forgotten.
//!
//! The query of a recall is answered as it is; whether it is kept for evaluation is decided by
//! [`kept_query`]. Names of groups cannot be redacted and are refused also with `redact`. Not here:
//! the lines of an import (`transfer::screen`).

use crate::privacy::metadata;
use crate::privacy::policy::{Policy, SecretMode};
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::requests::Request;
use serde_json::{Map, Value};

/// Screens a request in place; returns what was replaced, for the reply.
///
/// # Errors
/// `secret_detected` naming field, kind and position; `invalid` for a content that is empty without
/// its private parts.
pub fn screen(policy: &Policy, request: &mut Request) -> Result<Vec<String>, Failure> {
    let mut texts = Texts::new(policy);
    match request {
        Request::Store(store) => {
            texts.content("content", &mut store.content)?;
            texts.metadata(&mut store.metadata)?;
            for (number, question) in store.questions.iter_mut().flatten().enumerate() {
                texts.text(&format!("questions[{number}]"), question)?;
            }
            texts.group("group", store.group.as_ref())?;
        }
        Request::Edit(edit) => {
            edit.content.iter_mut().try_for_each(|text| texts.content("content", text))?;
            edit.metadata.iter_mut().try_for_each(|metadata| texts.metadata(metadata))?;
        }
        Request::Relate(relate) => texts.text("predicate", &mut relate.predicate)?,
        Request::Forget(forget) => {
            forget.reason.iter_mut().try_for_each(|reason| texts.text("reason", reason))?;
        }
        Request::ForgetMany(forget) => {
            forget.reason.iter_mut().try_for_each(|reason| texts.text("reason", reason))?;
        }
        Request::Compact(compact) => {
            compact.summary.iter_mut().try_for_each(|text| texts.content("summary", text))?;
        }
        Request::MoveTo(request) => texts.group("to", Some(&request.to))?,
        Request::GroupsRename(rename) => texts.group("to", Some(&rename.to))?,
        Request::GroupsAlias(alias) if !alias.remove => texts.group("alias", Some(&alias.alias))?,
        // These write no text of their own.
        Request::Recall(_)
        | Request::Stats(_)
        | Request::Inspect(_)
        | Request::Restore(_)
        | Request::Config(_)
        | Request::Confirm(_)
        | Request::List(_)
        | Request::Facets(_)
        | Request::Diff(_)
        | Request::Topics(_)
        | Request::Wander(_)
        | Request::Find(_)
        | Request::Pin(_)
        | Request::Supersede(_)
        | Request::Review(_)
        | Request::Undo(_)
        | Request::Redo(_)
        | Request::History(_)
        | Request::Injected(_)
        // The summary of a compaction becomes a store request, which is screened then.
        | Request::Hook(_)
        | Request::Eval(_)
        | Request::Maintenance(_)
        | Request::Cleanup(_)
        | Request::Groups(_)
        | Request::GroupsMerge(_)
        | Request::GroupsJoin(_)
        | Request::GroupsAlias(_)
        | Request::GroupsSwitch(_)
        | Request::Incognito(_)
        // The texts of files are screened when they are read.
        | Request::Bridge(_)
        | Request::BridgeSwitch(_)
        | Request::BridgeFile(_)
        | Request::BridgeBlock(_)
        | Request::Backup(_)
        | Request::Reset(_)
        | Request::PurgeBackups(_)
        | Request::Doctor(_)
        | Request::Reembed(_)
        | Request::Scan(_) => {}
    }
    Ok(texts.redacted)
}

/// Returns the query as it may be kept for evaluation; `None` if it holds a secret that would be
/// refused.
pub fn kept_query(policy: &Policy, query: &str) -> Option<String> {
    let screened = policy.screen(query).ok()?;
    (!screened.text.trim().is_empty()).then_some(screened.text)
}

/// Refuses the name of a group that holds a secret.
///
/// # Errors
/// `secret_detected`, naming the field.
pub fn check_group(policy: &Policy, field: &str, name: &str) -> Result<(), Failure> {
    if policy.mode() == SecretMode::Allow {
        return Ok(());
    }
    let found = policy.scan_secrets(name);
    let Some(first) = found.first() else { return Ok(()) };
    let start = name[..first.range.start].chars().count();
    let end = start + name[first.range.clone()].chars().count();
    let message = format!("holds a secret: {} at characters {start}..{end}", first.kind);
    Err(Failure::new(Code::SecretDetected, message).at(field).hint("Choose another name"))
}

/// The texts of one request, or of one line of an import.
pub struct Texts<'a> {
    policy: &'a Policy,
    /// The names of the fields in which something was replaced.
    pub redacted: Vec<String>,
}

impl<'a> Texts<'a> {
    /// A screen with a policy.
    pub fn new(policy: &'a Policy) -> Self {
        Self { policy, redacted: Vec::new() }
    }

    /// Screens the text of a memory.
    pub fn content(&mut self, field: &str, text: &mut String) -> Result<(), Failure> {
        let screened = self.policy.screen(text).map_err(|found| found.at(field))?;
        if screened.dropped_private && screened.text.trim().is_empty() {
            return Err(Failure::invalid(field, "is empty without its <private> parts")
                .hint("Nothing was stored; leave out the tag to store the text"));
        }
        self.redacted.extend(screened.redacted);
        *text =
            if screened.dropped_private { screened.text.trim().to_owned() } else { screened.text };
        Ok(())
    }

    /// Replaces what a text may not contain.
    pub fn text(&mut self, field: &str, text: &mut String) -> Result<(), Failure> {
        let screened = self.policy.screen(text).map_err(|found| found.at(field))?;
        self.redacted.extend(screened.redacted.iter().map(|found| format!("{field}: {found}")));
        *text = screened.text;
        Ok(())
    }

    /// Replaces what metadata may not contain.
    pub fn metadata(&mut self, metadata: &mut Map<String, Value>) -> Result<(), Failure> {
        metadata::screen(self.policy, "metadata", metadata, &mut self.redacted)
    }

    fn group(&self, field: &str, name: Option<&GroupName>) -> Result<(), Failure> {
        name.map_or(Ok(()), |name| check_group(self.policy, field, name.as_str()))
    }
}
