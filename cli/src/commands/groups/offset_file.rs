//! Files of offsets: what `copart groups describe` prints as csv, json or jsonl, and the rows
//! `topic,partition,offset` or `group,topic,partition,offset` of `kafka-consumer-groups --export`.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use copart::TopicPartition;
use copart_audit::Error;
use serde::Deserialize;

/// The offsets of a group.
pub(super) type Offsets = BTreeMap<TopicPartition, i64>;

/// A row; without an offset if nothing was committed.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    group: Option<String>,
    topic: String,
    partition: i32,
    offset: Option<i64>,
}

/// The document `copart.groups/1`, as far as it matters here.
#[derive(Deserialize)]
struct Document {
    schema: String,
    groups: Vec<GroupRows>,
}

#[derive(Deserialize)]
struct GroupRows {
    group: String,
    #[serde(default)]
    offsets: Vec<Row>,
}

/// Reads the offsets that are for `group`: its own if the file has several groups, else those that are there.
pub(super) fn read(path: &Path, group: &str) -> Result<Offsets, Error> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        io::stdin().lock().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(path).map(|content| text = content)
    };
    let named = |what: String| Error::input(format!("{}: {what}", path.display()));
    read.map_err(|error| named(error.to_string()))?;
    let text = text.trim_start_matches('\u{feff}');
    let rows = rows(text).map_err(named)?;
    select(rows, group).map_err(named)
}

fn rows(text: &str) -> Result<Vec<Row>, String> {
    if !text.trim_start().starts_with('{') {
        return csv_rows(text);
    }
    // One document, or an object a line. A line is a document too.
    if let Ok(document) = serde_json::from_str::<Document>(text) {
        if document.schema != "copart.groups/1" {
            return Err(format!(
                "copart.groups/1 is wanted, and this is {}",
                document.schema
            ));
        }
        let groups = document.groups.into_iter();
        let rows = groups.flat_map(|of| {
            let group = of.group;
            of.offsets.into_iter().map(move |row| Row {
                group: Some(group.clone()),
                ..row
            })
        });
        return Ok(rows.collect());
    }
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))
        })
        .collect()
}

fn csv_rows(text: &str) -> Result<Vec<Row>, String> {
    const KAFKAS: [&str; 3] = ["topic", "partition", "offset"];
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut names: Option<Vec<String>> = None;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let names = match &names {
            Some(names) => names,
            None => {
                let first: Vec<String> = record.iter().map(str::to_owned).collect();
                let is_headed = KAFKAS.iter().all(|name| first.iter().any(|n| n == name));
                if is_headed {
                    names = Some(first);
                    continue;
                }
                let kafkas = KAFKAS.map(str::to_owned).to_vec();
                names.insert(match first.len() {
                    3 => kafkas,
                    4 => [vec!["group".to_owned()], kafkas].concat(),
                    other => {
                        return Err(format!(
                            "line {line}: there are {other} columns; wanted are topic,partition,offset, or \
                             group before them, or a first line with these names"
                        ));
                    }
                })
            }
        };
        let field = |name: &str| {
            let at = names.iter().position(|n| n == name)?;
            record
                .get(at)
                .map(str::trim)
                .filter(|text| !text.is_empty())
        };
        let number = |name: &str| match field(name) {
            None => Ok(None),
            Some(text) => text
                .parse::<i64>()
                .map(Some)
                .map_err(|_| format!("line {line}: {text:?} is no {name}")),
        };
        let partition = number("partition")?.and_then(|number| i32::try_from(number).ok());
        rows.push(Row {
            group: field("group").map(str::to_owned),
            topic: field("topic")
                .ok_or_else(|| format!("line {line}: the topic is missing"))?
                .to_owned(),
            partition: partition.ok_or_else(|| format!("line {line}: the partition is missing"))?,
            offset: number("offset")?,
        });
    }
    Ok(rows)
}

fn select(rows: Vec<Row>, group: &str) -> Result<Offsets, String> {
    let mut groups: Vec<String> = rows.iter().filter_map(|row| row.group.clone()).collect();
    groups.sort();
    groups.dedup();
    if groups.len() > 1 && !groups.iter().any(|name| name == group) {
        return Err(format!(
            "it has offsets of {}, and none of {group}",
            groups.join(", ")
        ));
    }
    let several = groups.len() > 1;
    let wanted = |row: &Row| !several || row.group.as_deref() == Some(group);
    let mut offsets = Offsets::new();
    for row in rows.into_iter().filter(wanted) {
        let Some(offset) = row.offset else { continue };
        let partition = TopicPartition::new(row.topic, row.partition);
        if offset < 0 || row.partition < 0 {
            return Err(format!("{partition}: {offset} is no offset"));
        }
        if let Some(other) = offsets.insert(partition.clone(), offset)
            && other != offset
        {
            return Err(format!("{partition} is there twice: {other} and {offset}"));
        }
    }
    if offsets.is_empty() {
        return Err("there are no offsets in it".to_owned());
    }
    Ok(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(text: &str, group: &str) -> Result<Vec<(String, i64)>, String> {
        let offsets = select(rows(text)?, group)?;
        Ok(offsets
            .into_iter()
            .map(|(partition, offset)| (partition.to_string(), offset))
            .collect())
    }

    #[test]
    fn every_form_that_is_printed_is_read() {
        let expected = Ok(vec![("a.b-0".to_owned(), 5), ("a.b-1".to_owned(), 7)]);
        for text in [
            "a.b,0,5\na.b,1,7\n",
            "\"a.b\",0,5\r\n\"a.b\",1,7\r\n",
            "g,a.b,0,5\ng,a.b,1,7\n",
            "group,topic,partition,offset,lag\ng,a.b,0,5,\ng,a.b,1,7,3\ng,a.b,2,,\n",
            "g,a.b,0,5\ng,a.b,1,7\nother,a.b,0,9\n",
            "{\"topic\":\"a.b\",\"partition\":0,\"offset\":5}\n\n{\"topic\":\"a.b\",\"partition\":1,\"offset\":7}",
            "{\"schema\":\"copart.groups/1\",\"groups\":[{\"group\":\"g\",\"offsets\":[\
             {\"topic\":\"a.b\",\"partition\":0,\"offset\":5},{\"topic\":\"a.b\",\"partition\":1,\"offset\":7},\
             {\"topic\":\"a.b\",\"partition\":2,\"offset\":null}]}]}",
        ] {
            assert_eq!(offsets(text, "g"), expected, "{text}");
        }
        // Of one group for another.
        assert_eq!(offsets("h,a.b,0,5\nh,a.b,1,7\n", "g"), expected);
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (text, what) in [
            ("", "no offsets"),
            ("a,0\n", "2 columns"),
            ("a,0,x\n", "line 1: \"x\" is no offset"),
            ("a,0,1\na,zero,1\n", "line 2: \"zero\" is no partition"),
            ("a,0,-1\n", "-1 is no offset"),
            ("a,0,1\na,0,2\n", "twice"),
            ("h,a,0,1\ni,a,0,1\n", "offsets of h, i, and none of g"),
            ("{\"topic\":\"a\"}\n", "line 1: missing field"),
            (
                "{\"schema\":\"copart.lag/1\",\"groups\":[]}",
                "this is copart.lag/1",
            ),
        ] {
            let error = offsets(text, "g").expect_err(text);
            assert!(error.contains(what), "{text}: {error}");
        }
    }
}
