//! The problem that copart exists for, and what it does about it, on a cluster in this process.
//!
//! - `stage`: the broker; `views`: what is sent; `services`: who sends it; `counting`: who counts it.
//! - `opening`, `audit`, `mending`: the steps.
//! - `story`: what a step tells.

mod audit;
mod counting;
mod mending;
mod opening;
mod services;
mod stage;
mod story;
mod views;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use copart_audit::Error;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::exit::Exit;
use crate::plain::{self, Form};
use stage::Stage;
use story::Step;

/// A tour of the problem and its cure, on a cluster in this process
///
/// Starts five brokers, and has two services send page views of the same users: one as ruby-kafka
/// places keys, one as Java's client does. A consumer group counts them by user and day. The counts
/// come out split, the audit says why, the guard refuses, one partitioner mends it, and then the
/// topic grows. Takes seconds, needs no network and leaves nothing behind.
///
/// All that is shown really happens, and each step checks what it claims.
#[derive(clap::Args)]
#[command(after_help = EXIT_HELP, after_long_help = EXIT_HELP)]
pub(crate) struct Args {
    /// Other users and views; the same seed tells the same story, but for addresses, ids and times
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Form of the answer
    #[arg(short, long, value_enum, value_name = "FORM", default_value = "table")]
    output: Form,

    /// The same as --output json
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

const EXIT_HELP: &str = "\
Exit codes:
  0    every step went as told
  1    a step did not: it says what was found, and later ones that need it are left out
  2    the command line makes no sense
  3    the brokers cannot start, or the output can't be written";

/// `docs/src/schema/copart.demo-1.schema.json`
#[derive(Serialize)]
struct Demo {
    schema: &'static str,
    seed: u64,
    as_told: bool,
    steps: Vec<Step>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Error> {
    let started = Instant::now();
    let form = if args.json { Form::Json } else { args.output };
    let mut teller = Teller {
        form,
        color: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        steps: Vec::new(),
    };
    let stage = Stage::set(args.seed)?;
    let told = tell(&stage, &mut teller);
    stage.clear();
    let ended = told?;
    let as_told = ended.is_some() && teller.steps.iter().all(Step::is_as_told);
    match form {
        Form::Json => plain::json(&Demo {
            schema: "copart.demo/1",
            seed: args.seed,
            as_told,
            steps: teller.steps,
        })?,
        Form::Table if as_told => plain::line(format_args!(
            "All {} steps went as told, in {:.1} s. Your own topics and keys: copart infer, copart verify.",
            teller.steps.len(),
            started.elapsed().as_secs_f64()
        ))?,
        Form::Table => plain::line("Not all went as told.")?,
    }
    Ok(if as_told { Exit::AGREE } else { Exit::DISAGREE })
}

/// All steps, or as many as can be taken: `None` if one failed that others need.
fn tell(stage: &Stage, teller: &mut Teller) -> Result<Option<()>, Error> {
    macro_rules! step {
        ($name:literal, $title:literal, $take:expr) => {
            match teller.step(Step::new($name, $title), $take)? {
                Some(made) => made,
                None => return Ok(None),
            }
        };
    }
    step!(
        "cluster",
        "Five brokers, and TopicA: 8 partitions, each on three brokers",
        |step| opening::cluster(stage, step)
    );
    let group = step!(
        "group",
        "A group of four waits for page views, to count them by user and day",
        |step| opening::group(stage, step, opening::TOPIC)
    );
    let sent = step!(
        "services",
        "Two services send page views of the same users",
        |step| opening::services(stage, step)
    );
    step!(
        "split",
        "The daily counts come out split, and nobody has seen an error",
        |step| opening::split_counts(stage, step, group, &sent)
    );
    step!("audit", "The audit says why", |step| audit::why(
        stage, step
    ));
    let guarded = step!(
        "guard",
        "The guard would have refused the second service",
        |step| mending::guard(stage, step)
    );
    let counted = step!(
        "one_partitioner",
        "With one partitioner the counts are right",
        |step| mending::one_partitioner(stage, step, guarded)
    );
    step!(
        "growth",
        "Then 8 partitions become 12, and keys move",
        |step| mending::growth(stage, step, counted)
    );
    Ok(Some(()))
}

/// Takes steps, and tells of each as soon as it is over.
struct Teller {
    form: Form,
    color: bool,
    steps: Vec<Step>,
}

impl Teller {
    fn step<T>(
        &mut self,
        mut step: Step,
        take: impl FnOnce(&mut Step) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let progress = self.progress(&step);
        let taken = take(&mut step);
        progress.finish_and_clear();
        let (step, made) = match taken {
            Ok(made) => (step, Some(made)),
            Err(error) => (step.failed(&error), None),
        };
        let step = step.numbered(self.steps.len() + 1);
        if self.form == Form::Table {
            plain::line(step.text(self.color))?;
        }
        self.steps.push(step);
        Ok(made)
    }

    /// Shown on standard error if that is a terminal.
    fn progress(&self, step: &Step) -> ProgressBar {
        let bar = ProgressBar::new_spinner();
        bar.set_message(format!("{}. {}", self.steps.len() + 1, step.title()));
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_or_does_not_hold_is_not_as_told() {
        let mut teller = Teller {
            form: Form::Json,
            color: false,
            steps: Vec::new(),
        };
        let held = teller.step(Step::new("a", "A"), |step| {
            step.check(true, "it holds", 1);
            Ok(())
        });
        assert!(held.is_ok_and(|made| made.is_some()));
        let other = teller.step(Step::new("b", "B"), |step| {
            step.check(false, "it does not", 2);
            Ok(())
        });
        assert!(other.is_ok_and(|made| made.is_some()), "the story goes on");
        let failed = teller.step(Step::new("c", "C"), |_| {
            Err::<(), _>(Error::input("no answer"))
        });
        assert!(failed.is_ok_and(|made| made.is_none()), "it ends");
        let told: Vec<_> = teller.steps.iter().map(Step::is_as_told).collect();
        assert_eq!(told, [true, false, false]);
        let text = teller.steps[2].text(false);
        assert!(
            text.starts_with("3. C\n") && text.contains("no answer"),
            "{text}"
        );
    }
}
