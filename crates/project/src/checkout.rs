//! Reads which branch and commit are checked out, from a few small files and without running git.
//!
//! The files are not trusted: a `HEAD` leads to files below `refs` only, and nothing but names of branches and hexadecimal ids is taken
//! from them.

use crate::project_file::read_small;
use loci_proto::hello::Checkout;
use loci_proto::sanitize;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Maximum characters of a branch.
const MAX_BRANCH_CHARS: usize = 200;
/// Maximum bytes of `packed-refs` that are searched.
const MAX_PACKED_BYTES: u64 = 1 << 20;
/// Maximum bytes of the line of a reflog.
const MAX_REFLOG_BYTES: u64 = 4096;
/// Where a clone records the default branch of its origin.
const ORIGIN_HEAD: &str = "refs/remotes/origin/HEAD";
/// The prefix of a branch of the origin.
const ORIGIN: &str = "refs/remotes/origin/";
/// The file of the refs that have none of their own.
const PACKED_REFS: &str = "packed-refs";
/// The prefix of a branch.
const HEADS: &str = "refs/heads/";

/// The files of a checkout at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutStamp {
    path: PathBuf,
    head: Option<FileStamp>,
    ref_file: Option<PathBuf>,
    reference: Option<FileStamp>,
    packed: Option<FileStamp>,
}

/// Inode, size and time of change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileStamp([i64; 4]);

impl FileStamp {
    fn of(path: &Path) -> Option<Self> {
        let file = path.metadata().ok()?;
        let (inode, size) = (file.ino().cast_signed(), file.size().cast_signed());
        Some(Self([inode, size, file.mtime(), file.mtime_nsec()]))
    }
}

/// Reads the checkout of one working tree, as often as it is needed: another branch may be checked out during a session.
#[derive(Debug, Clone)]
pub struct CheckoutReader {
    /// The directory with `HEAD`.
    head_dir: PathBuf,
    /// The directory with the refs, which all worktrees share.
    common: PathBuf,
    /// The top folder of the working tree; `None` if its path is not UTF-8.
    top: Option<String>,
    default_branch: Option<String>,
}

impl CheckoutReader {
    /// Creates the reader of a working tree.
    #[must_use]
    pub fn new(head_dir: PathBuf, common: PathBuf, top: &Path) -> Self {
        let default_branch = symbolic_ref(&common.join(ORIGIN_HEAD))
            .and_then(|name| branch_name(name.strip_prefix(ORIGIN)?));
        Self { head_dir, common, top: top.to_str().map(str::to_owned), default_branch }
    }

    /// Returns what is checked out now.
    #[must_use]
    pub fn read(&self) -> Checkout {
        self.read_with_stamp().0
    }

    /// Returns what is checked out now, and the files from before they were read.
    #[must_use]
    pub fn read_with_stamp(&self) -> (Checkout, CheckoutStamp) {
        let path = self.head_dir.join("HEAD");
        let head = FileStamp::of(&path);
        let name = symbolic_ref(&path);
        let ref_file = name.as_deref().map(|name| self.common.join(name));
        let reference = ref_file.as_deref().and_then(FileStamp::of);
        let packed = FileStamp::of(&self.common.join(PACKED_REFS));
        let checkout = Checkout {
            branch: name.as_deref().and_then(|name| branch_name(name.strip_prefix(HEADS)?)),
            commit: match &name {
                Some(name) => self.commit_of(name),
                None => read_small(&path).ok().and_then(|text| object_id(&text)),
            },
            default_branch: self.default_branch.clone(),
            top: self.top.clone(),
        };
        (checkout, CheckoutStamp { path, head, ref_file, reference, packed })
    }

    /// Returns whether the files are as they were: git never writes into a file, but replaces it.
    #[must_use]
    pub fn is_as(&self, stamp: &CheckoutStamp) -> bool {
        let CheckoutStamp { path, head, ref_file, reference, packed } = stamp;
        head.is_some()
            && FileStamp::of(path) == *head
            && ref_file.as_deref().and_then(FileStamp::of) == *reference
            // Only without a file of its own is the ref a line of the packed ones.
            && (reference.is_some() || FileStamp::of(&self.common.join(PACKED_REFS)) == *packed)
    }

    /// Returns the commit of a ref: from its own file, else from `packed-refs`.
    fn commit_of(&self, name: &str) -> Option<String> {
        let loose = read_small(&self.common.join(name)).ok().and_then(|text| object_id(&text));
        loose.or_else(|| {
            let file = self.common.join(PACKED_REFS);
            let packed = file.is_file().then(|| File::open(file).ok())??;
            let lines = BufReader::new(packed.take(MAX_PACKED_BYTES)).lines();
            lines.map_while(Result::ok).find_map(|line| {
                let (id, packed) = line.split_once(' ')?;
                (packed == name).then(|| object_id(id))?
            })
        })
    }
}

/// Returns a hash of the first line of the reflog of `HEAD`: who created or cloned the repository, and when. A copy has the same.
#[must_use]
pub fn trace(common: &Path) -> Option<String> {
    let file = common.join("logs/HEAD");
    let log = file.is_file().then(|| File::open(file).ok())??;
    let mut line = Vec::new();
    BufReader::new(log.take(MAX_REFLOG_BYTES)).read_until(b'\n', &mut line).ok()?;
    line.ends_with(b"\n").then(|| loci_proto::group::trace_of(&line))
}

/// Returns the ref that a file names; `None` if it names no ref below `refs`.
fn symbolic_ref(file: &Path) -> Option<String> {
    let text = read_small(file).ok()?;
    let name = text.strip_prefix("ref:")?.trim();
    let is_inside = name.starts_with("refs/")
        && name.split('/').all(|part| !matches!(part, "" | "." | ".." | ".invalid"));
    is_inside.then(|| name.to_owned())
}

/// Returns the name of a branch if it can be shown.
fn branch_name(name: &str) -> Option<String> {
    let is_shown = !name.is_empty()
        && name.chars().count() <= MAX_BRANCH_CHARS
        && !name.chars().any(char::is_control)
        && sanitize::text(name) == name;
    is_shown.then(|| name.to_owned())
}

/// Returns the id of a commit: 40 or 64 hexadecimal digits.
fn object_id(text: &str) -> Option<String> {
    let id = text.trim();
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_id.then(|| id.to_ascii_lowercase())
}
