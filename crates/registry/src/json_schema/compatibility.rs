//! Does one schema allow all that another one allows? Some of the rules of Confluent's registry, for the keywords below;
//! where others differ, the answer is that nobody knows.

use std::collections::{BTreeSet, HashSet};

use super::JsonSchema;
use crate::incompatibility::Incompatibility;
use crate::json::{Json, Members};

/// How many reasons are given.
const MAX_REASONS: usize = 100;

/// They say nothing about values.
const ANNOTATIONS: [&str; 11] = [
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "id",
    "readOnly",
    "title",
    "writeOnly",
];

/// The rules know them. All others must be the same.
const COMPARED: [&str; 5] = [
    "additionalProperties",
    "enum",
    "items",
    "properties",
    "required",
];

/// Keywords that allow less if they are new or larger: lower limits.
const LOWER: [(&str, &str, &str); 5] = [
    (
        "exclusiveMinimum",
        "EXCLUSIVE_MINIMUM_ADDED",
        "EXCLUSIVE_MINIMUM_INCREASED",
    ),
    ("minItems", "MIN_ITEMS_ADDED", "MIN_ITEMS_INCREASED"),
    ("minLength", "MIN_LENGTH_ADDED", "MIN_LENGTH_INCREASED"),
    (
        "minProperties",
        "MIN_PROPERTIES_ADDED",
        "MIN_PROPERTIES_INCREASED",
    ),
    ("minimum", "MINIMUM_ADDED", "MINIMUM_INCREASED"),
];

/// Keywords that allow less if they are new or smaller: upper limits.
const UPPER: [(&str, &str, &str); 5] = [
    (
        "exclusiveMaximum",
        "EXCLUSIVE_MAXIMUM_ADDED",
        "EXCLUSIVE_MAXIMUM_DECREASED",
    ),
    ("maxItems", "MAX_ITEMS_ADDED", "MAX_ITEMS_DECREASED"),
    ("maxLength", "MAX_LENGTH_ADDED", "MAX_LENGTH_DECREASED"),
    (
        "maxProperties",
        "MAX_PROPERTIES_ADDED",
        "MAX_PROPERTIES_DECREASED",
    ),
    ("maximum", "MAXIMUM_ADDED", "MAXIMUM_DECREASED"),
];

/// Where these are, which properties are allowed is more than the rules know.
const OF_OTHER_PROPERTIES: [&str; 2] = ["patternProperties", "unevaluatedProperties"];

/// What `writer` allows and `reader` does not: nothing, if it allows all.
///
/// # Errors
/// What differs that is not compared, if nothing else is wrong.
pub(crate) fn incompatibilities(
    reader: &JsonSchema,
    writer: &JsonSchema,
) -> Result<Vec<Incompatibility>, String> {
    let mut comparison = Comparison::default();
    if bare(&reader.json) != bare(&writer.json) {
        if refers(&reader.json) || refers(&writer.json) {
            comparison.unknown = Some("schemas with $ref".to_owned());
        }
        comparison.schemas("", &reader.json, &writer.json);
    }
    match comparison.unknown {
        Some(what) if comparison.reasons.is_empty() => Err(what),
        _ => Ok(comparison.reasons),
    }
}

/// A schema without annotations. Names of properties are no keywords, whatever they are.
fn bare(json: &Json) -> Json {
    match json {
        Json::Object(members) => {
            let members = members
                .iter()
                .filter(|(name, _)| !ANNOTATIONS.contains(&name.as_str()));
            let members = members.map(|(name, member)| {
                let member = match (name.as_str(), member) {
                    ("enum" | "const" | "required", values) => values.clone(),
                    (_, Json::Object(schemas)) if of_names(name) => {
                        let schemas = schemas.iter();
                        Json::Object(schemas.map(|(name, it)| (name.clone(), bare(it))).collect())
                    }
                    (_, member) => bare(member),
                };
                (name.clone(), member)
            });
            let mut members: Members = members.collect();
            members.sort_unstable_keys();
            Json::Object(members)
        }
        Json::Array(elements) => Json::Array(elements.iter().map(bare).collect()),
        other => other.clone(),
    }
}

/// Does the keyword have schemas by name?
fn of_names(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "patternProperties"
            | "definitions"
            | "$defs"
            | "dependentSchemas"
            | "dependencies"
    )
}

fn refers(json: &Json) -> bool {
    match json {
        Json::Object(members) => members.iter().any(|(name, member)| {
            matches!(name.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") || refers(member)
        }),
        Json::Array(elements) => elements.iter().any(refers),
        _ => false,
    }
}

/// Does it allow everything?
fn is_open(json: &Json) -> bool {
    match json {
        Json::Bool(all) => *all,
        Json::Object(members) => members
            .keys()
            .all(|name| ANNOTATIONS.contains(&name.as_str())),
        _ => false,
    }
}

/// What a schema says about properties that it does not name.
enum Others<'s> {
    Any,
    None,
    Some(&'s Json),
}

fn others(members: &Members) -> Others<'_> {
    match members.get("additionalProperties") {
        None | Some(Json::Bool(true)) => Others::Any,
        Some(Json::Bool(false)) => Others::None,
        Some(schema) => Others::Some(schema),
    }
}

fn types(members: &Members) -> Option<BTreeSet<&str>> {
    let names: Vec<&str> = match members.get("type")? {
        Json::Array(names) => names.iter().filter_map(Json::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    };
    let mut names = BTreeSet::from_iter(names);
    if names.contains("number") {
        names.insert("integer");
    }
    Some(names)
}

fn required(members: &Members) -> HashSet<&str> {
    let names = members.get("required").and_then(Json::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect()
}

fn has_default(schema: &Json) -> bool {
    schema
        .as_object()
        .is_some_and(|members| members.contains_key("default"))
}

#[derive(Default)]
struct Comparison {
    reasons: Vec<Incompatibility>,
    /// What differs that is not compared.
    unknown: Option<String>,
}

impl Comparison {
    fn fault(&mut self, error_type: &'static str, path: &str) {
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(Incompatibility {
                error_type,
                path: if path.is_empty() {
                    "/".to_owned()
                } else {
                    path.to_owned()
                },
                message: String::new(),
            });
        }
    }

    fn not_compared(&mut self, path: &str, keyword: &str) {
        self.unknown
            .get_or_insert_with(|| format!("\"{path}/{keyword}\""));
    }

    /// As deep as the JSON is, which is bounded.
    fn schemas(&mut self, path: &str, new: &Json, old: &Json) {
        if *old == Json::Bool(false) || is_open(new) {
            return;
        }
        match (new, old) {
            (Json::Object(new), Json::Object(old_members)) if !is_open(old) => {
                self.objects(path, new, old_members);
            }
            _ => self.fault("TYPE_CHANGED", path),
        }
    }

    fn objects(&mut self, path: &str, new: &Members, old: &Members) {
        self.types(path, new, old);
        self.keywords(path, new, old);
        for (lower, limits) in [(true, LOWER), (false, UPPER)] {
            for limit in limits {
                self.limit(path, lower, limit, (new, old));
            }
        }
        match (new.get("enum"), old.get("enum")) {
            (Some(Json::Array(new)), Some(Json::Array(old))) => {
                if !old.iter().all(|value| new.contains(value)) {
                    self.fault("ENUM_ARRAY_NARROWED", &format!("{path}/enum"));
                }
            }
            (None, None) => {}
            _ => self.not_compared(path, "enum"),
        }
        match (new.get("items"), old.get("items")) {
            (Some(Json::Array(_)), _) | (_, Some(Json::Array(_))) => {
                if new.get("items").map(bare) != old.get("items").map(bare) {
                    self.not_compared(path, "items");
                }
            }
            (Some(new), Some(old)) => self.schemas(&format!("{path}/items"), new, old),
            (Some(_), None) => self.fault("SCHEMA_ADDED", &format!("{path}/items")),
            (None, _) => {}
        }
        self.properties(path, new, old);
        self.others(path, new, old);
    }

    fn types(&mut self, path: &str, new: &Members, old: &Members) {
        match (types(new), types(old)) {
            (Some(new), Some(old)) if new.is_disjoint(&old) => self.fault("TYPE_CHANGED", path),
            (Some(new), Some(old)) if !old.is_subset(&new) => self.fault("TYPE_NARROWED", path),
            (Some(_), Some(_)) | (None, None) => {}
            _ => self.not_compared(path, "type"),
        }
    }

    /// What has no rule must be the same.
    fn keywords(&mut self, path: &str, new: &Members, old: &Members) {
        let limits = || LOWER.iter().chain(&UPPER).map(|(keyword, _, _)| *keyword);
        for keyword in new.keys().chain(old.keys()) {
            let name = keyword.as_str();
            let has_rules = name == "type"
                || ANNOTATIONS.contains(&name)
                || COMPARED.contains(&name)
                || limits().any(|limit| limit == name);
            if !has_rules && new.get(keyword).map(bare) != old.get(keyword).map(bare) {
                self.not_compared(path, keyword);
            }
        }
    }

    fn limit(
        &mut self,
        path: &str,
        lower: bool,
        (keyword, added, changed): (&str, &'static str, &'static str),
        (new, old): (&Members, &Members),
    ) {
        let number = |json: &Json| match json {
            Json::Number(number) => number.as_f64(),
            _ => None,
        };
        let place = format!("{path}/{keyword}");
        match (new.get(keyword), old.get(keyword)) {
            (None, _) => {}
            (Some(_), None) => self.fault(added, &place),
            (Some(new), Some(old)) if new == old => {}
            (Some(new), Some(old)) => match (number(new), number(old)) {
                (Some(new), Some(old)) if (lower && new > old) || (!lower && new < old) => {
                    self.fault(changed, &place);
                }
                (Some(_), Some(_)) => {}
                // A boolean, in the fourth draft.
                _ => self.not_compared(path, keyword),
            },
        }
    }

    fn properties(&mut self, path: &str, new: &Members, old: &Members) {
        let named =
            |members: &'_ Members| members.get("properties").and_then(Json::as_object).cloned();
        let (now, before) = (
            named(new).unwrap_or_default(),
            named(old).unwrap_or_default(),
        );
        let (needed, needed_before) = (required(new), required(old));
        let changed = now.keys().any(|name| !before.contains_key(name))
            || before.keys().any(|name| !now.contains_key(name));
        let unclear = |members: &Members| {
            OF_OTHER_PROPERTIES
                .iter()
                .any(|it| members.contains_key(*it))
        };
        if changed && (unclear(new) || unclear(old)) {
            return self.not_compared(path, "properties");
        }
        if needed
            .iter()
            .any(|name| !needed_before.contains(name) && !now.contains_key(*name))
        {
            self.not_compared(path, "required");
        }
        for (name, schema) in &before {
            let place = format!("{path}/properties/{name}");
            match now.get(name) {
                Some(new) => {
                    self.schemas(&place, new, schema);
                    let is_new =
                        needed.contains(name.as_str()) && !needed_before.contains(name.as_str());
                    if is_new && !has_default(new) {
                        self.fault("REQUIRED_ATTRIBUTE_ADDED", &place);
                    }
                }
                None => match others(new) {
                    Others::Any => {}
                    Others::Some(others) => self.schemas(&place, others, schema),
                    Others::None if *schema == Json::Bool(false) => {}
                    Others::None => {
                        self.fault("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", &place)
                    }
                },
            }
        }
        for (name, schema) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
            let place = format!("{path}/properties/{name}");
            match others(old) {
                Others::Any if is_open(schema) => {}
                Others::Any => self.fault("PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", &place),
                Others::Some(others) => self.schemas(&place, schema, others),
                Others::None => {}
            }
            let is_new = needed.contains(name.as_str()) && !needed_before.contains(name.as_str());
            if is_new && !has_default(schema) {
                self.fault("REQUIRED_PROPERTY_ADDED", &place);
            }
        }
    }

    fn others(&mut self, path: &str, new: &Members, old: &Members) {
        let place = format!("{path}/additionalProperties");
        match (others(new), others(old)) {
            (Others::None, Others::None) | (Others::Any, _) | (Others::Some(_), Others::None) => {}
            (Others::None, _) => self.fault("ADDITIONAL_PROPERTIES_REMOVED", &place),
            (Others::Some(_), Others::Any) => self.fault("ADDITIONAL_PROPERTIES_NARROWED", &place),
            (Others::Some(new), Others::Some(old)) => self.schemas(&place, new, old),
        }
    }
}
