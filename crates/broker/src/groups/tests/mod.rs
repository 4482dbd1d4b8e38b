//! Coordinators with a clock that tests turn.
