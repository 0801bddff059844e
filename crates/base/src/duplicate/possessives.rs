//! The rule about owners: who owns what must be the same in both texts.

use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::WordRole;

/// Returns true if something has an owner in one text, and another one or none in the other: `Ann's dog bit Ben`, `Ben's dog bit Ann`;
/// `Anna is allergic`, `Anna's son is allergic`; `the manager of Ann is Bob`, `Ann is the manager of Bob`.
pub(crate) fn owner_changed(a: &PairedText, b: &PairedText) -> bool {
    has_other_owner(a, b) || has_other_owner(b, a)
}

fn has_other_owner(side: &PairedText, other: &PairedText) -> bool {
    (0..side.words.len()).any(|thing| {
        let Some(owner) = owner_of(side, thing) else { return false };
        let Some(its_owner) = side.counterparts[owner] else { return false };
        let Some(thing_there) = side.counterparts[thing] else {
            return side.words[owner].role == WordRole::Possessive
                && other.words[its_owner].role != WordRole::Possessive;
        };
        match owner_of(other, thing_there) {
            Some(owner_there) => owner_there != its_owner,
            None => side.words[owner].role == WordRole::Possessive && thing_there != its_owner + 1,
        }
    })
}

/// Returns the owner of a thing: after `of`, or before the thing as a possessive.
fn owner_of(side: &PairedText, thing: usize) -> Option<usize> {
    if side.words[thing].is_function_word() {
        return None;
    }
    if side.words.get(thing + 1).is_some_and(|word| word.text == "of") {
        return side.next_content(thing);
    }
    let possessive =
        side.words[..thing].iter().rposition(|word| word.role == WordRole::Possessive)?;
    (possessive + 1..thing).all(|i| !side.words[i].is_function_word()).then_some(possessive)
}
