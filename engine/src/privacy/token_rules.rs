//! The shapes of tokens and keys, from the formats that their vendors publish.
//!
//! Each rule has a literal that must occur before its pattern is tried. Not here: assignments and
//! sentences (`passwords`), card numbers (`card`), what is done with a finding (`policy`).

use crate::privacy::checks::{has_digit_and_letter, is_placeholder};
use base64_simd::URL_SAFE_NO_PAD;
use regex::Regex;
use std::sync::LazyLock;

/// A further condition on the matched text.
#[derive(Clone, Copy)]
pub(crate) enum Condition {
    /// At least so many bits per character, in tenths.
    Entropy(u8),
    /// As `Entropy(30)`, and it has a digit and a letter.
    Mixed,
    /// The first part is the JSON header of a web token.
    WebToken,
    /// The body between the lines has at least 40 characters of base64.
    KeyBody,
    /// Base64 of `user:password`.
    BasicCredentials,
}

/// One shape.
pub(crate) struct Rule {
    pub kind: &'static str,
    /// Any of these must occur, or the pattern is not tried.
    pub literals: &'static [&'static str],
    pub pattern: &'static str,
    pub condition: Condition,
}

const fn rule(
    kind: &'static str,
    literals: &'static [&'static str],
    pattern: &'static str,
    condition: Condition,
) -> Rule {
    Rule { kind, literals, pattern, condition }
}

use Condition::{BasicCredentials, Entropy, KeyBody, Mixed, WebToken};

/// All shapes. Group 1 is the secret, or the whole match if there is no group.
pub(crate) const RULES: &[Rule] = &[
    rule("private-key", &["PRIVATE KEY"], r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)", KeyBody),
    rule("private-key", &["PuTTY-User-Key-File"], r"PuTTY-User-Key-File-\d(?s:.*?)(?:Private-MAC: ?[0-9a-f]+|\z)", KeyBody),
    rule("age-key", &["AGE-SECRET-KEY-"], r"AGE-SECRET-KEY-1[0-9A-Z]{50,}", Entropy(30)),
    rule("jwt", &["eyJ", "ewog"], r"(?:eyJ|ewog)[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{10,}){1,3}", WebToken),
    rule("aws-access-key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", Entropy(28)),
    rule("aws-secret-key", &["aws", "AWS", "Aws"], r#"(?i:aws)[^\n]{0,60}?(?i:secret|key)[^\n]{0,30}?[\s"'`=:]([A-Za-z0-9/+]{40})"#, Mixed),
    rule("google-api-key", &["AIza"], r"AIza[0-9A-Za-z_-]{35}", Entropy(30)),
    rule("google-oauth", &["GOCSPX-"], r"GOCSPX-[A-Za-z0-9_-]{28}", Entropy(30)),
    rule("google-oauth", &["ya29."], r"ya29\.[A-Za-z0-9_-]{30,}", Entropy(30)),
    rule("github-token", &["gh"], r"gh[pousr]_[A-Za-z0-9]{36,255}", Entropy(30)),
    rule("github-token", &["github_pat_"], r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{50,}", Entropy(30)),
    rule("gitlab-token", &["gl"], r"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|oas)-[A-Za-z0-9_-]{20,}(?:\.[0-9a-z]{2,}\.[0-9a-z]{7,})?", Entropy(30)),
    rule("gitlab-token", &["GR1348941"], r"GR1348941[A-Za-z0-9_-]{20}", Entropy(30)),
    rule("slack-token", &["xox"], r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{16,}", Mixed),
    rule("slack-token", &["xapp-"], r"xapp-\d-[A-Z0-9]{6,}-\d{6,}-[a-f0-9]{16,}", Entropy(30)),
    rule("slack-webhook", &["hooks.slack.com/"], r"hooks\.slack\.com/(?:services|workflows|triggers)/(T[A-Za-z0-9]{6,}/[A-Za-z0-9]{6,}/[A-Za-z0-9]{16,}(?:/[A-Za-z0-9]{16,})?)", Entropy(30)),
    rule("discord-webhook", &["/api/webhooks/"], r"discord(?:app)?\.com/api/webhooks/(\d{15,}/[A-Za-z0-9_-]{50,})", Entropy(30)),
    rule("discord-token", &["."], r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}", Mixed),
    rule("stripe-key", &["_live_", "_prod_"], r"(?:sk|rk)_(?:live|prod)_[A-Za-z0-9]{16,}", Entropy(30)),
    rule("stripe-key", &["whsec_"], r"whsec_[A-Za-z0-9+/]{24,}={0,2}", Entropy(30)),
    rule("anthropic-key", &["sk-ant-"], r"sk-ant-[a-z]+\d\d-[A-Za-z0-9_-]{20,}", Entropy(30)),
    rule("openai-key", &["sk-"], r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}", Mixed),
    rule("openai-key", &["sk-"], r"sk-(?:or-v1-|lf-)?[A-Za-z0-9]{24,}", Mixed),
    rule("huggingface-token", &["hf_", "api_org_"], r"(?:hf|api_org)_[A-Za-z0-9]{30,40}", Entropy(35)),
    rule("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36}", Entropy(30)),
    rule("pypi-token", &["pypi-"], r"pypi-AgE[A-Za-z0-9_-]{40,}", Entropy(30)),
    rule("sendgrid-key", &["SG."], r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}", Entropy(30)),
    rule("twilio-key", &["SK"], r"SK[0-9a-f]{32}", Entropy(28)),
    rule("telegram-token", &[":AA"], r"\d{8,10}:AA[A-Za-z0-9_-]{32,34}", Entropy(30)),
    rule("digitalocean-token", &["_v1_"], r"do[opr]_v1_[a-f0-9]{64}", Entropy(28)),
    rule("shopify-token", &["shp"], r"shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32,}", Entropy(28)),
    rule("square-token", &["sq0", "EAAA"], r"(?:sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}|EAAA[A-Za-z0-9_-]{56,})", Mixed),
    rule("databricks-token", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?", Entropy(28)),
    rule("doppler-token", &["dp."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}", Entropy(30)),
    rule("linear-key", &["lin_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}", Entropy(30)),
    rule("notion-token", &["secret_", "ntn_"], r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})", Mixed),
    rule("figma-token", &["fig"], r"fig[dour]_[A-Za-z0-9_-]{36,}", Entropy(30)),
    rule("postman-key", &["PMAK-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}", Entropy(28)),
    rule("newrelic-key", &["NRAK-"], r"NRAK-[A-Z0-9]{27}", Entropy(28)),
    rule("grafana-token", &["glsa_", "glc_"], r"(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})", Entropy(30)),
    rule("vault-token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}", Entropy(30)),
    rule("terraform-token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}", Entropy(30)),
    rule("pulumi-token", &["pul-"], r"pul-[a-f0-9]{40}", Entropy(28)),
    rule("rubygems-key", &["rubygems_"], r"rubygems_[a-f0-9]{48}", Entropy(28)),
    rule("docker-token", &["dckr_"], r"dckr_[op]at_[A-Za-z0-9_-]{20,}", Entropy(30)),
    rule("mailgun-key", &["key-"], r"key-[0-9a-f]{32}", Entropy(28)),
    rule("mailchimp-key", &["-us"], r"[0-9a-f]{32}-us\d{1,2}", Entropy(28)),
    rule("sendinblue-key", &["xkeysib-"], r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", Entropy(28)),
    rule("atlassian-token", &["ATATT3", "ATCTT3", "ATBB"], r"(?:AT[AC]TT3[A-Za-z0-9_=-]{60,}|ATBB[A-Za-z0-9]{28,})", Entropy(30)),
    rule("azure-key", &["Key=", "key="], r"(?i:account|access)key=([A-Za-z0-9+/]{42,86}={1,2})", Entropy(30)),
    rule("azure-client-secret", &["Q~"], r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}", Entropy(30)),
    rule("azure-sas", &["sig="], r"[?&;]sig=([A-Za-z0-9%/+]{43,}(?:%3[dD]|=)?)", Entropy(30)),
    rule("supabase-key", &["sbp_", "sb_secret_"], r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})", Entropy(28)),
    rule("planetscale-token", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}", Entropy(30)),
    rule("groq-key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}", Entropy(30)),
    rule("replicate-token", &["r8_"], r"r8_[A-Za-z0-9]{37}", Entropy(30)),
    rule("perplexity-key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}", Entropy(30)),
    rule("xai-key", &["xai-"], r"xai-[A-Za-z0-9]{60,}", Entropy(30)),
    rule("sentry-token", &["sntry"], r"sntry(?:s_[A-Za-z0-9+/=_-]{60,}|u_[a-f0-9]{64})", Entropy(28)),
    rule("cratesio-token", &["cio"], r"cio[A-Za-z0-9]{32}", Mixed),
    rule("airtable-token", &["pat"], r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", Entropy(30)),
    rule("hubspot-token", &["pat-"], r"pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", Entropy(28)),
    rule("dropbox-token", &["sl."], r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,}", Entropy(30)),
    rule("heroku-key", &["HRKU-"], r"HRKU-[A-Za-z0-9_-]{36,}", Entropy(30)),
    rule("contentful-token", &["CFPAT-"], r"CFPAT-[A-Za-z0-9_-]{40,}", Entropy(30)),
    rule("tailscale-key", &["tskey-"], r"tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}", Entropy(30)),
    rule("buildkite-token", &["bku"], r"bkua_[a-f0-9]{40}", Entropy(28)),
    rule("netlify-token", &["nfp_"], r"nf[pcu]_[A-Za-z0-9]{36,}", Entropy(30)),
    rule("cloudflare-key", &["v1.0-"], r"v1\.0-[a-f0-9]{24}-[a-f0-9]{100,}", Entropy(28)),
    rule("onepassword-token", &["ops_eyJ"], r"ops_eyJ[A-Za-z0-9+/]{100,}={0,3}", Entropy(30)),
    rule("meta-token", &["EAA"], r"EAA[A-Za-z0-9]{90,}", Mixed),
    rule("fly-token", &["fm1r_", "fm2_", "fo1_"], r"(?:fm1r_|fm2_|fo1_)[A-Za-z0-9+/=_-]{40,}", Entropy(30)),
    rule("asana-token", &["/"], r"\b[12]/\d{13,17}(?:/\d{13,17})?:[a-f0-9]{32}", Entropy(28)),
    rule("sourcegraph-token", &["sgp_"], r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}", Entropy(28)),
    rule("easypost-key", &["EZAK"], r"EZAK[A-Za-z0-9]{54}", Entropy(30)),
    rule("basic-credentials", &["asic "], r"\b[Bb]asic ([A-Za-z0-9+/]{8,}={0,2})", BasicCredentials),
    rule("bearer-token", &["earer "], r#"\b[Bb]earer[ :"'`]{1,3}([A-Za-z0-9_.~+/=-]{16,})"#, Mixed),
];

/// The compiled patterns, in the order of [`RULES`].
pub(crate) static PATTERNS: LazyLock<Vec<LazyLock<Regex, Box<dyn FnOnce() -> Regex + Send + Sync>>>> =
    LazyLock::new(|| RULES.iter().map(|rule| lazy(rule.pattern)).collect());

fn lazy(pattern: &'static str) -> LazyLock<Regex, Box<dyn FnOnce() -> Regex + Send + Sync>> {
    LazyLock::new(Box::new(move || compile(pattern)))
}

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("compiles")
}

/// Returns true if the value is a secret of this shape, not a placeholder.
pub(crate) fn holds(condition: Condition, value: &str) -> bool {
    use crate::privacy::checks::entropy;
    match condition {
        Entropy(tenths) => !is_placeholder(value) && entropy(value) * 10.0 >= f64::from(tenths),
        Mixed => !is_placeholder(value) && has_digit_and_letter(value) && entropy(value) >= 3.0,
        WebToken => is_web_token(value),
        KeyBody => {
            let body: Vec<&str> = value.lines().filter(|line| !line.contains("-----")).collect();
            let body = if body.is_empty() { value.to_owned() } else { body.concat() };
            let longest = body.split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c)));
            let length: usize = longest.map(str::len).filter(|length| *length >= 16).sum();
            length >= 40 && entropy(&body) >= 3.0
        }
        BasicCredentials => base64_simd::STANDARD
            .decode_to_vec(value)
            .or_else(|_| base64_simd::STANDARD_NO_PAD.decode_to_vec(value))
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .and_then(|text| text.split_once(':').map(|(_, password)| password.to_owned()))
            .is_some_and(|password| {
                password.len() >= 4
                    && !password.chars().any(char::is_control)
                    && !is_placeholder(&password)
                    && !["password", "pass", "open sesame"].contains(&password.as_str())
            }),
    }
}

/// Returns true for a signed token whose header names an algorithm, unless it is the one of the
/// documentation of web tokens.
fn is_web_token(value: &str) -> bool {
    let part = |index: usize| {
        let bytes = URL_SAFE_NO_PAD.decode_to_vec(value.split('.').nth(index)?).ok()?;
        String::from_utf8(bytes).ok()
    };
    let Some(header) = part(0) else { return false };
    let is_header = header.trim_start().starts_with('{') && header.contains("\"alg\"");
    let is_example = part(1)
        .is_some_and(|claims| claims.contains("\"1234567890\"") && claims.contains("John Doe"));
    is_header && !is_example && !value.contains("xxxx")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_every_rule_has_a_literal() {
        assert_eq!(PATTERNS.iter().map(|pattern| pattern.as_str()).count(), RULES.len());
        assert!(RULES.iter().all(|rule| !rule.literals.is_empty()));
        let kinds: std::collections::BTreeSet<&str> = RULES.iter().map(|rule| rule.kind).collect();
        assert!(kinds.len() >= 40, "{}", kinds.len());
    }
}
