//! The files by which systemd and launchd run the daemon, with the paths of this installation, and whether a file on the disk is one that
//! loci wrote.
//!
//! The texts are those of the folders `systemd` and `launchd`. Not here: the service managers (`service`).

use crate::installation::shell::quoted_path;
use loci_proto::paths::Paths;
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Name of the service unit.
pub const SERVICE: &str = "locid.service";
/// Name of the socket unit.
pub const SOCKET: &str = "locid.socket";
/// Label of the launch agent.
pub const LABEL: &str = "dev.loci.locid";
const SERVICE_TEXT: &str = include_str!("../../../systemd/locid.service");
const SOCKET_TEXT: &str = include_str!("../../../systemd/locid.socket");
const AGENT_TEXT: &str = include_str!("../../../launchd/dev.loci.locid.plist");
/// The path of the daemon in these texts.
const BINARY_IN_UNIT: &str = "%h/.cargo/bin/locid";
const BINARY_IN_AGENT: &str = "\"$HOME/.cargo/bin/locid\"";
/// Begins the line with the digest of everything after it.
const DIGEST: &str = "SHA-256 of the rest: ";
const WRITTEN_BY: &str =
    "Written by loci ctl install, which removes it again if it was not changed.";

/// A file of a service manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceFile {
    /// Where it belongs.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// A file on the disk at the path of a [`ServiceFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnDisk {
    /// There is none.
    Absent,
    /// Exactly the text that this loci writes.
    Same,
    /// A text that some loci wrote, unchanged.
    Ours,
    /// A text that loci wrote and somebody changed.
    Changed,
    /// A text that loci did not write.
    Foreign,
}

impl ServiceFile {
    /// Compares the file with the disk; a file that cannot be read counts as foreign.
    #[must_use]
    pub fn on_disk(&self) -> OnDisk {
        match std::fs::read_to_string(&self.path) {
            Ok(text) if text == self.text => OnDisk::Same,
            Ok(text) => match text.split_once(DIGEST).and_then(|(_, rest)| rest.split_once('\n')) {
                Some((line, rest)) if digest(rest) == first_word(line) => OnDisk::Ours,
                Some(_) => OnDisk::Changed,
                None => OnDisk::Foreign,
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => OnDisk::Absent,
            Err(_) => OnDisk::Foreign,
        }
    }
}

/// What the files of a service are made from.
#[derive(Debug)]
pub struct Installed<'a> {
    /// The daemon's binary, absolute.
    pub locid: &'a Path,
    /// The paths that agents use.
    pub paths: &'a Paths,
    /// The variables that decide about these paths, and that the daemon needs too.
    pub variables: &'a [(String, String)],
}

impl Installed<'_> {
    /// Returns the service and the socket unit for this folder of units.
    #[must_use]
    pub fn units(&self, folder: &Path) -> [ServiceFile; 2] {
        let mut service = without_introduction(SERVICE_TEXT)
            .replace(BINARY_IN_UNIT, &unit_word(&self.locid.to_string_lossy().replace('$', "$$")));
        let environment = self.for_each_variable(|name, value| {
            format!("Environment={}\n", unit_word(&format!("{name}={value}")))
        });
        service = service.replace("ExecStart=", &format!("{environment}ExecStart="));
        let name = self.paths.socket.file_name().unwrap_or(OsStr::new("locid.sock"));
        let socket = without_introduction(SOCKET_TEXT)
            .replace("%t/loci/locid.sock", &format!("%t/loci/{}", name.to_string_lossy()));
        let marked = |text: String| {
            let help = "# Put changes into a drop-in file: systemctl --user edit locid";
            format!("# {WRITTEN_BY}\n{help}\n# {DIGEST}{}\n{text}", digest(&text))
        };
        [
            ServiceFile { path: folder.join(SERVICE), text: marked(service) },
            ServiceFile { path: folder.join(SOCKET), text: marked(socket) },
        ]
    }

    /// Joins a text for each variable.
    fn for_each_variable(&self, text: impl Fn(&str, &str) -> String) -> String {
        self.variables.iter().map(|(name, value)| text(name, value)).collect::<Vec<_>>().concat()
    }

    /// Returns the launch agent for this folder of agents.
    #[must_use]
    pub fn launch_agent(&self, folder: &Path) -> ServiceFile {
        let (head, rest) = AGENT_TEXT.split_once("<!--").unwrap_or((AGENT_TEXT, ""));
        let body = rest.split_once("-->\n").map_or(rest, |(_, body)| body);
        let exports = self.for_each_variable(|name, value| {
            format!("export {name}={}; ", quoted_path(Path::new(value)))
        });
        let socket = quoted_path(&self.paths.socket);
        let log = self.paths.logs.join("locid.log");
        let body = body
            .replace(
                "mkdir -p \"$HOME/.loci/logs\"",
                &xml(&format!("{exports}mkdir -p {}", quoted_path(&self.paths.logs))),
            )
            .replace(BINARY_IN_AGENT, &xml(&quoted_path(self.locid)))
            .replace("\"$HOME/.loci/run/locid.sock\"", &xml(&socket))
            .replace("\"$HOME/.loci/logs/locid.log\"", &xml(&quoted_path(&log)));
        let text = format!("{head}<!-- {WRITTEN_BY}\n{DIGEST}{} -->\n{body}", digest(&body));
        ServiceFile { path: folder.join(format!("{LABEL}.plist")), text }
    }
}

/// The text without the comments before its first section.
fn without_introduction(text: &str) -> &str {
    text.find("\n[").map_or(text, |at| &text[at + 1..])
}

/// A word of a unit file: in quotes, and nothing in it has a meaning for systemd.
fn unit_word(word: &str) -> String {
    let escaped = word.replace('\\', r"\\").replace('"', "\\\"").replace('%', "%%");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@,%$".contains(c);
    if escaped.chars().all(is_plain) { escaped } else { format!("\"{escaped}\"") }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn first_word(line: &str) -> &str {
    line.split_whitespace().next().unwrap_or_default()
}

fn digest(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::paths::Variables;

    fn paths(home: Option<&str>) -> Paths {
        let variables = Variables {
            user_home: Some("/home/anna".into()),
            runtime: Some("/run/user/7".into()),
            home: home.map(PathBuf::from),
            ..Variables::default()
        };
        Paths::resolve(&variables).expect("the paths resolve")
    }

    #[test]
    fn the_units_name_the_installed_daemon() {
        let paths = paths(None);
        let locid = Path::new("/home/anna/my bin/100%/lo\"c$id");
        let installed = Installed { locid, paths: &paths, variables: &[] };
        let [service, socket] = installed.units(Path::new("/home/anna/.config/systemd/user"));
        assert_eq!(service.path, Path::new("/home/anna/.config/systemd/user/locid.service"));
        let line = "\nExecStart=\"/home/anna/my bin/100%%/lo\\\"c$$id\"\n";
        assert!(service.text.contains(line), "{}", service.text);
        assert!(!service.text.contains(".cargo") && !service.text.contains("Environment="));
        assert!(socket.text.contains("\nListenStream=%t/loci/locid.sock\n"), "{}", socket.text);
        assert!(!socket.text.contains("cp systemd"), "the text for the repository is left out");
    }

    #[test]
    fn another_data_folder_is_passed_on_and_has_its_own_socket() {
        let paths = paths(Some("/data/my loci"));
        let variables = [("LOCI_HOME".to_owned(), "/data/my loci".to_owned())];
        let locid = Path::new("/usr/bin/locid");
        let installed = Installed { locid, paths: &paths, variables: &variables };
        let [service, socket] = installed.units(Path::new("/u"));
        let lines = "Environment=\"LOCI_HOME=/data/my loci\"\nExecStart=/usr/bin/locid\n";
        assert!(service.text.contains(lines), "{}", service.text);
        let name = paths.socket.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(name.starts_with("locid-"), "{name}");
        assert!(socket.text.contains(&format!("\nListenStream=%t/loci/{name}\n")));
        let agent = installed.launch_agent(Path::new("/a")).text;
        assert!(agent.contains("export LOCI_HOME='/data/my loci'; mkdir -p '/data/my loci/logs' &amp;&amp; exec /usr/bin/locid --socket"), "{agent}");
        assert!(!agent.contains("$HOME"), "{agent}");
    }

    #[test]
    fn a_file_is_recognised_by_its_digest() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let paths = paths(None);
        let here = Installed { locid: Path::new("/a/locid"), paths: &paths, variables: &[] };
        let moved = Installed { locid: Path::new("/b/locid"), paths: &paths, variables: &[] };
        for (file, other) in [
            (here.units(folder.path())[0].clone(), moved.units(folder.path())[0].clone()),
            (here.launch_agent(folder.path()), moved.launch_agent(folder.path())),
        ] {
            let write = |text: &str| std::fs::write(&file.path, text).expect("it is written");
            assert_eq!(file.on_disk(), OnDisk::Absent);
            write(&file.text);
            assert_eq!((file.on_disk(), other.on_disk()), (OnDisk::Same, OnDisk::Ours));
            write(&format!("{}\n# mine\n", file.text));
            assert_eq!(file.on_disk(), OnDisk::Changed);
            write("[Service]\nExecStart=/bin/true\n");
            assert_eq!(file.on_disk(), OnDisk::Foreign);
        }
    }
}
