//! The configuration in force: the value and the source of each key, and reloading the file while the daemon runs.
//!
//! Some keys take effect at once, others at the next start; a faulty file changes nothing. Not here: what the keys mean.

use crate::config::current_policy::CurrentPolicy;
use crate::config::groups::GroupRules;
use crate::config::options;
use crate::config::options::Override;
use crate::config::server::Server;
use crate::config::{Config, file};
use crate::process::telemetry;
use loci_engine::Settings;
use loci_engine::privacy::Policy;
use loci_proto::error::Failure;
use loci_proto::group::Group;
use loci_proto::memory::Scope;
use loci_proto::paths::Paths;
use loci_proto::requests::config::{ChangedKey, ConfigKey, ConfigReply, ReloadReply};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sections and keys that are read only at start. All others take effect when the file is reloaded.
const READ_AT_START: [&str; 5] =
    ["server.transport", "server.http_", "storage.", "embedding.", "retrieval.rerank"];

/// The configuration of a running daemon.
#[derive(Debug)]
pub struct EffectiveConfig {
    paths: Paths,
    policy: CurrentPolicy,
    loaded: Mutex<Loaded>,
}

/// The configuration in force, from the last valid contents of the file.
#[derive(Debug)]
struct Loaded {
    config: Config,
    groups: GroupRules,
    file_exists: bool,
    keys: BTreeMap<String, ConfigKey>,
}

impl EffectiveConfig {
    /// Reads the file.
    ///
    /// # Errors
    /// `invalid` with the position of the fault.
    pub fn read(paths: &Paths) -> Result<Self, Failure> {
        let loaded = load(paths)?;
        let policy = CurrentPolicy::new(loaded.config.privacy.policy()?);
        Ok(Self { paths: paths.clone(), policy, loaded: Mutex::new(loaded) })
    }

    /// Returns the paths that the daemon was started with.
    #[must_use]
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Returns the configuration in force now.
    #[must_use]
    pub fn config(&self) -> Config {
        self.loaded().config.clone()
    }

    /// Returns whether only projects with a `.loci.toml` are served, and those that a person has switched on.
    #[must_use]
    pub fn serves_opted_in_only(&self) -> bool {
        self.loaded().config.projects.opt_in
    }

    /// Returns what may be stored, as the configuration says now.
    #[must_use]
    pub fn policy(&self) -> Arc<Policy> {
        self.policy.get()
    }

    /// Returns what may be stored, which follows each reload.
    #[must_use]
    pub fn current_policy(&self) -> CurrentPolicy {
        self.policy.clone()
    }

    /// Returns whether a project has a section `[groups.NAME]`.
    #[must_use]
    pub fn has_group_rules(&self) -> bool {
        !self.loaded().groups.is_empty()
    }

    /// Returns the names of the sections `[groups.NAME]`.
    #[must_use]
    pub fn group_sections(&self) -> Vec<String> {
        self.loaded().groups.names()
    }

    /// Returns what may be stored in a project, as the configuration says now.
    #[must_use]
    pub fn policy_of(&self, group: &Group) -> Arc<Policy> {
        let own = self.loaded().groups.policy(group);
        own.unwrap_or_else(|| self.policy())
    }

    /// Returns the scope of a memory of a project that is stored without one, if it differs from `[scope]`.
    #[must_use]
    pub fn scope_of(&self, group: &Group) -> Option<Scope> {
        self.loaded().groups.scope(group)
    }

    /// Returns every key with its value and its source (`loci config show`).
    #[must_use]
    pub fn reply(&self) -> ConfigReply {
        let loaded = self.loaded();
        ConfigReply {
            file: self.paths.config.display().to_string(),
            exists: loaded.file_exists,
            keys: loaded.keys.values().cloned().collect(),
        }
    }

    /// Reads the file again; returns the new settings of the engine, and the keys that have changed.
    ///
    /// # Errors
    /// `invalid` with the position of the fault; nothing changes then.
    pub fn reload(&self) -> Result<(Settings, ReloadReply), Failure> {
        let mut reread = load(&self.paths)?;
        let mut loaded = self.loaded();
        let mut changed = Vec::new();
        let change = |name: &String, was: &Value, is: &Value| ChangedKey {
            key: name.clone(),
            was: was.clone(),
            is: is.clone(),
            waits: false,
        };
        // Keys of `[groups.NAME]` come and go with their section.
        let is_new = |(name, key): &(&String, &ConfigKey), others: &BTreeMap<String, ConfigKey>| {
            !key.value.is_null() && !others.contains_key(*name)
        };
        let gone = loaded.keys.iter().filter(|entry| is_new(entry, &reread.keys));
        changed.extend(gone.map(|(name, old)| change(name, &old.value, &Value::Null)));
        let new = reread.keys.iter().filter(|entry| is_new(entry, &loaded.keys));
        changed.extend(new.map(|(name, key)| change(name, &Value::Null, &key.value)));
        for (name, key) in &mut reread.keys {
            let Some(old) = loaded.keys.get(name).filter(|old| old.value != key.value) else {
                continue;
            };
            let waits = READ_AT_START.iter().any(|start| name.starts_with(start));
            changed.push(ChangedKey {
                key: name.clone(),
                was: old.value.clone(),
                is: key.value.clone(),
                waits,
            });
            if waits {
                *key = ConfigKey { waits: Some(key.value.clone()), ..old.clone() };
            }
        }
        let log_level = std::mem::take(&mut reread.config.server.log_level);
        reread.config.server = Server { log_level, ..loaded.config.server.clone() };
        reread.config.storage = loaded.config.storage.clone();
        reread.config.embedding = loaded.config.embedding.clone();
        telemetry::set_level(&options::log_level(&reread.config)?);
        let settings = reread.config.settings_at(&self.paths);
        self.policy.set(reread.config.privacy.policy()?);
        *loaded = reread;
        Ok((settings, ReloadReply { file: self.paths.config.display().to_string(), changed }))
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn load(paths: &Paths) -> Result<Loaded, Failure> {
    let text = file::read_text(&paths.config)?;
    let config = match &text {
        Some(text) => Config::from_text(text, &paths.config)?,
        None => Config::default(),
    };
    let overrides = options::overrides(paths, &config).map_err(|failure| {
        text.as_deref().map_or_else(
            || failure.clone(),
            |text| file::with_position_of_key(&paths.config, text, failure.clone()),
        )
    })?;
    let keys = effective_keys(&config, text.as_deref().unwrap_or_default(), paths, &overrides);
    config.privacy.policy()?;
    let groups = GroupRules::new(&config.groups, &config.privacy)?;
    Ok(Loaded { config, groups, file_exists: text.is_some(), keys })
}

/// Returns every key with its value in force and the source of that value.
fn effective_keys(
    config: &Config,
    text: &str,
    paths: &Paths,
    overrides: &[Override],
) -> BTreeMap<String, ConfigKey> {
    let positions = file::key_positions(text);
    let file_name = paths.config.file_name().unwrap_or_default().to_string_lossy();
    let from_file = |key: &str| {
        positions
            .get(key)
            .map(|span| format!("{file_name}:{}", file::line_number(text, span.start)))
    };
    let mut keys = BTreeMap::new();
    let sections = serde_json::to_value(config).unwrap_or_default();
    for (key, value) in values_by_key("", &sections) {
        let from = from_file(&key).unwrap_or_else(|| "default".to_owned());
        keys.insert(key.clone(), ConfigKey { key, value: value.clone(), from, waits: None });
    }
    for Override { key, value, variable } in overrides {
        if let Some(entry) = keys.get_mut(*key) {
            entry.value = Value::String(value.clone());
            if let Some(variable) = variable {
                (*variable).clone_into(&mut entry.from);
            }
        }
    }
    keys
}

/// Returns the values that are no tables, by their dotted keys.
fn values_by_key<'a>(key: &str, value: &'a Value) -> Vec<(String, &'a Value)> {
    let Some(table) = value.as_object() else { return vec![(key.to_owned(), value)] };
    let inner = |(name, value): (&String, &'a Value)| {
        let dot = if key.is_empty() { "" } else { "." };
        values_by_key(&format!("{key}{dot}{name}"), value)
    };
    table.iter().flat_map(inner).collect()
}
