//! Brokers that stop, and leaders that move.
