//! Maven: `pom.xml`, as far as it says releases itself: direct versions, properties of the same
//! file, and its `dependencyManagement`. What a parent, a BOM or a profile decides needs Maven to
//! resolve; `mvn help:effective-pom` writes a file in which all is said.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::Event;

use super::{Malformed, Package, Packages, Wanted, line_at};

const ASK_MAVEN: &str =
    "Maven has to say: `mvn help:effective-pom -Doutput=effective/pom.xml`, and name that file";

/// Elements within elements; a POM has ten.
const MAX_DEPTH: usize = 64;

/// Properties within properties.
const MAX_EXPANSIONS: usize = 8;

#[derive(Default)]
struct Dependency {
    group: String,
    artifact: String,
    version: Option<String>,
    scope: String,
    line: u64,
    version_line: u64,
}

impl Dependency {
    fn name(&self, pom: &Pom) -> Result<String, String> {
        Ok(format!(
            "{}:{}",
            pom.expand(&self.group)?,
            pom.expand(&self.artifact)?
        ))
    }
}

#[derive(Default)]
struct Pom {
    properties: HashMap<String, String>,
    dependencies: Vec<Dependency>,
    managed: Vec<Dependency>,
    has_parent: bool,
}

pub(super) fn packages(text: &str, wanted: Wanted<'_>) -> Packages {
    let pom = Pom::parse(text)?;
    let mut found = Vec::new();
    let imports = pom.managed.iter().any(|managed| managed.scope == "import");
    for dependency in &pom.dependencies {
        let Ok(name) = dependency.name(&pom) else {
            continue;
        };
        if !wanted(&name) {
            continue;
        }
        let (release, line) = match &dependency.version {
            Some(version) => (pom.release(version), dependency.version_line),
            None => match pom
                .managed
                .iter()
                .find(|m| m.name(&pom).as_ref() == Ok(&name))
            {
                Some(Dependency {
                    version: Some(version),
                    version_line,
                    ..
                }) => (pom.release(version), *version_line),
                _ => {
                    let who = match (imports, pom.has_parent) {
                        (true, _) => "an imported BOM decides the version",
                        (false, true) => "the parent decides the version",
                        (false, false) => "no version is given",
                    };
                    (Err(format!("{who}. {ASK_MAVEN}")), dependency.line)
                }
            },
        };
        found.push(Package {
            name,
            release,
            line,
        });
    }
    if found.is_empty() {
        // Nothing is said of what dependencies depend on.
        for managed in &pom.managed {
            if let (Ok(name), Some(version)) = (managed.name(&pom), &managed.version)
                && wanted(&name)
            {
                found.push(Package {
                    name,
                    release: pom.release(version),
                    line: managed.version_line,
                });
            }
        }
    }
    if found.is_empty() && !pom.dependencies.is_empty() {
        return Err(Malformed::new(
            None,
            format!(
                "the client is no direct dependency here, and a POM does not say what others depend on. {ASK_MAVEN}, or add it to dependencyManagement"
            ),
        ));
    }
    Ok(found)
}

impl Pom {
    fn parse(text: &str) -> Result<Self, Malformed> {
        let mut reader = Reader::from_str(text);
        let mut pom = Self::default();
        let mut path: Vec<String> = Vec::new();
        let mut content = String::new();
        let mut dependency = Dependency::default();
        loop {
            let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let bad = |what: String| Malformed::new(line_at(text, at), format!("no XML: {what}"));
            match reader.read_event().map_err(|e| bad(e.to_string()))? {
                Event::Start(element) => {
                    if path.len() >= MAX_DEPTH {
                        return Err(bad("elements are nested too deep".into()));
                    }
                    let name = element.local_name();
                    path.push(name.as_ref().to_owned());
                    content.clear();
                    if path
                        .first()
                        .is_none_or(|root| root != "project" && root != "projects")
                    {
                        return Err(Malformed::new(
                            line_at(text, at),
                            "no POM: the root is no `project`",
                        ));
                    }
                    if path.last().is_some_and(|name| name == "dependency") {
                        dependency = Dependency {
                            line: line_at(text, at + 1),
                            ..Dependency::default()
                        };
                    }
                    pom.has_parent |= path.len() == 2 && path[1] == "parent";
                }
                Event::Text(part) => content.push_str(&part),
                Event::CData(part) => content.push_str(&part),
                // No coordinate has one, and what it stands for is not looked up.
                Event::GeneralRef(name) => content.push_str(&format!("&{};", &*name)),
                Event::End(_) => {
                    pom.ended(&path, &content, &mut dependency, line_at(text, at));
                    path.pop();
                    content.clear();
                }
                Event::DocType(_) => return Err(bad("a document type is not read".into())),
                Event::Eof if path.is_empty() => break,
                Event::Eof => return Err(bad("it ends before it is complete".into())),
                _ => {}
            }
        }
        Ok(pom)
    }

    /// An element ended.
    fn ended(&mut self, path: &[String], content: &str, dependency: &mut Dependency, line: u64) {
        let content = content.trim();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        // The effective POM of several modules.
        let path = path.strip_prefix(&["projects"]).unwrap_or(&path);
        let text = || content.to_owned();
        match path {
            ["project", "properties", name] => {
                self.properties.insert((*name).to_owned(), text());
            }
            ["project", name @ ("version" | "groupId" | "artifactId")] => {
                self.properties.insert(format!("project.{name}"), text());
            }
            ["project", "dependencies", "dependency"] => {
                self.dependencies.push(std::mem::take(dependency));
            }
            [
                "project",
                "dependencyManagement",
                "dependencies",
                "dependency",
            ] => {
                self.managed.push(std::mem::take(dependency));
            }
            // Not those of exclusions, which are one level below.
            [.., "dependencies", "dependency", member] => match *member {
                "groupId" => dependency.group = text(),
                "artifactId" => dependency.artifact = text(),
                "scope" => dependency.scope = text(),
                "version" => {
                    dependency.version = Some(text());
                    dependency.version_line = line;
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// A version with its properties, if that is one release.
    fn release(&self, version: &str) -> Result<String, String> {
        let version = self.expand(version)?;
        if version.starts_with(['[', '(']) || matches!(version.as_str(), "LATEST" | "RELEASE") {
            return Err(format!("`{version}` is a range. {ASK_MAVEN}"));
        }
        Ok(version)
    }

    fn expand(&self, text: &str) -> Result<String, String> {
        let mut text = text.to_owned();
        for _ in 0..MAX_EXPANSIONS {
            let Some(start) = text.find("${") else {
                return Ok(text);
            };
            let Some(end) = text[start..].find('}').map(|end| start + end) else {
                return Err(format!("`{text}` has a property without an end"));
            };
            let name = &text[start + 2..end];
            let Some(value) = self.properties.get(name) else {
                return Err(format!(
                    "the property `{name}` is not in this file. {ASK_MAVEN}"
                ));
            };
            text = format!("{}{value}{}", &text[..start], &text[end + 1..]);
        }
        Err("properties refer to each other too often".into())
    }
}
