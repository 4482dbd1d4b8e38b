//! What became of each item of a call.

use std::borrow::Borrow;

use crate::Result;

/// An outcome for each item that was asked for, in the order in which they were asked for.
///
/// One item's failure is none of the others': a topic that exists already does not keep another from being
/// created. [`all`](Self::all) is for callers to whom it is.
#[derive(Clone, Debug)]
#[must_use = "some items may have failed"]
pub struct Results<K, T> {
    entries: Vec<(K, Result<T>)>,
}

impl<K, T> Results<K, T> {
    pub(super) fn new(entries: Vec<(K, Result<T>)>) -> Self {
        Self { entries }
    }

    /// Each item with its outcome.
    pub fn iter(&self) -> std::slice::Iter<'_, (K, Result<T>)> {
        self.entries.iter()
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The outcome of one item. `None` if it was not asked for.
    pub fn get<Q>(&self, key: &Q) -> Option<&Result<T>>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let found = self.entries.iter().find(|(k, _)| k.borrow() == key);
        found.map(|(_, outcome)| outcome)
    }

    /// All items, if none has failed.
    ///
    /// # Errors
    /// The first failure. What the other items' outcomes were is lost: look at [`iter`](Self::iter) first if
    /// that matters.
    pub fn all(self) -> Result<Vec<(K, T)>> {
        let entries = self.entries.into_iter();
        entries
            .map(|(key, outcome)| outcome.map(|value| (key, value)))
            .collect()
    }
}

impl<K, T> IntoIterator for Results<K, T> {
    type Item = (K, Result<T>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'a, K, T> IntoIterator for &'a Results<K, T> {
    type Item = &'a (K, Result<T>);
    type IntoIter = std::slice::Iter<'a, (K, Result<T>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
