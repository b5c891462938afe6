// Calls of the control API, with its token if it requires one.

export class Refused extends Error {}

let pauses = () => {};

/** Set what happens when the user gives no token: the page pauses until the user resumes. */
export function whenWithoutToken(pause) {
  pauses = pause;
}

export async function ask(method, path, body) {
  const token = sessionStorage.getItem("token");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const options = { method, headers, body: body && JSON.stringify(body) };
  const response = await fetch(path, options);
  if (response.status === 401) {
    if (sessionStorage.getItem("token") === token) newToken(); // otherwise another call has renewed it
    return ask(method, path, body);
  }
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer.error);
  return answer;
}

function newToken() {
  const given = prompt("Control token (--control-token) of this broker:");
  if (given === null) {
    pauses();
    throw new Refused("the control API requires its token; choose Resume to enter it");
  }
  sessionStorage.setItem("token", given);
}
