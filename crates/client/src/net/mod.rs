//! Connections: transports, the handshake, and requests and answers in order.

mod address;
mod connection;
mod handshake;
mod reader;
mod reauthenticate;
pub(crate) mod sasl;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod transport;
mod writer;

pub use address::Address;
pub(crate) use address::parse_list;
pub(crate) use connection::{Answer, Connection, ConnectionConfig};
pub(crate) use handshake::Dialer;
#[cfg(feature = "tls")]
pub use tls::Tls;
pub use transport::{BoxFuture, BoxStream, Stream, Tcp, Transport};
