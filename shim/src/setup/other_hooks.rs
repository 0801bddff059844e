//! Takes hooks of another `loci` out of an array of hooks, so that no hook runs twice. A group that also runs other commands keeps them.

use super::change::{hook_commands, hook_parts, is_plain_hook};
use super::edit::{self, EditError, EntryKind, Format, Ledger, Target, pointer};
use serde_json::Value as Json;

/// What was found in the array.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OtherHooks {
    /// The new text, if hooks were taken out.
    pub text: Option<String>,
    /// The command line of a hook with variables or arguments of its own, which stays.
    pub of_somebody: Option<String>,
}

/// Takes out the hooks that run for the same event as `wanted`; with `force`, also those with variables or arguments of their own.
///
/// # Errors
/// The text is not valid or cannot be edited.
pub fn take_out(
    text: &str,
    format: Format,
    wanted: &Target,
    ledger: &mut Ledger,
    force: bool,
) -> Result<OtherHooks, EditError> {
    let mut found = OtherHooks::default();
    let document = edit::parse(text, format)?;
    let events = events(&wanted.value);
    let Some(Json::Array(items)) = edit::at(&document, &wanted.path) else { return Ok(found) };
    let is_other = |value: &Json| !events.is_empty() && self::events(value) == events;
    let mut edited = text.to_owned();
    let mut left = items.len();
    for (position, item) in items.iter().enumerate().rev() {
        let commands = hook_commands(item);
        let by_hand = commands.iter().find(|c| !is_plain_hook(c) && runs(c, &events));
        if let Some(command) = by_hand.filter(|_| !force) {
            found.of_somebody = Some(command.clone());
            continue;
        }
        let inner = item["hooks"].as_array().map(Vec::as_slice);
        let is_alone = inner.map_or_else(|| is_other(item), |hooks| hooks.iter().all(is_other));
        let (path, others) = if is_alone && !commands.is_empty() {
            left -= 1;
            (wanted.path.clone(), vec![item])
        } else {
            let path = [wanted.path.clone(), vec![position.to_string(), "hooks".to_owned()]];
            let others = inner.unwrap_or_default().iter().filter(|hook| is_other(hook));
            (path.concat(), others.collect())
        };
        for value in others {
            let value = value.clone();
            let target = Target { path: path.clone(), kind: EntryKind::Element, value };
            edited = edit::remove(&edited, format, &target, ledger)?;
        }
    }
    if left == 0 && !items.is_empty() {
        // Only hooks of loci were in the array, so it goes with the last of them.
        ledger.created.insert(pointer(&wanted.path));
    }
    found.text = (edited != text).then_some(edited);
    Ok(found)
}

/// Returns the clients and events for which a value runs `loci hook`, each once.
fn events(value: &Json) -> Vec<String> {
    let commands = hook_commands(value);
    let mut events: Vec<String> =
        commands.iter().filter_map(|command| Some(hook_parts(command)?.1)).collect();
    events.dedup();
    events
}

fn runs(command: &str, events: &[String]) -> bool {
    hook_parts(command).is_some_and(|(_, event)| events.contains(&event))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn wanted() -> Target {
        let path = ["hooks", "Stop"].map(str::to_owned).to_vec();
        let value = json!({"hooks": [{"command": "/new/loci hook claude stop"}]});
        Target { path, kind: EntryKind::Element, value }
    }

    fn take(text: &str, force: bool) -> (OtherHooks, Ledger) {
        let mut ledger = Ledger::default();
        let found = take_out(text, Format::Json, &wanted(), &mut ledger, force);
        (found.expect("the text is valid"), ledger)
    }

    #[test]
    fn a_group_keeps_the_hooks_of_others() {
        let text = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"/opt/loci hook claude stop\"},\n {\"command\" : \"say done\"}]}]}}";
        let (found, ledger) = take(text, false);
        let expected = "{\"hooks\": {\"Stop\": [{\"hooks\": [\n {\"command\" : \"say done\"}]}]}}";
        assert_eq!(found.text.as_deref(), Some(expected));
        assert_eq!(ledger, Ledger::default());
    }

    #[test]
    fn an_array_that_had_only_hooks_of_loci_goes_with_the_last_of_them() {
        let text = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"/opt/loci hook claude stop\"}]}]}}";
        let (found, ledger) = take(text, false);
        assert_eq!(found.text.as_deref(), Some("{\"hooks\": {\"Stop\": []}}"));
        assert!(ledger.created.contains("/hooks/Stop"));
    }

    #[test]
    fn a_hook_with_variables_stays_and_one_of_another_event_too() {
        let text = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"LOCI_HOME=/d /opt/loci hook claude stop\"}]}]}}";
        let (found, _) = take(text, false);
        assert_eq!(found.text, None);
        assert_eq!(found.of_somebody.as_deref(), Some("LOCI_HOME=/d /opt/loci hook claude stop"));
        assert!(take(text, true).0.text.is_some());
        let other = text.replace("LOCI_HOME=/d ", "").replace("claude stop", "claude prompt");
        assert_eq!(take(&other, false).0, OtherHooks::default());
    }
}
