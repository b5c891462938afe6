//! Commands of producers and consumers, with transactions and groups.
use crate::client::{offset_in, partitions, text, texts, Client, Problem, DEADLINE};
use crate::failure;
use futures_executor::block_on;
use rdkafka::consumer::{CommitMode, Consumer};
use rdkafka::message::Message;
use rdkafka::producer::{FutureRecord, Producer};
use serde_json::{json, Value};
use std::time::{Duration, Instant};

const MOMENT: Duration = Duration::from_millis(100);

pub fn wait(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let wanted = texts(asked, "events");
    let ends = Instant::now() + seconds(asked);
    loop {
        if client.has_consumer() {
            let mut names = client.consumer()?.context().names.lock().unwrap();
            if let Some(at) = names.iter().position(|name| wanted.contains(name)) {
                let found = names[at];
                names.drain(..=at);
                return Ok(json!({"event": found}));
            }
        }
        if Instant::now() >= ends {
            return Ok(json!({"event": null}));
        }
        match poll(client, MOMENT) {
            Err(Problem::Kafka(error)) => {
                return Ok(json!({"event": "error", "error": failure(&error)}))
            }
            other => other?,
        }
    }
}

fn seconds(asked: &Value) -> Duration {
    Duration::from_secs_f64(asked["seconds"].as_f64().unwrap_or(0.0))
}

pub fn produce(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let producer = client.producer()?;
    let mut sent = Vec::new();
    for value in texts(asked, "values") {
        let mut record = FutureRecord::<(), str>::to(text(asked, "topic")).payload(value);
        if let Some(number) = asked["partition"].as_i64() {
            record = record.partition(number as i32);
        }
        sent.push(producer.send_result(record).map_err(|(error, _)| error)?);
    }
    let mut offsets = Vec::new();
    for delivery in sent {
        match block_on(delivery) {
            Ok(Ok(delivered)) => offsets.push(delivered.offset),
            Ok(Err((error, _))) => return Err(error.into()),
            Err(_) => return Err(Problem::Timeout("the producer was dropped".into())),
        }
    }
    Ok(json!({"offsets": offsets}))
}

pub fn begin(client: &mut Client, _: &Value) -> Result<Value, Problem> {
    if !client.has_begun {
        client.producer()?.init_transactions(DEADLINE)?;
        client.has_begun = true;
    }
    client.producer()?.begin_transaction()?;
    Ok(Value::Null)
}

pub fn send_offsets(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let offsets = offset_in(asked, asked["offset"].as_i64().unwrap_or(0))?;
    let member = client.of_group(text(asked, "group"))?;
    let group = member.group_metadata().expect("a consumer with a group");
    client
        .producer()?
        .send_offsets_to_transaction(&offsets, &group, DEADLINE)?;
    Ok(Value::Null)
}

pub fn commit(client: &mut Client, _: &Value) -> Result<Value, Problem> {
    client.producer()?.commit_transaction(DEADLINE)?;
    Ok(Value::Null)
}

pub fn abort(client: &mut Client, _: &Value) -> Result<Value, Problem> {
    client.producer()?.abort_transaction(DEADLINE)?;
    Ok(Value::Null)
}

pub fn consume(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    if client.subscribed != asked["topics"] {
        client.consumer()?.subscribe(&texts(asked, "topics"))?;
        client.subscribed = asked["topics"].clone();
    }
    read(client, asked)
}

pub fn consume_assigned(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    if client.subscribed != asked["partitions"] {
        let mut wanted = partitions(&texts(asked, "partitions"));
        wanted.set_all_offsets(client.start())?;
        client.consumer()?.assign(&wanted)?;
        client.subscribed = asked["partitions"].clone();
    }
    read(client, asked)
}

fn read(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let count = asked["count"].as_u64().unwrap_or(0) as usize;
    let ends = Instant::now() + seconds(asked);
    while client.unread.len() < count && Instant::now() < ends {
        poll(client, ends - Instant::now())?;
    }
    let first = count.min(client.unread.len());
    let values: Vec<String> = client.unread.drain(..first).collect();
    Ok(json!({"values": values}))
}

fn poll(client: &mut Client, at_most: Duration) -> Result<(), Problem> {
    if !client.has_consumer() {
        std::thread::sleep(at_most);
        return Ok(());
    }
    let value = match client.consumer()?.poll(at_most) {
        None => return Ok(()),
        Some(message) => {
            String::from_utf8_lossy(message?.payload().unwrap_or_default()).into_owned()
        }
    };
    client.unread.push(value);
    Ok(())
}

pub fn commit_offsets(client: &mut Client, _: &Value) -> Result<Value, Problem> {
    client.consumer()?.commit_consumer_state(CommitMode::Sync)?;
    Ok(Value::Null)
}

pub fn committed(client: &mut Client, asked: &Value) -> Result<Value, Problem> {
    let names = texts(asked, "partitions");
    let found = client
        .consumer()?
        .committed_offsets(partitions(&names), DEADLINE)?;
    Ok(crate::admin::offsets(&names, &found))
}
