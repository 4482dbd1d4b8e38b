//! The messages: one type per request and response of each API.
