use std::fmt;
use std::sync::Arc;

/// Makes the bytes of a key from its text, as a producer's serializer makes them from a value: Avro by a
/// schema, for instance.
#[derive(Clone)]
pub struct KeySerializer(Arc<Serialize>);

type Serialize = dyn Fn(&[u8], &mut Vec<u8>) -> Result<(), String> + Send + Sync;

impl KeySerializer {
    /// `serialize` appends the key's bytes; its error says why the text is none. Any thread may call it.
    pub fn new(
        serialize: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(serialize))
    }

    pub(super) fn serialize(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        (self.0)(text, out)
    }
}

impl fmt::Debug for KeySerializer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeySerializer")
    }
}
