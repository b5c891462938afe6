// How to connect: a snippet for each client, with this broker's address in it.

import { copier, element, field, select } from "./elements.js";

/** Snippets; lines after `sasl|`, `tls|` or `secure|` are only for listeners of that kind. */
const CLIENTS = {
  "Python: confluent-kafka": `from confluent_kafka import Producer

producer = Producer({
    "bootstrap.servers": "$servers",
secure|    "security.protocol": "$protocol",
sasl|    "sasl.mechanism": "$mechanism",
sasl|    "sasl.username": "USER",
sasl|    "sasl.password": "PASSWORD",
tls|    "ssl.ca.location": "ca.pem",
})
producer.produce("orders", b"a book")
producer.flush()`,
  "Python: kafka-python": `from kafka import KafkaProducer

producer = KafkaProducer(
    bootstrap_servers="$servers",
    security_protocol="$protocol",
sasl|    sasl_mechanism="$mechanism",
sasl|    sasl_plain_username="USER",
sasl|    sasl_plain_password="PASSWORD",
tls|    ssl_cafile="ca.pem",
)
producer.send("orders", b"a book")
producer.flush()`,
  "Java: properties": `bootstrap.servers=$servers
security.protocol=$protocol
sasl|sasl.mechanism=$mechanism
sasl|sasl.jaas.config=org.apache.kafka.common.security.$javaModule required \\
sasl|  username="USER" password="PASSWORD";
tls|ssl.truststore.type=PEM
tls|ssl.truststore.location=ca.pem`,
  "Go: franz-go": `client, err := kgo.NewClient(
	kgo.SeedBrokers($list),
sasl|	kgo.SASL($goMechanism),
tls|	kgo.DialTLSConfig(&tls.Config{RootCAs: authorities}),
)`,
  "Node: kafkajs": `import { Kafka } from "kafkajs";

const kafka = new Kafka({
  brokers: [$list],
sasl|  sasl: { mechanism: "$lowerMechanism", username: "USER", password: "PASSWORD" },
tls|  ssl: { ca: [readFileSync("ca.pem", "utf8")] },
});`,
  "Shell: kcat": `kcat -L -b $servers
secure| -X security.protocol=$protocol
sasl| -X sasl.mechanism=$mechanism -X sasl.username=USER -X sasl.password=PASSWORD
tls| -X ssl.ca.location=ca.pem`,
};

function snippet(client, { security_protocol: protocol, sasl_mechanisms: mechanisms, bootstrap_servers: servers }) {
  const is = { sasl: mechanisms.length > 0, tls: protocol.endsWith("SSL"), secure: protocol !== "PLAINTEXT" };
  const mechanism = mechanisms.includes("PLAIN") ? "PLAIN" : mechanisms[0] ?? "PLAIN";
  const isPlain = mechanism === "PLAIN";
  const user = '.Auth{User: "USER", Pass: "PASSWORD"}.As';
  const values = {
    servers, protocol, mechanism, lowerMechanism: mechanism.toLowerCase(), list: `"${servers.split(",").join('", "')}"`,
    javaModule: isPlain ? "plain.PlainLoginModule" : "scram.ScramLoginModule",
    goMechanism: isPlain ? `plain${user}Mechanism()` : `scram${user}Sha${mechanism.endsWith("512") ? "512" : "256"}Mechanism()`,
  };
  const lines = CLIENTS[client].split("\n").map((line) => line.match(/^(?:(sasl|tls|secure)\|)?(.*)$/))
    .filter(([, kind]) => !kind || is[kind]).map(([, , text]) => text.replace(/\$(\w+)/g, (_, name) => values[name]));
  return lines.join(client === "Shell: kcat" ? " \\\n " : "\n");
}

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
    shown.textContent = snippet(client.value, chosen);
    buttons.replaceChildren(copier(shown.textContent));
  }
  page.call("GET", "listeners").then((response) => {
    listeners = response.listeners;
    listener.append(...listeners.map(({ name }) => element("option", { value: name, text: name })));
    update();
  }).catch(() => {}); // the page says that the broker does not answer
  for (const control of [client, listener]) control.addEventListener("change", update);
  return element("div", { class: "connect" },
    element("div", { class: "inline" }, field("Client", client), field("Listener", listener)),
    shown, buttons);
}
