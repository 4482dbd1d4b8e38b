//! TCP whose connections can be cut, and whose user can be taken off the network for good.

use std::io;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use copart::{Address, BoxFuture, BoxStream, Transport};
use tokio::net::TcpStream;

/// The network of one client.
#[derive(Debug, Default)]
pub struct Network {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// A second handle of each connection, to cut it by.
    connections: Vec<std::net::TcpStream>,
    is_off: bool,
}

impl Network {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Cuts one of the connections, wherever in a request or an answer it is. Says whether there was one.
    pub fn cut(&self, random: &mut fastrand::Rng) -> bool {
        let mut state = self.state();
        if state.connections.is_empty() {
            return false;
        }
        let one = random.usize(..state.connections.len());
        state
            .connections
            .swap_remove(one)
            .shutdown(Shutdown::Both)
            .is_ok()
    }

    /// From now on nothing goes out or comes in: to all others the client has died.
    pub fn take_off(&self) {
        let mut state = self.state();
        state.is_off = true;
        for connection in state.connections.drain(..) {
            // One that the peer has closed is off already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    async fn open(&self, address: &Address) -> io::Result<BoxStream> {
        let stream = TcpStream::connect((address.host(), address.port())).await?;
        stream.set_nodelay(true)?;
        let stream = stream.into_std()?;
        let second = stream.try_clone()?;
        {
            let mut state = self.state();
            if state.is_off {
                return Err(io::ErrorKind::NetworkUnreachable.into());
            }
            state.connections.push(second);
        }
        Ok(Box::new(TcpStream::from_std(stream)?))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Network {
    fn connect<'a>(&'a self, address: &'a Address) -> BoxFuture<'a, io::Result<BoxStream>> {
        Box::pin(self.open(address))
    }

    fn name(&self) -> &'static str {
        "plaintext that is cut"
    }
}
