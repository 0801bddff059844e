//! Links between entities and memories: the form in which the database reports changes of them to
//! the index.

/// The two kinds of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// The memory `other` names `entity`.
    Mention,
    /// The entity `other` is the object of a relation whose subject is `entity`.
    Relation,
}

/// A link that was added or removed; both ends are sequence numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityLink {
    /// The entity that has the relation, by sequence number.
    pub entity: i64,
    /// The entity that it leads to, by sequence number.
    pub other: i64,
    /// The kind of the relation.
    pub kind: LinkKind,
    /// False if the link was removed.
    pub exists: bool,
}
