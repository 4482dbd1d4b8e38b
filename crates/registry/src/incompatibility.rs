//! Why one schema cannot read what another wrote.

use std::fmt;

/// One reason, under the name that Confluent's registry has for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Incompatibility {
    /// Such as `READER_FIELD_MISSING_DEFAULT_VALUE`.
    pub(crate) error_type: &'static str,
    /// Where in the reader's schema.
    pub(crate) path: String,
    /// What is there, if there is more to say.
    pub(crate) message: String,
}

impl Incompatibility {
    fn description(&self) -> &'static str {
        match self.error_type {
            "NAME_MISMATCH" => "the two types have different names, and no alias joins them",
            "FIXED_SIZE_MISMATCH" => "the two fixed types have different sizes",
            "MISSING_ENUM_SYMBOLS" => {
                "the reader lacks symbols that may be written, and has no default for them"
            }
            "READER_FIELD_MISSING_DEFAULT_VALUE" => {
                "the reader has a field that is not written, and no default for it"
            }
            "TYPE_MISMATCH" => "what is written is not of the type that is read",
            "MISSING_UNION_BRANCH" => "a type that may be written is none of the reader's union",
            "PACKAGE_CHANGED" => "the package is another one",
            "MESSAGE_REMOVED" => "a message is gone",
            "FIELD_KIND_CHANGED" => "a field is a scalar, a message or a map, and was another",
            "FIELD_SCALAR_KIND_CHANGED" => "a field's scalar type is written differently now",
            "FIELD_NAMED_TYPE_CHANGED" => "a field has another message type",
            "FIELD_NUMERIC_LABEL_CHANGED" => "a field of numbers was repeated, or is so now",
            "REQUIRED_FIELD_ADDED" => "a required field is new, which older data lacks",
            "REQUIRED_FIELD_REMOVED" => "a required field is gone, which older readers miss",
            "ONEOF_FIELD_REMOVED" => "a field of a oneof is gone",
            "FIELD_MOVED_TO_EXISTING_ONEOF" => "a field has moved into a oneof that was there",
            "MULTIPLE_FIELDS_MOVED_TO_ONEOF" => {
                "fields that could be set together are in one oneof now"
            }
            "TYPE_CHANGED" | "TYPE_NARROWED" => {
                "a type that may be written is not allowed any more"
            }
            "ENUM_ARRAY_NARROWED" => "a value that may be written is not allowed any more",
            "PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL" => {
                "a property has a schema now, and could be anything before"
            }
            "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL" => {
                "a property is gone, and no others are allowed"
            }
            "REQUIRED_ATTRIBUTE_ADDED" | "REQUIRED_PROPERTY_ADDED" => {
                "a property is required now, and has no default"
            }
            "ADDITIONAL_PROPERTIES_REMOVED" | "ADDITIONAL_PROPERTIES_NARROWED" => {
                "other properties are not allowed any more, or not all of them"
            }
            _ => "what may be written may not be read",
        }
    }
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{{errorType:'{}', description:'{}, at path \"{}\"'",
            self.error_type,
            self.description(),
            self.path
        )?;
        if !self.message.is_empty() {
            write!(f, ", additionalInfo:'{}'", self.message)?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_reason_are_told_from_its_words() {
        let mut reason = Incompatibility {
            error_type: "READER_FIELD_MISSING_DEFAULT_VALUE",
            path: "/fields/0".to_owned(),
            message: "sum".to_owned(),
        };
        assert_eq!(
            reason.to_string(),
            "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'the reader has a field that is not \
             written, and no default for it, at path \"/fields/0\"', additionalInfo:'sum'}"
        );
        reason.message.clear();
        assert!(reason.to_string().ends_with("at path \"/fields/0\"'}"));
    }
}
