//! The shapes of tokens as their issuers publish them: a word that any match contains, and the
//! pattern. The group `s` is the secret, else the whole match.
//!
//! Test keys (`sk_test_…`), public keys and ids are not in the table. Not here: what a match must
//! pass besides (`secrets`).

/// What a match has to pass besides the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Random enough for a token.
    Random,
    /// Random, with a digit.
    RandomDigit,
    /// 40 characters of three classes.
    AwsSecret,
    /// The header is JSON with `alg`.
    Jwt,
    /// Base64 of `name:password`.
    Basic,
    /// A password in a URL.
    Url,
}

/// One rule.
pub(crate) struct Rule {
    pub kind: &'static str,
    /// Lower case; one of them is in every match.
    pub keywords: &'static [&'static str],
    pub pattern: &'static str,
    pub check: Check,
}

const fn token(
    kind: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule { kind, keywords, pattern, check: Check::Random }
}

const fn checked(
    kind: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
    check: Check,
) -> Rule {
    Rule { kind, keywords, pattern, check }
}

/// Every rule. Patterns are in ASCII mode: `\b` and `\w` mean ASCII.
pub const RULES: &[Rule] = &[
    token(
        "aws-access-key-id",
        &["akia", "asia", "abia", "acca"],
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    ),
    checked(
        "aws-secret-access-key",
        &["aws", "secret", "akia", "asia"],
        r#"(?i:aws|secret|AKIA|ASIA)[^\n]{0,80}?["'`=:\s,](?P<s>[A-Za-z0-9/+]{40})(?:["'`\s,;.)]|$)"#,
        Check::AwsSecret,
    ),
    token(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"\bgh[pousr]_[A-Za-z0-9]{30,255}\b",
    ),
    token("github-token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{36,255}\b"),
    token(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-",
            "glsoat-", "gloas-",
        ],
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas)-[A-Za-z0-9_-]{20,}(?:\.[A-Za-z0-9]{2}\.[A-Za-z0-9]{9})?",
    ),
    token("slack-token", &["xox"], r"\bxox[abposre](?:\.xox[bp])?-[A-Za-z0-9-]{15,}"),
    token("slack-token", &["xapp-"], r"\bxapp-\d-[A-Za-z0-9]+-\d+-[A-Za-z0-9]{20,}"),
    token(
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9]+/[A-Za-z0-9]+/[A-Za-z0-9]{16,})",
    ),
    token(
        "discord-webhook",
        &["/api/webhooks/"],
        r"discord(?:app)?\.com/api/webhooks/\d{15,}/(?P<s>[A-Za-z0-9_-]{50,})",
    ),
    token("stripe-key", &["sk_live_", "rk_live_"], r"\b[sr]k_live_[A-Za-z0-9]{16,}"),
    token("webhook-secret", &["whsec_"], r"\bwhsec_[A-Za-z0-9+/]{24,}={0,2}"),
    token("anthropic-key", &["sk-ant-"], r"\bsk-ant-[a-z]{3,8}\d\d-[A-Za-z0-9_-]{20,}"),
    token(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-"],
        r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}",
    ),
    token("openrouter-key", &["sk-or-v1-"], r"\bsk-or-v1-[a-f0-9]{32,}"),
    checked("openai-key", &["sk-"], r"\bsk-[A-Za-z0-9]{32,}\b", Check::RandomDigit),
    token("hugging-face-token", &["hf_", "api_org_"], r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}\b"),
    token("npm-token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    token("pypi-token", &["pypi-"], r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
    token("sendgrid-key", &["sg."], r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
    checked("twilio-key", &["sk"], r"\bSK[0-9a-f]{32}\b", Check::RandomDigit),
    checked("telegram-token", &[":"], r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b", Check::RandomDigit),
    checked(
        "discord-token",
        &["."],
        r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        Check::RandomDigit,
    ),
    token("google-key", &["aiza"], r"\bAIza[A-Za-z0-9_-]{35}"),
    token("google-oauth-secret", &["gocspx-"], r"\bGOCSPX-[A-Za-z0-9_-]{24,}"),
    token("google-oauth-token", &["ya29."], r"\bya29\.[A-Za-z0-9_-]{20,}"),
    token("google-oauth-token", &["1//0"], r"\b1//0[A-Za-z0-9_-]{30,}"),
    token(
        "azure-account-key",
        &["accountkey", "sharedaccesskey"],
        r"(?i:AccountKey|SharedAccessKey)\s*[=:]\s*(?P<s>[A-Za-z0-9+/]{40,}={0,2})",
    ),
    token("azure-client-secret", &["q~"], r"\b[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    token("azure-sas", &["sig="], r"[?&]sig=(?P<s>[A-Za-z0-9%+/]{40,}=?)"),
    checked(
        "jwt",
        &["eyj"],
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]+){0,2}",
        Check::Jwt,
    ),
    token("age-key", &["age-secret-key-1"], r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    checked(
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/?#@"'<>`]*:(?P<s>[^\s/"'<>`]{1,200})@[^\s/@"'<>`]"#,
        Check::Url,
    ),
    checked(
        "bearer-token",
        &["bearer"],
        r"(?i:\bbearer)[ \t:]+(?P<s>[A-Za-z0-9._~+/=-]{16,})",
        Check::RandomDigit,
    ),
    checked(
        "basic-credentials",
        &["basic"],
        r"(?i:\bbasic)[ \t]+(?P<s>[A-Za-z0-9+/]{8,}={0,2})",
        Check::Basic,
    ),
    token("digitalocean-token", &["_v1_"], r"\bdo[opr]_v1_[a-f0-9]{32,}\b"),
    token(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_"],
        r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b",
    ),
    token("databricks-token", &["dapi"], r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    token("linear-key", &["lin_api_", "lin_oauth_"], r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    token("notion-token", &["ntn_"], r"\bntn_[A-Za-z0-9]{40,}"),
    token("notion-token", &["secret_"], r"\bsecret_[A-Za-z0-9]{43}\b"),
    token("mailgun-key", &["key-"], r"\bkey-[a-f0-9]{32}\b"),
    token("mailchimp-key", &["-us"], r"\b[a-f0-9]{32}-us\d{1,2}\b"),
    token("brevo-key", &["xkeysib-"], r"\bxkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    token("vault-token", &["hvs.", "hvb.", "hvr."], r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}"),
    token("terraform-token", &[".atlasv1."], r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}"),
    token("docker-token", &["dckr_"], r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    token(
        "grafana-token",
        &["glsa_", "glc_"],
        r"\b(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2})",
    ),
    token("new-relic-key", &["nrak-"], r"\bNRAK-[A-Z0-9]{27}\b"),
    token(
        "doppler-token",
        &["dp."],
        r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}\b",
    ),
    token("postman-key", &["pmak-"], r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    token("square-token", &["sq0"], r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,43}"),
    token("square-token", &["eaaa"], r"\bEAAA[A-Za-z0-9_-]{60}\b"),
    token("facebook-token", &["eaa"], r"\bEAA[A-Za-z0-9]{90,}"),
    token("atlassian-token", &["atatt3", "atctt3"], r"\bAT[AC]TT3[A-Za-z0-9_=-]{50,}"),
    token("airtable-token", &["pat"], r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b"),
    token("figma-token", &["figd_", "figo_"], r"\bfig[do]_[A-Za-z0-9_-]{30,}"),
    token(
        "supabase-key",
        &["sbp_", "sb_secret_"],
        r"\b(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})",
    ),
    token("netlify-token", &["nfp_"], r"\bnfp_[A-Za-z0-9]{30,}"),
    token("planetscale-token", &["pscale_"], r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}"),
    token("sentry-token", &["sntrys_", "sntryu_"], r"\bsntry[su]_[A-Za-z0-9+/=_-]{40,}"),
    token("dropbox-token", &["sl."], r"\bsl\.(?:u\.)?[A-Za-z0-9_-]{100,}"),
    token("groq-key", &["gsk_"], r"\bgsk_[A-Za-z0-9]{40,}"),
    token("xai-key", &["xai-"], r"\bxai-[A-Za-z0-9]{60,}"),
    token("perplexity-key", &["pplx-"], r"\bpplx-[A-Za-z0-9]{40,}"),
    token("replicate-token", &["r8_"], r"\br8_[A-Za-z0-9]{37,40}\b"),
    token("rubygems-key", &["rubygems_"], r"\brubygems_[a-f0-9]{48}\b"),
    token("crates-io-token", &["cio"], r"\bcio[A-Za-z0-9]{32}\b"),
    token(
        "fly-token",
        &["flyv1 ", "fo1_"],
        r"\b(?:FlyV1 fm\d[a-z]?_[A-Za-z0-9+/=,_-]{40,}|fo1_[A-Za-z0-9_-]{40,})",
    ),
    token("tailscale-key", &["tskey-"], r"\btskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}"),
    token("onepassword-token", &["ops_eyj"], r"\bops_eyJ[A-Za-z0-9_-]{60,}"),
    token("pulumi-token", &["pul-"], r"\bpul-[a-f0-9]{40}\b"),
    token("heroku-key", &["hrku-"], r"\bHRKU-[A-Za-z0-9_-]{30,}"),
    token("circleci-token", &["ccipat_"], r"\bCCIPAT_[A-Za-z0-9]{20,}_[a-f0-9]{40}"),
    token("buildkite-token", &["bkua_"], r"\bbkua_[a-z0-9]{40}\b"),
    token("contentful-token", &["cfpat-"], r"\bCFPAT-[A-Za-z0-9_-]{40,}"),
    token("langsmith-key", &["lsv2_"], r"\blsv2_[ps][tk]_[a-f0-9]{32}_[a-f0-9]{10}\b"),
    token("vercel-token", &["vercel_blob_rw_"], r"\bvercel_blob_rw_[A-Za-z0-9]+_[A-Za-z0-9]{20,}"),
    token("elevenlabs-key", &["sk_"], r"\bsk_[a-f0-9]{48}\b"),
    token("cloudflare-key", &["v1.0-"], r"\bv1\.0-[a-f0-9]{24}-[a-f0-9]{100,}"),
    token("twitter-token", &["aaaaaaaaaaaaaaaaaaaa"], r"\bA{20,}[A-Za-z0-9%]{30,}"),
];
