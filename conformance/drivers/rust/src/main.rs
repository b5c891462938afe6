//! The driver of librdkafka, by rust-rdkafka: reads commands, writes answers, one JSON line each.
mod admin;
mod client;
mod members;

use client::{Client, Problem};
use rdkafka::error::KafkaError;
use rdkafka::types::RDKafkaErrorCode;
use serde_json::{json, Value};
use std::collections::HashMap;
use std::io::{BufRead, Write};

type Command = fn(&mut Client, &Value) -> Result<Value, Problem>;

const COMMANDS: &[(&str, Command)] = &[
    ("wait", members::wait),
    ("produce", members::produce),
    ("begin", members::begin),
    ("send_offsets", members::send_offsets),
    ("commit", members::commit),
    ("abort", members::abort),
    ("consume", members::consume),
    ("consume_assigned", members::consume_assigned),
    ("commit_offsets", members::commit_offsets),
    ("committed", members::committed),
    ("create_topics", admin::create_topics),
    ("delete_topics", admin::delete_topics),
    ("create_partitions", admin::create_partitions),
    ("list_topics", admin::list_topics),
    ("describe_topics", admin::describe_topics),
    ("describe_cluster", admin::describe_cluster),
    ("describe_configs", admin::describe_configs),
    ("list_offsets", admin::list_offsets),
    ("delete_records", admin::delete_records),
    ("list_groups", admin::list_groups),
    ("describe_groups", admin::describe_groups),
    ("delete_groups", admin::delete_groups),
    ("group_offsets", admin::group_offsets),
    ("alter_group_offsets", admin::alter_group_offsets),
];

/// Capabilities of a build without OpenSSL, which SCRAM, OAUTHBEARER and TLS require.
const CAPABILITIES: &[&str] = &[
    "plain",
    "idempotence",
    "transactions",
    "classic-groups",
    "consumer-groups",
    "static-members",
    "rebootstrap",
];

fn main() {
    let mut clients: HashMap<String, Client> = HashMap::new();
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let asked: Value = serde_json::from_str(&line).expect("a line of JSON");
        let mut answer = json!({"id": asked["id"]});
        match run(&mut clients, &asked) {
            Ok(found) if found.is_null() => answer["ok"] = json!({}),
            Ok(found) => answer["ok"] = found,
            Err(Problem::Unsupported) => answer["unsupported"] = json!(true),
            Err(Problem::Kafka(error)) => answer["error"] = failure(&error),
            Err(Problem::Timeout(text)) => {
                answer["error"] = json!({"class": "Timeout", "code": null, "text": text})
            }
        }
        writeln!(answers, "{answer}").expect("somebody who reads the answers");
        answers.flush().expect("somebody who reads the answers");
    }
}

fn run(clients: &mut HashMap<String, Client>, asked: &Value) -> Result<Value, Problem> {
    let name = asked["client"].as_str().unwrap_or_default();
    match asked["command"].as_str().unwrap_or_default() {
        "hello" => {
            let names: Vec<&str> = COMMANDS
                .iter()
                .map(|(name, _)| *name)
                .chain(["open", "close"])
                .collect();
            let version = rdkafka::util::get_rdkafka_version().1;
            Ok(json!({
                "name": "rust-rdkafka", "version": format!("0.39.0 (librdkafka {version})"),
                "commands": names, "capabilities": CAPABILITIES,
            }))
        }
        "open" => {
            clients.insert(name.to_string(), Client::open(asked)?);
            Ok(Value::Null)
        }
        "close" => {
            clients.remove(name);
            Ok(Value::Null)
        }
        command => match COMMANDS.iter().find(|(known, _)| *known == command) {
            Some((_, work)) => work(clients.get_mut(name).expect("an open client"), asked),
            None => Err(Problem::Unsupported),
        },
    }
}

/// Reports an error with its code; codes below -1 are librdkafka's own.
pub fn failure(error: &KafkaError) -> Value {
    if let KafkaError::Transaction(told) = error {
        let mut found = failure_of(told.code(), &told.string());
        found["retriable"] = json!(told.is_retriable());
        found["fatal"] = json!(told.is_fatal());
        found["abortable"] = json!(told.txn_requires_abort());
        return found;
    }
    match error.rdkafka_error_code() {
        Some(code) => failure_of(code, &error.to_string()),
        None => json!({"class": "KafkaError", "code": null, "text": error.to_string()}),
    }
}

pub fn failure_of(code: RDKafkaErrorCode, text: &str) -> Value {
    let number = code as i32;
    let shown = (number >= -1).then_some(number);
    json!({"class": format!("{code:?}"), "code": shown, "text": text})
}
