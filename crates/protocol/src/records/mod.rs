//! Record batches and message sets, the unit that Kafka stores and moves.
