// Calls of the control API, with its token if it requires one.

/** The broker has rejected a call; the message is its reason. */
export class CallError extends Error {}

const dialog = document.getElementById("token-dialog");
let entered = null; // resolves when the user has entered a token, or closed the dialog
let isDeclined = false;

export async function callApi(method, path, body) {
  const token = sessionStorage.getItem("token");
  const headers = { "X-Requested-By": "inspector" };
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  if (response.status === 401) {
    if (sessionStorage.getItem("token") === token) isDeclined ||= !await askForToken(token);
    if (isDeclined) throw new CallError("The control API requires its token; reload the page to enter it.");
    return callApi(method, path, body);
  }
  const content = await response.json();
  if (!response.ok) throw new CallError(content.error);
  return content;
}

/** Show the form for the token, once for all calls; return whether one was entered. */
function askForToken(rejected) {
  document.getElementById("wrong-token").hidden = !rejected;
  entered ??= new Promise((resolve) => {
    dialog.returnValue = "";
    dialog.showModal();
    dialog.addEventListener("close", () => {
      entered = null;
      if (dialog.returnValue === "enter") sessionStorage.setItem("token", dialog.querySelector("input").value);
      dialog.querySelector("input").value = "";
      resolve(dialog.returnValue === "enter");
    }, { once: true });
  });
  return entered;
}
