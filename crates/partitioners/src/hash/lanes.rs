//! Many keys at a time.
