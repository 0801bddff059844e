//! The keys of `[embedding]` for an API: which one, where, and the consent without which nothing is sent.
//!
//! Not here: calling it (`crate::embedding::api`), reading the key of the provider (only `locid embed` does).

use crate::config::embedding::{Embedding, LOCAL};
use crate::config::path_value::expand;
use crate::embedding::api::ApiTarget;
use crate::embedding::api::provider::Provider;
use axum::http::Uri;
use loci_proto::error::{Code, Failure};
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Allowed values of `embedding.dimensions` with an API.
const DIMENSIONS: RangeInclusive<u16> = 64..=384;
/// Allowed values of `embedding.batch`.
const BATCH: RangeInclusive<i64> = 1..=128;
/// Allowed values of `embedding.flush_ms`.
const FLUSH_MS: RangeInclusive<i64> = 0..=10_000;
/// Allowed values of `embedding.daily_tokens`.
const DAILY_TOKENS: RangeInclusive<i64> = 1_000..=1_000_000_000;
/// Allowed values of `embedding.price`.
const PRICE: RangeInclusive<f64> = 0.0..=1000.0;
/// Maximum length of the name of a model, in bytes.
const MAX_NAME: usize = 100;

impl Embedding {
    /// Returns where texts are sent.
    ///
    /// # Errors
    /// `invalid`, naming the key; also without the consent for this host.
    pub fn api_target(&self) -> Result<ApiTarget, Failure> {
        let provider = self.api_provider()?;
        let given = self.api_url.clone().unwrap_or_else(|| provider.url());
        let url = given.trim_end_matches('/').to_owned();
        let host = host_of(&url)?;
        let model = self.api_model(provider)?;
        let dimensions = self.dimensions.unwrap_or_else(|| provider.default_dimensions());
        if !DIMENSIONS.contains(&dimensions) {
            return Err(out_of_range("embedding.dimensions", &DIMENSIONS, dimensions));
        }
        let target = ApiTarget { provider, model, dimensions: dimensions.into(), url, host };
        self.check_consent(&target)?;
        self.api_key_file()?;
        Ok(target)
    }

    /// Returns the file of the key.
    ///
    /// # Errors
    /// `invalid`, naming the key of the configuration.
    pub fn api_key_file(&self) -> Result<Option<PathBuf>, Failure> {
        self.key_file.as_ref().map(|path| expand("embedding.key_file", path)).transpose()
    }

    fn api_provider(&self) -> Result<Provider, Failure> {
        let known = Provider::ALL.into_iter().find(|known| known.as_str() == self.provider);
        known.ok_or_else(|| {
            let message = format!("must be {LOCAL}, openai or voyage, not {}", self.provider);
            Failure::invalid("embedding.provider", message)
        })
    }

    fn api_model(&self, provider: Provider) -> Result<String, Failure> {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-._:/".contains(c);
        let is_name = !self.model.is_empty()
            && self.model.len() <= MAX_NAME
            && self.model.chars().all(is_allowed);
        if is_name && self.model != Self::default().model {
            return Ok(self.model.clone());
        }
        let (name, example) = (provider.as_str(), provider.example_model());
        let message = format!("must be the name of a model of {name}, not \"{}\"", self.model);
        Err(Failure::invalid("embedding.model", message)
            .hint(format!("For example model = \"{example}\"")))
    }

    /// Refuses to send anything without the sentence that names the host.
    fn check_consent(&self, target: &ApiTarget) -> Result<(), Failure> {
        let expected = target.consent();
        if self.consent.as_deref() == Some(expected.as_str()) {
            return Ok(());
        }
        let (provider, host) = (target.provider.as_str(), &target.host);
        let message = format!(
            "is missing or names another host: with provider = \"{provider}\" texts of memories and questions go to {host}"
        );
        Err(Failure::new(Code::Invalid, message).at("embedding.consent").hint(format!(
            "If you want that, set consent = \"{expected}\"; otherwise provider = \"{LOCAL}\". Nothing was sent"
        )))
    }

    /// Checks the numbers, whichever provider is configured.
    pub(crate) fn check_api_numbers(&self) -> Result<(), Failure> {
        for (key, range, value) in [
            ("embedding.batch", BATCH, self.batch),
            ("embedding.flush_ms", FLUSH_MS, self.flush_ms),
            ("embedding.daily_tokens", DAILY_TOKENS, self.daily_tokens),
        ] {
            if !range.contains(&value) {
                return Err(out_of_range(key, &range, value));
            }
        }
        match self.price {
            Some(price) if !PRICE.contains(&price) => {
                Err(out_of_range("embedding.price", &PRICE, price))
            }
            _ => Ok(()),
        }
    }
}

fn out_of_range<T: std::fmt::Display, V: std::fmt::Display>(
    key: &str,
    range: &RangeInclusive<T>,
    value: V,
) -> Failure {
    let (min, max) = (range.start(), range.end());
    Failure::invalid(key, format!("must be from {min} to {max}, not {value}"))
}

/// Returns host and port of a URL that may be used: with TLS, or on this machine.
fn host_of(url: &str) -> Result<String, Failure> {
    let refused = |reason: &str| {
        Failure::invalid("embedding.api_url", reason)
            .hint("Use the base URL, for example https://api.openai.com/v1")
    };
    let uri: Uri = url.parse().map_err(|_| refused("must be a URL"))?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(refused("must begin with https://"));
    };
    if authority.as_str().contains('@') || uri.query().is_some() || url.contains('#') {
        return Err(refused("must have no name, password, query or fragment"));
    }
    let is_local = ["127.0.0.1", "localhost", "[::1]"].contains(&authority.host());
    match scheme {
        "https" => {}
        "http" if is_local => {}
        "http" => {
            return Err(refused("must begin with https://; http:// is for this machine only"));
        }
        _ => return Err(refused("must begin with https://")),
    }
    Ok(authority.as_str().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::embedding::api::ApiTarget;
    use std::path::Path;

    fn parse(keys: &str) -> Result<Config, String> {
        let text = format!("[embedding]\n{keys}");
        Config::from_text(&text, Path::new("/x/config.toml")).map_err(|failure| failure.to_string())
    }

    const OPENAI: &str = "provider = \"openai\"\nmodel = \"text-embedding-3-small\"\n";
    const CONSENT: &str = "consent = \"send my memories and questions to api.openai.com\"\n";

    fn target(keys: &str) -> ApiTarget {
        let config = parse(keys).expect("the configuration is valid");
        config.embedding.api_target().expect("an API is configured")
    }

    #[test]
    fn without_the_consent_for_this_very_host_the_configuration_is_refused() {
        for consent in [
            "",
            "consent = \"yes\"\n",
            "consent = \"send my memories and questions to api.voyageai.com\"\n",
        ] {
            let refusal = parse(&format!("{OPENAI}{consent}")).expect_err("is refused");
            assert!(refusal.contains("embedding.consent"), "{refusal}");
            assert!(refusal.contains("to api.openai.com\""), "{refusal}");
        }
        let openai = target(&format!("{OPENAI}{CONSENT}"));
        assert_eq!(openai.id(), "openai/text-embedding-3-small/384");
        assert_eq!(openai.url, "https://api.openai.com/v1");
        let moved = parse(&format!("{OPENAI}{CONSENT}api_url = \"https://other.example/v1\""));
        assert!(moved.expect_err("the consent is for another host").contains("to other.example"));
    }

    #[test]
    fn another_server_and_other_dimensions_are_another_model() {
        let other = "consent = \"send my memories and questions to other.example:8443\"\napi_url = \"https://Other.example:8443/v1/\"\ndimensions = 256";
        assert_eq!(
            target(&format!("{OPENAI}{other}")).id(),
            "openai/text-embedding-3-small/256@other.example:8443"
        );
        let voyage = "provider = \"voyage\"\nmodel = \"voyage-3.5-lite\"\nconsent = \"send my memories and questions to api.voyageai.com\"";
        assert_eq!(target(voyage).id(), "voyage/voyage-3.5-lite/256");
    }

    #[test]
    fn addresses_without_tls_are_on_this_machine_only() {
        for (url, reason) in [
            ("http://api.openai.com/v1", "for this machine only"),
            ("http://localhost.evil.example/v1", "for this machine only"),
            ("http://127.0.0.1.evil.example/v1", "for this machine only"),
            ("https://name:password@api.openai.com/v1", "no name, password"),
            ("https://api.openai.com/v1?key=1", "query"),
            ("ftp://api.openai.com", "must begin with https://"),
            ("api.openai.com", "must begin with https://"),
            ("https://", "embedding.api_url must"),
        ] {
            let refusal = parse(&format!("{OPENAI}{CONSENT}api_url = \"{url}\""));
            let refusal = refusal.expect_err("the address is refused");
            assert!(refusal.contains("embedding.api_url") && refusal.contains(reason), "{refusal}");
        }
        let local = "consent = \"send my memories and questions to 127.0.0.1:8080\"\napi_url = \"http://127.0.0.1:8080/v1\"";
        assert_eq!(target(&format!("{OPENAI}{local}")).host, "127.0.0.1:8080");
    }

    #[test]
    fn values_of_an_api_are_checked() {
        for (keys, reason) in [
            ("provider = \"cohere\"", "embedding.provider must be local, openai or voyage"),
            ("provider = \"openai\"", "embedding.model must be the name of a model of openai"),
            ("provider = \"openai\"\nmodel = \"a b\"", "embedding.model must be"),
            ("batch = 0", "embedding.batch must be from 1 to 128, not 0"),
            ("flush_ms = -1", "embedding.flush_ms must be from 0 to 10000, not -1"),
            ("daily_tokens = 10", "embedding.daily_tokens must be from 1000"),
            ("price = -1.0", "embedding.price must be from 0 to 1000, not -1"),
        ] {
            let refusal = parse(keys).expect_err("the value is refused");
            assert!(refusal.contains(reason), "{refusal}");
        }
        let wide = parse(&format!("{OPENAI}{CONSENT}dimensions = 1536")).expect_err("is refused");
        assert!(wide.contains("embedding.dimensions must be from 64 to 384, not 1536"), "{wide}");
    }
}
