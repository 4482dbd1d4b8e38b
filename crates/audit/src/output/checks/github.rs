//! Checks as annotations in a GitHub workflow.

use std::io::{self, Write};

use super::{Checks, Outcome};
use crate::output::github::command;

pub(in super::super) fn write(checks: &Checks, out: &mut dyn Write) -> io::Result<()> {
    // A source without a path has no place in the repository.
    let file = |index: usize| {
        let input = checks
            .inputs
            .get(index)
            .filter(|input| input.path.is_some());
        input.map(|input| input.name.as_str())
    };
    for case in checks.complaints() {
        let name = match case.outcome {
            Outcome::Noted => "warning",
            _ => "error",
        };
        let title = format!("copart: {}", checks.rule(case).1.describe);
        command(
            name,
            file(case.input),
            case.line,
            &title,
            &case.message,
            out,
        )?;
    }
    for warning in &checks.warnings {
        command("warning", file(0), None, "copart", warning, out)?;
    }
    let title = format!("copart {}", checks.command);
    command("notice", file(0), None, &title, &checks.headline, out)
}
