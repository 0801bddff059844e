//! Where a person has switched loci off: projects, folders and running sessions.
//!
//! Not here: the other reasons why loci is off (the daemon).

use loci_proto::group::GroupHint;
use loci_proto::hello::Session;
use std::path::Path;

/// The switches of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SwitchSet {
    /// Ids of the groups that are off.
    pub off: Vec<String>,
    /// Ids of the groups that were switched on.
    pub on: Vec<String>,
    /// The folders of both, the latest switch first.
    pub folders: Vec<FolderSwitch>,
    /// Sessions that became incognito.
    pub incognito: Vec<String>,
}

/// A folder in which a person has switched loci off or on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderSwitch {
    /// The folder.
    pub path: String,
    /// What the folder is, whatever its path.
    pub identity: Option<String>,
    /// Id of the group that was switched.
    pub group: String,
    /// Whether memory is off there.
    pub is_off: bool,
}

impl FolderSwitch {
    /// Returns whether this is the folder, or one at its path: a copy that took the place of the folder is not switched on by that.
    fn is_of(&self, path: &str, identity: Option<&str>) -> bool {
        self.path == path || (identity.is_some() && self.identity.as_deref() == identity)
    }
}

impl SwitchSet {
    /// Returns whether a person has switched a project off.
    pub fn is_off(&self, group: &str) -> bool {
        self.off.iter().any(|off| off == group)
    }

    /// Returns whether a person has switched off the folder in which a session works, or one around it. The nearest folder with a switch
    /// decides, and of its switches the latest.
    pub fn is_off_at(&self, session: &Session) -> bool {
        if self.folders.is_empty() {
            return false;
        }
        let nearest = session.place.as_ref().and_then(|place| {
            let mut identities = place.identities.iter().map(String::as_str);
            Path::new(&place.path).ancestors().find_map(|folder| {
                let identity = identities.next().filter(|identity| !identity.is_empty());
                self.switch_of(folder.to_str()?, identity)
            })
        });
        // The repository of a worktree is elsewhere.
        let of_repository = || {
            let path = match &session.group {
                GroupHint::Folder(path) | GroupHint::ProjectNamed { folder: path, .. } => path,
                GroupHint::Named(_) | GroupHint::Default => return None,
            };
            let mark = session.folder.as_ref();
            self.switch_of(path, mark.and_then(|mark| mark.identity.as_deref()))
        };
        nearest.or_else(of_repository).unwrap_or(false)
    }

    /// Returns the same of a folder of which only the path is known.
    pub fn is_off_in(&self, folder: &str) -> bool {
        let mut around = Path::new(folder).ancestors().filter_map(Path::to_str);
        around.find_map(|folder| self.switch_of(folder, None)).unwrap_or(false)
    }

    /// Returns whether a folder is off; `None` if it has no switch.
    fn switch_of(&self, path: &str, identity: Option<&str>) -> Option<bool> {
        self.folders.iter().find(|folder| folder.is_of(path, identity)).map(|found| found.is_off)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::hello::SessionFolder;

    fn switch(path: &str, identity: &str, is_off: bool) -> FolderSwitch {
        let identity = Some(identity.to_owned());
        FolderSwitch { path: path.to_owned(), identity, group: String::new(), is_off }
    }

    fn session(path: &str, identities: &[&str]) -> Session {
        let identities = identities.iter().map(|text| (*text).to_owned()).collect();
        let place = SessionFolder { path: path.to_owned(), identities, root: None };
        Session { place: Some(place), ..Session::default() }
    }

    #[test]
    fn a_folder_is_off_by_its_path_by_what_it_is_and_by_a_folder_around_it() {
        let folders = vec![switch("/a/shop", "1", false), switch("/a", "2", true)];
        let set = SwitchSet { folders, ..SwitchSet::default() };
        for (path, identities, is_off) in [
            ("/a", &["9"][..], true),
            ("/b", &["2"], true),
            ("/b/c/d", &["", "8", "2"], true),
            ("/a/other", &["7", "2"], true),
            ("/ab", &["7", ""], false),
            ("/a/shop/src", &["7", "1", "2"], false),
            ("/", &[], false),
        ] {
            assert_eq!(set.is_off_at(&session(path, identities)), is_off, "{path}");
        }
        assert!(!SwitchSet::default().is_off_at(&session("/a", &["2"])));
    }
}
