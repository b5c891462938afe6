//! A client of the contract: an admin, a producer and a consumer, each created on first use.
use rdkafka::admin::AdminClient;
use rdkafka::client::{ClientContext, DefaultClientContext};
use rdkafka::consumer::{BaseConsumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError;
use rdkafka::producer::FutureProducer;
use rdkafka::topic_partition_list::TopicPartitionList;
use rdkafka::{ClientConfig, Offset};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

pub const DEADLINE: Duration = Duration::from_secs(8);

pub enum Problem {
    Unsupported,
    Kafka(KafkaError),
    Timeout(String),
}

impl From<KafkaError> for Problem {
    fn from(error: KafkaError) -> Self {
        Problem::Kafka(error)
    }
}

/// Events of a group member that no `wait` command has taken yet.
#[derive(Default)]
pub struct Events {
    pub names: Mutex<Vec<&'static str>>,
}

impl ClientContext for Events {}

impl ConsumerContext for Events {
    fn post_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        let name = match rebalance {
            Rebalance::Assign(_) => "assigned",
            Rebalance::Revoke(_) => "revoked",
            Rebalance::Error(_) => "error",
        };
        self.names.lock().unwrap().push(name);
    }
}

const RENAMED: &[(&str, &str)] = &[
    ("request.timeout.ms", "socket.timeout.ms"),
    ("max.request.size", "message.max.bytes"),
    ("metadata.max.age.ms", "topic.metadata.refresh.interval.ms"),
];
const UNKNOWN: &[&str] = &["default.api.timeout.ms", "max.block.ms"];
const PRODUCER: &[&str] = &[
    "delivery.timeout.ms",
    "enable.idempotence",
    "transactional.id",
    "acks",
    "compression.type",
    "transaction.timeout.ms",
];
const CONSUMER: &[&str] = &[
    "auto.offset.reset",
    "enable.auto.commit",
    "allow.auto.create.topics",
    "group.id",
    "group.instance.id",
    "isolation.level",
    "session.timeout.ms",
    "group.protocol",
    "heartbeat.interval.ms",
    "fetch.max.bytes",
    "max.partition.fetch.bytes",
];

pub struct Client {
    settings: HashMap<String, String>,
    admin: Option<AdminClient<DefaultClientContext>>,
    producer: Option<FutureProducer>,
    consumer: Option<BaseConsumer<Events>>,
    pub subscribed: Value,
    pub unread: Vec<String>,
    pub has_begun: bool,
}

impl Client {
    pub fn open(asked: &Value) -> Result<Client, Problem> {
        let mut settings = HashMap::new();
        for (name, value) in asked["settings"].as_object().into_iter().flatten() {
            if !UNKNOWN.contains(&name.as_str()) {
                let known = RENAMED
                    .iter()
                    .find(|(from, _)| from == name)
                    .map_or(name.as_str(), |(_, to)| to);
                settings.insert(
                    known.to_string(),
                    value.as_str().unwrap_or_default().to_string(),
                );
            }
        }
        if settings
            .get("group.protocol")
            .is_some_and(|protocol| protocol == "consumer")
        {
            settings.remove("session.timeout.ms"); // the broker decides these
            settings.remove("heartbeat.interval.ms");
        }
        settings.insert(
            "bootstrap.servers".into(),
            asked["servers"].as_str().unwrap_or_default().into(),
        );
        // required even without a group
        settings
            .entry("group.id".into())
            .or_insert_with(|| "none".into());
        if !asked["tls"].is_null() {
            return Err(Problem::Unsupported);
        }
        if let Some(login) = asked["login"].as_object() {
            if login["mechanism"] != "PLAIN" {
                return Err(Problem::Unsupported);
            }
            settings.insert("security.protocol".into(), "SASL_PLAINTEXT".into());
            for (name, field) in [
                ("sasl.mechanism", "mechanism"),
                ("sasl.username", "user"),
                ("sasl.password", "password"),
            ] {
                settings.insert(
                    name.into(),
                    login[field].as_str().unwrap_or_default().into(),
                );
            }
        }
        Ok(Client {
            settings,
            admin: None,
            producer: None,
            consumer: None,
            subscribed: Value::Null,
            unread: Vec::new(),
            has_begun: false,
        })
    }

    fn config(&self, without: &[&[&str]]) -> ClientConfig {
        let mut config = ClientConfig::new();
        for (name, value) in &self.settings {
            if !without.iter().any(|names| names.contains(&name.as_str())) {
                config.set(name, value);
            }
        }
        config
    }

    pub fn admin(&mut self) -> Result<&AdminClient<DefaultClientContext>, Problem> {
        if self.admin.is_none() {
            self.admin = Some(self.config(&[PRODUCER, CONSUMER]).create()?);
        }
        Ok(self.admin.as_ref().unwrap())
    }

    pub fn producer(&mut self) -> Result<&FutureProducer, Problem> {
        if self.producer.is_none() {
            self.producer = Some(self.config(&[CONSUMER]).create()?);
        }
        Ok(self.producer.as_ref().unwrap())
    }

    /// Returns where assigned partitions begin; by default librdkafka uses committed offsets.
    pub fn start(&self) -> Offset {
        match self.settings.get("auto.offset.reset").map(String::as_str) {
            Some("earliest") => Offset::Beginning,
            _ => Offset::End,
        }
    }

    pub fn has_consumer(&self) -> bool {
        self.consumer.is_some()
    }

    pub fn consumer(&mut self) -> Result<&BaseConsumer<Events>, Problem> {
        if self.consumer.is_none() {
            self.consumer = Some(
                self.config(&[PRODUCER])
                    .create_with_context(Events::default())?,
            );
        }
        Ok(self.consumer.as_ref().unwrap())
    }

    /// Returns a consumer with a group id that does not join the group.
    pub fn of_group(&self, group: &str) -> Result<BaseConsumer, Problem> {
        Ok(self.config(&[PRODUCER]).set("group.id", group).create()?)
    }
}

pub fn text<'a>(asked: &'a Value, name: &str) -> &'a str {
    asked[name].as_str().unwrap_or_default()
}

pub fn texts<'a>(asked: &'a Value, name: &str) -> Vec<&'a str> {
    asked[name]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Splits `topic-partition`.
pub fn place(name: &str) -> (&str, i32) {
    let (topic, number) = name.rsplit_once('-').unwrap_or((name, "0"));
    (topic, number.parse().unwrap_or(0))
}

pub fn partitions(names: &[&str]) -> TopicPartitionList {
    let mut list = TopicPartitionList::new();
    for name in names {
        let (topic, number) = place(name);
        list.add_partition(topic, number);
    }
    list
}

/// Returns an offset for the partition of a command.
pub fn offset_in(asked: &Value, offset: i64) -> Result<TopicPartitionList, Problem> {
    let mut list = TopicPartitionList::new();
    let number = asked["partition"].as_i64().unwrap_or(0) as i32;
    list.add_partition_offset(text(asked, "topic"), number, Offset::Offset(offset))?;
    Ok(list)
}
