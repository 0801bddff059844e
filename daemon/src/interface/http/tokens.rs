//! The tokens in force: which one a request has, and how many requests each may send.
//!
//! The file is read again when it has changed, so that a removed token is refused from the next request on. Not here: its format
//! (`token_file`).

use crate::interface::http::token_file::{self, FIRST_TOKEN, FileStamp, StoredToken};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::http::{TokenEntry, TokensReply};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use subtle::{Choice, ConstantTimeEq};

/// Requests per second that one token may send in the long run.
const REQUESTS_PER_SECOND: NonZeroU32 = NonZeroU32::new(100).expect("not zero");
/// Requests that one token may send at once.
const BURST: NonZeroU32 = NonZeroU32::new(200).expect("not zero");

/// A token in force.
pub struct Token {
    /// Its name.
    pub name: Arc<str>,
    /// The only project that it may use.
    pub project: Option<GroupName>,
    secret: String,
    limiter: DefaultDirectRateLimiter,
}

impl Token {
    fn new(stored: StoredToken) -> Self {
        Self {
            name: stored.name.into(),
            project: stored.project,
            secret: stored.secret,
            limiter: RateLimiter::direct(Quota::per_second(REQUESTS_PER_SECOND).allow_burst(BURST)),
        }
    }

    /// Counts a request.
    ///
    /// # Errors
    /// The seconds until the next request, if there were too many.
    pub fn count_request(&self) -> Result<(), u64> {
        self.limiter.check().map_err(|wait| {
            let wait = wait.wait_time_from(DefaultClock::default().now());
            wait.as_secs() + 1
        })
    }

    fn is(&self, stored: &StoredToken) -> bool {
        *self.name == *stored.name && self.secret == stored.secret && self.project == stored.project
    }
}

/// The tokens of the file.
pub struct Tokens {
    path: PathBuf,
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    stamp: Option<FileStamp>,
    tokens: Vec<Arc<Token>>,
}

impl Tokens {
    /// Returns the tokens of a data folder. Nothing is read yet.
    #[must_use]
    pub fn in_folder(home: &Path) -> Self {
        Self { path: home.join(token_file::FILE_NAME), loaded: Mutex::default() }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the file with one token if there is none. Returns the name of the first token.
    ///
    /// # Errors
    /// The fault of the file; `storage_failed`.
    pub fn ensure(&self) -> Result<String, Failure> {
        let _guard = self.lock();
        let Some(tokens) = token_file::read(&self.path)? else {
            let first = StoredToken::generate(FIRST_TOKEN, None)?;
            token_file::write(&self.path, vec![first])?;
            return Ok(FIRST_TOKEN.to_owned());
        };
        tokens.into_iter().next().map(|token| token.name).ok_or_else(|| {
            Failure::new(Code::Invalid, format!("{} has no token", self.path.display()))
                .hint(format!("Run: loci serve token add {FIRST_TOKEN}"))
        })
    }

    /// Returns the token with this secret; `None` if there is none. Takes the same time wherever a wrong secret differs.
    ///
    /// # Errors
    /// The fault of the file.
    pub fn find(&self, presented: &[u8]) -> Result<Option<Arc<Token>>, Failure> {
        let mut loaded = self.lock();
        self.refresh(&mut loaded)?;
        let mut found = None;
        for token in &loaded.tokens {
            let is_equal: Choice = token.secret.as_bytes().ct_eq(presented);
            if is_equal.into() {
                found = Some(Arc::clone(token));
            }
        }
        Ok(found)
    }

    /// Returns all tokens without their secrets.
    ///
    /// # Errors
    /// The fault of the file.
    pub fn list(&self) -> Result<TokensReply, Failure> {
        let tokens = token_file::read(&self.path)?.unwrap_or_default();
        Ok(self.reply(tokens.into_iter().map(|token| entry(token, false)).collect()))
    }

    /// Adds a token; the reply has its secret.
    ///
    /// # Errors
    /// `conflict` if the name is taken; `invalid`; the fault of the file; `storage_failed`.
    pub fn add(&self, name: &str, project: Option<GroupName>) -> Result<TokensReply, Failure> {
        let _guard = self.lock();
        let mut tokens = token_file::read(&self.path)?.unwrap_or_default();
        if tokens.iter().any(|token| token.name == name) {
            return Err(Failure::new(Code::Conflict, format!("there is a token {name} already"))
                .hint(format!("Choose another name, or run: loci serve token remove {name}")));
        }
        let added = StoredToken::generate(name, project)?;
        tokens.push(added.clone());
        token_file::write(&self.path, tokens)?;
        Ok(self.reply(vec![entry(added, true)]))
    }

    /// Returns one token with its secret.
    ///
    /// # Errors
    /// `not_found`; the fault of the file.
    pub fn show(&self, name: &str) -> Result<TokensReply, Failure> {
        let tokens = token_file::read(&self.path)?.unwrap_or_default();
        let token = tokens.into_iter().find(|token| token.name == name);
        token.map(|token| self.reply(vec![entry(token, true)])).ok_or_else(|| not_found(name))
    }

    /// Removes a token.
    ///
    /// # Errors
    /// `not_found`; the fault of the file; `storage_failed`.
    pub fn remove(&self, name: &str) -> Result<TokensReply, Failure> {
        let _guard = self.lock();
        let mut tokens = token_file::read(&self.path)?.unwrap_or_default();
        let at = tokens.iter().position(|token| token.name == name);
        let removed = tokens.remove(at.ok_or_else(|| not_found(name))?);
        token_file::write(&self.path, tokens)?;
        Ok(self.reply(vec![entry(removed, false)]))
    }

    fn refresh(&self, loaded: &mut Loaded) -> Result<(), Failure> {
        let stamp = token_file::stamp(&self.path);
        if stamp.is_some() && stamp == loaded.stamp {
            return Ok(());
        }
        let known = std::mem::take(loaded);
        let stored = token_file::read(&self.path)?.unwrap_or_default();
        let tokens = stored.into_iter().map(|stored| {
            // A token that has not changed keeps its count.
            let same = known.tokens.iter().find(|token| token.is(&stored));
            same.map_or_else(|| Arc::new(Token::new(stored)), Arc::clone)
        });
        *loaded = Loaded { stamp, tokens: tokens.collect() };
        Ok(())
    }

    fn reply(&self, tokens: Vec<TokenEntry>) -> TokensReply {
        TokensReply { file: self.path.clone(), tokens }
    }

    fn lock(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn entry(token: StoredToken, with_secret: bool) -> TokenEntry {
    TokenEntry {
        name: token.name,
        project: token.project,
        secret: with_secret.then_some(token.secret),
    }
}

fn not_found(name: &str) -> Failure {
    Failure::new(Code::NotFound, format!("there is no token {name}"))
        .hint("loci serve token list names the tokens")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(reply: &TokensReply) -> Vec<u8> {
        reply.tokens[0].secret.clone().expect("the secret is shown").into_bytes()
    }

    #[test]
    fn a_token_is_found_until_it_is_removed() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let tokens = Tokens::in_folder(folder.path());
        assert_eq!(tokens.ensure(), Ok(FIRST_TOKEN.to_owned()));
        assert_eq!(tokens.ensure(), Ok(FIRST_TOKEN.to_owned()), "it is made once");
        let first = secret(&tokens.show(FIRST_TOKEN).expect("it is shown"));
        let phone = secret(&tokens.add("phone", None).expect("it is added"));
        let name = |secret: &[u8]| {
            tokens.find(secret).expect("the file is valid").map(|token| token.name.to_string())
        };
        assert_eq!(name(&first).as_deref(), Some("default"));
        assert_eq!(name(&phone).as_deref(), Some("phone"));
        assert_eq!(
            (name(b""), name(&phone[1..]), name(&[&phone[..], b"0"].concat())),
            (None, None, None)
        );
        assert_eq!(tokens.add("phone", None).map_err(|f| f.code).err(), Some(Code::Conflict));
        tokens.remove("phone").expect("it is removed");
        assert_eq!((name(&phone), name(&first).is_some()), (None, true));
        assert_eq!(tokens.remove("phone").map_err(|f| f.code).err(), Some(Code::NotFound));
        assert_eq!(tokens.list().expect("they are listed").tokens.len(), 1);
    }

    #[test]
    fn a_token_may_send_a_burst_and_then_waits() {
        let token = Token::new(StoredToken::generate("a", None).expect("it is made"));
        let mut answers = (0..100 * BURST.get()).map(|_| token.count_request());
        let sent = answers.by_ref().take_while(Result::is_ok).count();
        assert!(sent >= BURST.get() as usize, "{sent}");
        assert!(answers.any(|answer| answer == Err(1)), "it waits a second at most");
    }
}
