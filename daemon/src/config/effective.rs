//! What the daemon goes by: each key's value and where it comes from, and the file read again while it runs.
//!
//! Some keys take effect at once, others wait for the next start; a file with a fault changes nothing. Not here: what the keys mean.

use crate::config::options;
use crate::config::options::Overrides;
use crate::config::{Config, file};
use crate::process::telemetry;
use loci_engine::Settings;
use loci_proto::error::Failure;
use loci_proto::paths::Paths;
use loci_proto::requests::config::{ChangedKey, ConfigKey, ConfigReply, ReloadReply};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sections and keys that only a start reads. Everything else takes effect as soon as the file is read again.
const AT_START: [&str; 3] = ["server.transport", "storage.", "embedding."];

/// The configuration of a running daemon.
#[derive(Debug)]
pub struct Settled {
    paths: Paths,
    now: Mutex<Now>,
}

#[derive(Debug)]
struct Now {
    config: Config,
    exists: bool,
    keys: BTreeMap<String, ConfigKey>,
}

impl Settled {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it, with its place.
    pub fn read(paths: &Paths) -> Result<Self, Failure> {
        Ok(Self { paths: paths.clone(), now: Mutex::new(read(paths)?) })
    }

    /// What is in force at this moment.
    #[must_use]
    pub fn config(&self) -> Config {
        self.now().config.clone()
    }

    /// Every key, its value and where that comes from.
    #[must_use]
    pub fn told(&self) -> ConfigReply {
        let now = self.now();
        ConfigReply {
            file: self.paths.config.display().to_string(),
            exists: now.exists,
            keys: now.keys.values().cloned().collect(),
        }
    }

    /// Reads the file again; what the engine has to be told, and what is different.
    ///
    /// # Errors
    /// What is wrong with the file; everything is then as before.
    pub fn reload(&self) -> Result<(Settings, ReloadReply), Failure> {
        let mut fresh = read(&self.paths)?;
        let mut now = self.now();
        let mut changed = Vec::new();
        for (name, key) in &mut fresh.keys {
            let Some(old) = now.keys.get(name).filter(|old| old.value != key.value) else {
                continue;
            };
            let waits = AT_START.iter().any(|start| name.starts_with(start));
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
        fresh.config.storage = now.config.storage.clone();
        fresh.config.embedding = now.config.embedding.clone();
        telemetry::set(&options::log_level(&fresh.config)?);
        let settings = fresh.config.settings();
        *now = fresh;
        Ok((settings, ReloadReply { file: self.paths.config.display().to_string(), changed }))
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(paths: &Paths) -> Result<Now, Failure> {
    let text = file::text(&paths.config)?;
    let config = match &text {
        Some(text) => Config::of_text(text, &paths.config)?,
        None => Config::default(),
    };
    let overrides = options::overrides(paths, &config).map_err(|failure| {
        text.as_deref().map_or_else(
            || failure.clone(),
            |text| file::of_key(&paths.config, text, failure.clone()),
        )
    })?;
    let keys = keys(&config, text.as_deref().unwrap_or_default(), paths, &overrides);
    Ok(Now { config, exists: text.is_some(), keys })
}

fn keys(
    config: &Config,
    text: &str,
    paths: &Paths,
    overrides: &Overrides,
) -> BTreeMap<String, ConfigKey> {
    let places = file::keys(text);
    let name = paths.config.file_name().unwrap_or_default().to_string_lossy();
    let from_file =
        |key: &str| places.get(key).map(|span| format!("{name}:{}", file::line(text, span.start)));
    let mut keys = BTreeMap::new();
    let sections = serde_json::to_value(config).unwrap_or_default();
    for (section, values) in sections.as_object().into_iter().flatten() {
        for (name, value) in values.as_object().into_iter().flatten() {
            let key = format!("{section}.{name}");
            let from = from_file(&key).unwrap_or_else(|| "default".to_owned());
            keys.insert(key.clone(), ConfigKey { key, value: value.clone(), from, waits: None });
        }
    }
    for (key, value, variable) in overrides {
        if let Some(told) = keys.get_mut(*key) {
            told.value = Value::String(value.clone());
            if let Some(variable) = variable {
                (*variable).clone_into(&mut told.from);
            }
        }
    }
    keys
}
