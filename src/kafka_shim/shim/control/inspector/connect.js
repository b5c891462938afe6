// How to connect: a snippet for each client, with this broker's address in it.

import { copier, element, field, select } from "./elements.js";

const usesTls = (listener) => listener.security_protocol.endsWith("SSL");
const mechanismOf = (listener) => {
  const known = listener.sasl_mechanisms;
  return known.includes("PLAIN") ? "PLAIN" : known[0] ?? "PLAIN";
};

/** Lines for a listener with a log-in, or with TLS. */
const lines = (listener, { always = [], sasl = [], tls = [] }) => [
  ...always, ...(listener.sasl_mechanisms.length ? sasl : []), ...(usesTls(listener) ? tls : []),
];

function librdkafka(listener, form) {
  const settings = lines(listener, {
    always: [["bootstrap.servers", listener.bootstrap_servers]],
    sasl: [["sasl.mechanism", mechanismOf(listener)], ["sasl.username", "USER"], ["sasl.password", "PASSWORD"]],
    tls: [["ssl.ca.location", "ca.pem"]],
  });
  if (listener.security_protocol !== "PLAINTEXT") {
    settings.splice(1, 0, ["security.protocol", listener.security_protocol]);
  }
  return settings.map(([key, value]) => form(key, value));
}

function python(listener) {
  const settings = librdkafka(listener, (key, value) => `    "${key}": "${value}",`);
  return ["from confluent_kafka import Producer", "", "producer = Producer({", ...settings, "})",
    'producer.produce("orders", b"a book")', "producer.flush()"];
}

function purePython(listener) {
  const settings = lines(listener, {
    always: [`    bootstrap_servers="${listener.bootstrap_servers}",`,
      `    security_protocol="${listener.security_protocol}",`],
    sasl: [`    sasl_mechanism="${mechanismOf(listener)}",`, '    sasl_plain_username="USER",',
      '    sasl_plain_password="PASSWORD",'],
    tls: ['    ssl_cafile="ca.pem",'],
  });
  return ["from kafka import KafkaProducer", "", "producer = KafkaProducer(", ...settings, ")",
    'producer.send("orders", b"a book")', "producer.flush()"];
}

function java(listener) {
  const name = mechanismOf(listener).startsWith("SCRAM") ? "scram.Scram" : "plain.Plain";
  return lines(listener, {
    always: [`bootstrap.servers=${listener.bootstrap_servers}`,
      `security.protocol=${listener.security_protocol}`],
    sasl: [`sasl.mechanism=${mechanismOf(listener)}`,
      `sasl.jaas.config=org.apache.kafka.common.security.${name}LoginModule required \\`,
      '  username="USER" password="PASSWORD";'],
    tls: ["ssl.truststore.type=PEM", "ssl.truststore.location=ca.pem"],
  });
}

function go(listener) {
  const settings = lines(listener, {
    always: [`\tkgo.SeedBrokers("${listener.bootstrap_servers.split(",").join('", "')}"),`],
    sasl: [mechanismOf(listener) === "PLAIN"
      ? '\tkgo.SASL(plain.Auth{User: "USER", Pass: "PASSWORD"}.AsMechanism()),'
      : `\tkgo.SASL(scram.Auth{User: "USER", Pass: "PASSWORD"}.As${mechanismOf(listener).endsWith("512") ? "Sha512" : "Sha256"}Mechanism()),`],
    tls: ["\tkgo.DialTLSConfig(&tls.Config{RootCAs: authorities}),"],
  });
  return ["client, err := kgo.NewClient(", ...settings, ")"];
}

function node(listener) {
  const settings = lines(listener, {
    always: [`  brokers: ["${listener.bootstrap_servers.split(",").join('", "')}"],`],
    sasl: [`  sasl: { mechanism: "${mechanismOf(listener).toLowerCase()}", username: "USER", password: "PASSWORD" },`],
    tls: ['  ssl: { ca: [readFileSync("ca.pem", "utf8")] },'],
  });
  return ['import { Kafka } from "kafkajs";', "", "const kafka = new Kafka({", ...settings, "});"];
}

const kcat = (listener) => [
  ["kcat -L", ...librdkafka(listener, (key, value) => `-X ${key}=${value}`)].join(" \\\n  "),
];

const CLIENTS = {
  "Python: confluent-kafka": python, "Python: kafka-python": purePython, "Java: properties": java,
  "Go: franz-go": go, "Node: kafkajs": node, "Shell: kcat": kcat,
};

/** A choice of listeners and clients, and the snippet for both; it looks for listeners once. */
export function connectHelp(page) {
  const client = select("client", Object.keys(CLIENTS), { id: "snippet-client" });
  const listener = select("listener", [], { id: "snippet-listener" });
  const shown = element("pre", { id: "snippet", tabindex: "0" });
  const buttons = element("p", { class: "buttons" });
  let listeners = [];
  function update() {
    const chosen = listeners.find((one) => one.name === listener.value);
    if (!chosen) return;
    const text = CLIENTS[client.value](chosen).join("\n");
    shown.textContent = text;
    buttons.replaceChildren(copier(text));
  }
  page.call("GET", "listeners").then((response) => {
    listeners = response.listeners;
    listener.append(...listeners.map(({ name }) => element("option", { value: name, text: name })));
    update();
  }).catch(() => {}); // the page says that the broker does not answer
  client.addEventListener("change", update);
  listener.addEventListener("change", update);
  return element("div", { class: "connect" },
    element("div", { class: "inline" }, field("Client", client), field("Listener", listener)),
    shown, buttons);
}
