//! Checks as annotations in a GitHub workflow.

use std::io::{self, Write};

use super::{Checks, Outcome};
use crate::output::github::command;

pub(in super::super) fn write(checks: &Checks<'_>, out: &mut dyn Write) -> io::Result<()> {
    for case in checks.complaints() {
        let name = match case.outcome {
            Outcome::Noted => "warning",
            _ => "error",
        };
        let title = format!("copart: {}", checks.rule(case).1.describe);
        command(name, checks.input, case.line, &title, &case.message, out)?;
    }
    for warning in checks.warnings {
        command("warning", checks.input, None, "copart", warning, out)?;
    }
    let title = format!("copart {}", checks.command);
    command("notice", checks.input, None, &title, &checks.headline, out)
}
