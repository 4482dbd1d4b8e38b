//! Every output of every report, on plain and on hostile input.

mod answers;
mod weighed;
