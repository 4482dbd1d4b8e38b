/// Where a key lies in a block's bytes; `LEN_NULL` as length is the null key.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    len: u32,
}

const LEN_NULL: u32 = u32::MAX;

/// A run of consecutive keys from the input, and the buffers to read the next one into.
#[derive(Debug, Default)]
pub struct KeyBlock {
    /// The position of this block among all blocks.
    pub(crate) index: usize,
    /// What was read.
    pub(super) raw: Vec<u8>,
    /// Where in it the first record starts.
    pub(super) first: usize,
    /// Keys that had to be decoded, one after the other.
    pub(super) decoded: Vec<u8>,
    /// Whether the spans point into `decoded`.
    pub(super) in_decoded: bool,
    spans: Vec<Span>,
    /// How many records each key stands for; empty where each stands for one.
    weights: Vec<u64>,
    /// Keys that end in a carriage return: signs of a file with Windows line ends.
    pub(crate) carriage_returns: u64,
}

impl KeyBlock {
    /// Forgets the keys. The bytes stay until they are read over, so that they need no zeroing.
    pub(super) fn clear(&mut self) {
        self.decoded.clear();
        self.spans.clear();
        self.weights.clear();
        self.in_decoded = false;
        self.carriage_returns = 0;
        // One huge record must not keep its memory for the rest of the run.
        let usual = 4 * super::BLOCK_BYTES;
        self.raw.truncate(usual);
        for buffer in [&mut self.raw, &mut self.decoded] {
            buffer.shrink_to(usual);
        }
    }

    pub(super) fn push(&mut self, start: usize, len: usize) {
        self.spans.push(Span {
            start: start as u32,
            len: len as u32,
        });
    }

    pub(super) fn push_null(&mut self) {
        self.spans.push(Span {
            start: 0,
            len: LEN_NULL,
        });
    }

    /// Appends a key with its own bytes, made by `write`.
    pub(super) fn push_decoded(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
    ) -> Result<(), String> {
        let start = self.decoded.len();
        write(&mut self.decoded)?;
        self.push(start, self.decoded.len() - start);
        Ok(())
    }

    /// Says how many records the key pushed last stands for; then it must be said of every key.
    pub(super) fn push_weight(&mut self, weight: u64) {
        self.weights.push(weight);
    }

    /// How many records the key at this position of the block stands for.
    pub(crate) fn weight(&self, at: usize) -> u64 {
        self.weights.get(at).copied().unwrap_or(1)
    }

    /// How many keys there are, null keys included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The keys in the order of the input; `None` is the null key.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> + Clone {
        let bytes = if self.in_decoded {
            &self.decoded
        } else {
            &self.raw
        };
        self.spans.iter().map(|span| {
            (span.len != LEN_NULL).then(|| &bytes[span.start as usize..][..span.len as usize])
        })
    }
}
