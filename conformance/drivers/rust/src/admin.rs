//! Administrative commands. rust-rdkafka does not support ACLs, delegation tokens, SCRAM passwords
//! and authorized operations, and has no incremental changes of settings.
use crate::client::{offset_in, partitions, place, text, texts, Client, Problem, DEADLINE};
use crate::{failure, failure_of};
use futures_executor::block_on;
use rdkafka::admin::{AdminOptions, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::consumer::{CommitMode, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::topic_partition_list::TopicPartitionList;
use rdkafka::types::RDKafkaErrorCode;
use serde_json::{json, Map, Value};

type Results = Vec<Result<String, (String, RDKafkaErrorCode)>>;

fn options() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(DEADLINE))
}

/// Returns items from the results for several names.
fn each(results: Results) -> Value {
    let mut found = Map::new();
    for result in results {
        match result {
            Ok(name) => found.insert(name, json!({})),
            Err((name, code)) => found.insert(name, failure_of(code, &code.to_string())),
        };
    }
    json!({"items": found})
}

fn items(names: &[&str], mut outcome: impl FnMut(&str) -> Result<Value, KafkaError>) -> Value {
    let told = names.iter().map(|name| {
        (
            name.to_string(),
            outcome(name).unwrap_or_else(|error| failure(&error)),
        )
    });
    json!({"items": told.collect::<Map<String, Value>>()})
}

fn counts(asked: &Value) -> Vec<(&str, i64)> {
    let topics = asked["topics"].as_object().into_iter().flatten();
    topics
        .map(|(name, count)| (name.as_str(), count.as_i64().unwrap_or(1)))
        .collect()
}

pub fn create_topics(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let mut topics = Vec::new();
    for (name, count) in counts(asked) {
        let mut topic = NewTopic::new(name, count as i32, TopicReplication::Fixed(1));
        for (setting, value) in asked["configs"].as_object().into_iter().flatten() {
            topic = topic.set(setting, value.as_str().unwrap_or_default());
        }
        topics.push(topic);
    }
    Ok(each(block_on(
        client.admin()?.create_topics(&topics, &options()),
    )?))
}

pub fn delete_topics(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    Ok(each(block_on(
        client
            .admin()?
            .delete_topics(&texts(asked, "names"), &options()),
    )?))
}

pub fn create_partitions(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let wanted: Vec<NewPartitions> = counts(asked)
        .into_iter()
        .map(|(name, count)| NewPartitions::new(name, count as usize))
        .collect();
    Ok(each(block_on(
        client.admin()?.create_partitions(&wanted, &options()),
    )?))
}

pub fn list_topics(client: &mut Client, _: &Value) -> Result<Value, Problem> {
    let found = client.admin()?.inner().fetch_metadata(None, DEADLINE)?;
    let names: Vec<&str> = found.topics().iter().map(|topic| topic.name()).collect();
    Ok(json!({"topics": names}))
}

pub fn describe_topics(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    if asked["operations"] == true {
        return Err(Problem::Unsupported);
    }
    let admin = client.admin()?;
    Ok(items(&texts(asked, "names"), |name| {
        let found = admin.inner().fetch_metadata(Some(name), DEADLINE)?;
        let topic = &found.topics()[0];
        match topic.error() {
            Some(error) => Err(KafkaError::MetadataFetch(error.into())),
            None => Ok(json!({"operations": null, "partitions": topic.partitions().len()})),
        }
    }))
}

pub fn describe_cluster(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    if asked["operations"] == true {
        return Err(Problem::Unsupported);
    }
    let found = client.admin()?.inner().fetch_metadata(None, DEADLINE)?;
    let ids: Vec<i32> = found.brokers().iter().map(|broker| broker.id()).collect();
    Ok(json!({"operations": null, "brokers": ids}))
}

pub fn describe_configs(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let names = texts(asked, "names");
    let mut wanted = Vec::new();
    for name in &names {
        wanted.push(match text(asked, "type") {
            "topic" => ResourceSpecifier::Topic(name),
            "group" => ResourceSpecifier::Group(name),
            "broker" => ResourceSpecifier::Broker(name.parse().unwrap_or(-1)),
            _ => return Err(Problem::Unsupported),
        });
    }
    let mut found = block_on(client.admin()?.describe_configs(&wanted, &options()))?.into_iter();
    Ok(items(&names, |_| {
        match found.next().unwrap_or(Err(RDKafkaErrorCode::Unknown)) {
            Err(code) => Err(KafkaError::AdminOp(code)),
            Ok(resource) => {
                let settings: Map<String, Value> = resource
                    .entries
                    .into_iter()
                    .map(|entry| (entry.name, json!(entry.value)))
                    .collect();
                Ok(json!({"settings": settings}))
            }
        }
    }))
}

pub fn list_offsets(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let admin = client.admin()?;
    Ok(items(&texts(asked, "partitions"), |name| {
        let (topic, number) = place(name);
        let (_, high) = admin.inner().fetch_watermarks(topic, number, DEADLINE)?;
        Ok(json!({"offset": high}))
    }))
}

pub fn delete_records(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let before = offset_in(asked, asked["before"].as_i64().unwrap_or(0))?;
    let done = block_on(client.admin()?.delete_records(&before, &options()))?;
    for row in done.elements() {
        row.error()?;
    }
    Ok(Value::Null)
}

pub fn list_groups(client: &mut Client, _: &Value) -> Result<Value, Problem> {
    let found = client.admin()?.inner().fetch_group_list(None, DEADLINE)?;
    let names: Vec<&str> = found.groups().iter().map(|group| group.name()).collect();
    Ok(json!({"groups": names}))
}

pub fn describe_groups(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    if asked["operations"] == true {
        return Err(Problem::Unsupported);
    }
    let admin = client.admin()?;
    Ok(items(&texts(asked, "names"), |name| {
        let found = admin.inner().fetch_group_list(Some(name), DEADLINE)?;
        let members = found
            .groups()
            .first()
            .map_or(0, |group| group.members().len());
        Ok(json!({"operations": null, "members": members}))
    }))
}

pub fn delete_groups(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    Ok(each(block_on(
        client
            .admin()?
            .delete_groups(&texts(asked, "names"), &options()),
    )?))
}

/// Returns committed offsets by partition; null without an offset.
pub fn offsets(names: &[&str], found: &TopicPartitionList) -> Value {
    items(names, |name| {
        let (topic, number) = place(name);
        let row = found
            .find_partition(topic, number)
            .expect("a row for each partition");
        row.error()?;
        Ok(json!({"offset": row.offset().to_raw().filter(|offset| *offset >= 0)}))
    })
}

pub fn group_offsets(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let names = texts(asked, "partitions");
    let group = client.of_group(text(asked, "group"))?;
    Ok(offsets(
        &names,
        &group.committed_offsets(partitions(&names), DEADLINE)?,
    ))
}

pub fn alter_group_offsets(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let wanted = offset_in(asked, asked["offset"].as_i64().unwrap_or(0))?;
    let group = client.of_group(text(asked, "group"))?;
    group.assign(&wanted)?;
    group.commit(&wanted, CommitMode::Sync)?;
    Ok(Value::Null)
}
