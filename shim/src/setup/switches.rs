//! The switches of `[hooks]` in the configuration: which hooks setup writes, and switching on what `--with` asks for.
//!
//! PURE. Not here: the defaults and the other keys of the section (the daemon).

use super::event::Event;
use toml_edit::{DocumentMut, Item, Table, value};

/// The events that the configuration switches on or off by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches(Vec<(Event, bool)>);

impl Switches {
    /// Reads them from the text of the configuration; one that cannot be read has none.
    #[must_use]
    pub fn of(config: &str) -> Self {
        let document = config.parse::<DocumentMut>().unwrap_or_default();
        let is_on = |event: Event| document.get("hooks")?.get(key(event)?)?.as_bool();
        let events =
            [Event::SessionStart, Event::Prompt, Event::SubagentStart, Event::PreTool, Event::Stop];
        Self(events.into_iter().filter_map(|event| Some((event, is_on(event)?))).collect())
    }

    /// Whether an event is on; `None` if the configuration does not say.
    #[must_use]
    pub fn is_on(&self, event: Event) -> Option<bool> {
        self.0.iter().find(|(known, _)| *known == event).map(|(_, is_on)| *is_on)
    }
}

/// Returns the key of an event. Those without one have a hook in any case: `post-compact` also notes a compaction.
fn key(event: Event) -> Option<&'static str> {
    match event {
        Event::SessionStart => Some("session_start"),
        Event::Prompt => Some("prompt"),
        Event::SubagentStart => Some("subagent_start"),
        Event::PreTool => Some("pre_tool"),
        Event::Stop => Some("stop"),
        Event::PostCompact | Event::SessionEnd => None,
    }
}

/// Returns the text of a configuration in which these events are on, and the keys that were changed for that.
///
/// # Errors
/// The text is not valid, or `hooks` is no section.
pub fn switched_on(config: &str, events: &[Event]) -> Result<(String, Vec<String>), String> {
    let mut document: DocumentMut = config.parse().map_err(|error| format!("{error}"))?;
    let mut changed = Vec::new();
    for event in events {
        let Some(key) = key(*event) else { continue };
        let section = document.entry("hooks").or_insert(Item::Table(Table::new()));
        let section = section.as_table_like_mut().ok_or("hooks is not a section")?;
        let mut on = value(true);
        if let Some(earlier) = section.get(key).and_then(Item::as_value) {
            if earlier.as_bool() == Some(true) {
                continue;
            }
            // With the comments before and behind it.
            if let Some(on) = on.as_value_mut() {
                *on.decor_mut() = earlier.decor().clone();
            }
        }
        match section.get_mut(key) {
            Some(item) => *item = on,
            None => drop(section.insert(key, on)),
        }
        changed.push(format!("hooks.{key}"));
    }
    Ok((document.to_string(), changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_read_and_set_and_the_rest_stays() {
        let config = "# mine\n[hooks]\nprompt = false # quiet\nstop = false # no\n";
        let switches = Switches::of(config);
        assert_eq!(
            [Event::Prompt, Event::Stop, Event::PreTool].map(|event| switches.is_on(event)),
            [Some(false), Some(false), None]
        );
        let (text, changed) =
            switched_on(config, &[Event::Stop, Event::PreTool]).expect("it is valid");
        assert_eq!(
            text,
            "# mine\n[hooks]\nprompt = false # quiet\nstop = true # no\npre_tool = true\n"
        );
        assert_eq!(changed, ["hooks.stop", "hooks.pre_tool"]);
        assert_eq!(switched_on(&text, &[Event::Stop]), Ok((text.clone(), Vec::new())));
        assert!(switched_on("hooks = 1", &[Event::Stop]).is_err());
        assert_eq!(Switches::of("]"), Switches::default());
    }
}
