//! Reading and printing.

use jsonschema::Draft;

use crate::json::Json;

/// A schema that is one by its draft's own rules. What it refers to is not looked at.
#[derive(Clone, Debug)]
pub(crate) struct JsonSchema {
    pub(super) json: Json,
}

impl JsonSchema {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let json = Json::parse(text).map_err(|error| error.to_string())?;
        if !matches!(json, Json::Object(_) | Json::Bool(_)) {
            return Err(format!(
                "a JSON Schema is an object or a boolean, and not {}",
                json.kind()
            ));
        }
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| error.to_string())?;
        let checked = match Draft::default().detect(&value) {
            // Another's dialect, whose rules are not known here.
            Draft::Unknown => Ok(()),
            _ => jsonschema::meta::validate(&value),
        };
        checked.map_err(|error| match error.instance_path().as_str() {
            "" => error.masked().to_string(),
            path => format!("at {path:?}: {}", error.masked()),
        })?;
        Ok(Self { json })
    }

    /// The schema without white space; a normal form has its members sorted, too.
    pub(crate) fn text(&self, normal: bool) -> String {
        if normal {
            self.json.clone().sorted().to_string()
        } else {
            self.json.to_string()
        }
    }
}
