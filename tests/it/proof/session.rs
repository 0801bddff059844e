//! A session that makes random calls on memories of its own, and keeps what was acknowledged.
//!
//! A memory of a call without an answer is not used again, so that each such call has either its
//! whole effect or none, whatever the later calls are.

use crate::home::Agent;
use crate::proof::effect::{Effect, State, Triple};
use crate::proof::random::Random;
use crate::proof::stored::Stored;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The effect was acknowledged.
    Acknowledged,
    /// The call failed with this text.
    Refused(String),
    /// The shim has ended.
    None,
}

/// One call.
#[derive(Debug, Clone)]
pub struct Event {
    pub effect: Effect,
    pub answer: Answer,
}

/// A session with its history.
pub struct MixedSession {
    name: String,
    agent: Agent,
    random: Random,
    /// Every call that changes something, in order.
    pub events: Vec<Event>,
    ids: HashMap<String, String>,
    entities: Vec<String>,
    active: Vec<String>,
    forgotten: Vec<String>,
    /// Numbers the texts.
    texts: usize,
}

impl MixedSession {
    /// Returns a session whose texts begin with this name.
    pub fn new(name: &str, agent: Agent, seed: u64) -> Self {
        Self {
            name: name.to_owned(),
            agent,
            random: Random::new(seed),
            events: Vec::new(),
            ids: HashMap::new(),
            entities: Vec::new(),
            active: Vec::new(),
            forgotten: Vec::new(),
            texts: 0,
        }
    }

    /// Continues with another shim.
    pub fn reconnect(&mut self, agent: Agent) {
        self.agent = agent;
    }

    /// Returns the pid of the shim.
    pub fn shim(&self) -> u32 {
        self.agent.pid()
    }

    /// Makes one random call.
    pub fn step(&mut self) -> Answer {
        match self.random.below(100) {
            0..40 => self.store(),
            40..55 => self.supersede(),
            55..67 => self.forget(false),
            67..72 => self.forget(true),
            72..80 => self.restore(),
            80..88 => self.relate(),
            _ => self.recall(),
        }
    }

    /// Returns the state that the acknowledged calls must have left.
    pub fn acknowledged(&self) -> State {
        let mut state = State::default();
        for event in self.events.iter().filter(|event| event.answer == Answer::Acknowledged) {
            state.apply(&event.effect);
        }
        state
    }

    /// Returns the effects of calls that were not acknowledged.
    pub fn unanswered(&self) -> impl Iterator<Item = &Effect> {
        let unanswered = |event: &&Event| event.answer != Answer::Acknowledged;
        self.events.iter().filter(unanswered).map(|event| &event.effect)
    }

    /// Returns whether every memory of this session has the id that its reply named.
    pub fn has_ids_of(&self, stored: &Stored) -> bool {
        self.ids.iter().all(|(text, id)| stored.ids.get(text).is_none_or(|stored| stored == id))
    }

    fn text(&mut self) -> String {
        self.texts += 1;
        // Few digits: more of them may be the number of a payment card, which is refused.
        format!("{} wrote note {} of {}", self.name, self.texts, self.random.below(1_000_000))
    }

    /// Stores a memory.
    pub fn store(&mut self) -> Answer {
        let text = self.text();
        let is_entity = self.random.below(5) == 0;
        let arguments = if is_entity {
            json!({"content": text, "type": "entity", "metadata": {"name": format!("{} {}", self.name, self.texts)}})
        } else {
            json!({"content": text, "type": "semantic"})
        };
        let (answer, reply) = self.change("store_memory", arguments, Effect::Stored(text.clone()));
        if let Some(reply) = reply {
            assert_eq!(reply["deduplicated"], false, "{text} was stored twice");
            self.keep_id(&text, &reply);
            if is_entity { &mut self.entities } else { &mut self.active }.push(text);
        }
        answer
    }

    fn supersede(&mut self) -> Answer {
        let Some(old) = self.random.take(&mut self.active) else { return self.store() };
        let new = self.text();
        let arguments = json!({"content": new, "type": "semantic", "supersedes": self.ids[&old]});
        let effect = Effect::Superseded { old, new: new.clone() };
        let (answer, reply) = self.change("store_memory", arguments, effect);
        if let Some(reply) = reply {
            self.keep_id(&new, &reply);
            self.active.push(new);
        }
        answer
    }

    /// Forgets an active memory, or stores one if there is none.
    pub fn forget(&mut self, hard: bool) -> Answer {
        let Some(text) = self.random.take(&mut self.active) else { return self.store() };
        let arguments = json!({"memory_id": self.ids[&text], "hard_delete": hard});
        let effect =
            if hard { Effect::Erased(text.clone()) } else { Effect::Forgotten(text.clone()) };
        let (answer, reply) = self.change("forget_memory", arguments, effect);
        if let Some(reply) = reply {
            assert_ne!(reply["already_forgotten"], true, "{text} was forgotten twice");
            if !hard {
                self.forgotten.push(text);
            }
        }
        answer
    }

    fn restore(&mut self) -> Answer {
        let Some(text) = self.random.take(&mut self.forgotten) else { return self.store() };
        let arguments = json!({"memory_id": self.ids[&text]});
        let (answer, reply) =
            self.change("restore_memory", arguments, Effect::Restored(text.clone()));
        if let Some(reply) = reply {
            assert_eq!(reply["was"], "forgotten", "{text} was restored twice");
            self.active.push(text);
        }
        answer
    }

    fn relate(&mut self) -> Answer {
        if self.entities.len() < 2 {
            return self.store();
        }
        let from = self.random.below(self.entities.len());
        let to = (from + 1 + self.random.below(self.entities.len() - 1)) % self.entities.len();
        self.texts += 1;
        let triple = Triple {
            subject: self.entities[from].clone(),
            predicate: format!("knows_{}", self.texts),
            object: self.entities[to].clone(),
        };
        let arguments = json!({"subject_id": self.ids[&triple.subject], "predicate": triple.predicate,
            "object_id": self.ids[&triple.object]});
        let (answer, reply) =
            self.change("store_relation", arguments, Effect::Related(triple.clone()));
        if let Some(reply) = reply {
            assert_eq!(reply["created"], true, "{triple:?} was stored twice");
        }
        answer
    }

    /// Recalls one active and one forgotten memory by id: an acknowledged effect is seen at once.
    fn recall(&mut self) -> Answer {
        let (Some(active), forgotten) = (self.active.last(), self.forgotten.last()) else {
            return self.store();
        };
        let (active, forgotten) = (active.clone(), forgotten.cloned());
        let ids: Vec<&String> = [Some(&active), forgotten.as_ref()]
            .into_iter()
            .flatten()
            .map(|t| &self.ids[t])
            .collect();
        let arguments = json!({"ids": ids, "token_budget": 100_000});
        let (answer, reply) = self.change("recall_memory", arguments, Effect::None);
        if let Some(reply) = reply {
            assert_eq!(reply["results"][0]["content"], active, "{reply}");
            let missing = reply["missing"].as_array().map_or(0, Vec::len);
            assert_eq!(missing, usize::from(forgotten.is_some()), "{reply}");
        }
        answer
    }

    fn keep_id(&mut self, text: &str, reply: &Value) {
        let id = reply["id"].as_str().expect("the reply has an id").to_owned();
        self.ids.insert(text.to_owned(), id);
    }

    /// Calls a tool and adds the call to the history; returns the reply if there is one.
    fn change(&mut self, tool: &str, arguments: Value, effect: Effect) -> (Answer, Option<Value>) {
        let (answer, reply) = match self.agent.try_call(tool, arguments) {
            Some(Ok(reply)) => (Answer::Acknowledged, Some(reply)),
            Some(Err(error)) => (Answer::Refused(error), None),
            None => (Answer::None, None),
        };
        if effect != Effect::None {
            self.events.push(Event { effect, answer: answer.clone() });
        }
        (answer, reply)
    }
}

/// Checks that a database has every acknowledged effect of these sessions once, each other effect
/// as a whole or not at all, and nothing else.
///
/// # Errors
/// The first differences.
pub fn check_all(sessions: &[MixedSession], stored: &Stored) -> Result<(), String> {
    let mut expected = State::default();
    for session in sessions {
        let State { memories, relations } = session.acknowledged();
        expected.memories.extend(memories);
        expected.relations.extend(relations);
    }
    expected.check(sessions.iter().flat_map(MixedSession::unanswered), &stored.state)?;
    match sessions.iter().find(|session| !session.has_ids_of(stored)) {
        Some(session) => Err(format!("{} has a memory with another id", session.name)),
        None => Ok(()),
    }
}
