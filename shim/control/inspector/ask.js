// Calls of the control API, with the token that the broker may want.

export class Refused extends Error {}

let pauses = () => {};

/** What to do when nobody gives a token: nothing is asked until somebody goes on. */
export function whenWithoutToken(pause) {
  pauses = pause;
}

export async function ask(method, path, body) {
  const token = sessionStorage.getItem("token");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { method, headers, body: body && JSON.stringify(body) };
  const response = await fetch(path, options);
  if (response.status === 401) {
    if (sessionStorage.getItem("token") === token) newToken(); // else another question got it
    return ask(method, path, body);
  }
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error);
  return answer;
}

function newToken() {
  const given = prompt("This broker wants its control token:");
  if (given === null) {
    pauses();
    throw new Refused("without the control token there is nothing to see");
  }
  sessionStorage.setItem("token", given);
}
