"""What the programs below tests/interop share: starting a broker, installing clients, and reading the wire."""
