// The broker that `kafka-shim run` has started: where it is, and its control API.
const { KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT: servers, KAFKA_SHIM_CONTROL_URL: control } = process.env;

/** What a client needs to log in as a user of broker.yaml. */
export function settings(user) {
  return {
    brokers: servers.split(","),
    sasl: { mechanism: "plain", username: user, password: `${user}-secret` },
  };
}

export async function get(path) {
  return answer(await fetch(control + path));
}

export async function post(path, body = null) {
  return answer(await fetch(control + path, { method: "POST", body: JSON.stringify(body) }));
}

async function answer(response) {
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.url}: ${body.error}`);
  return body;
}
