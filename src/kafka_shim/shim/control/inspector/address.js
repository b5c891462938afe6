// The address of what is shown: the tab, and in the query what is filtered, sorted and opened.

const FIELDS = ["filter", "denied", "each", "sort", "time", "compare", "open", "type", "host", "principal", "resource"];

export const address = { tab: "" };

/** Return the link to what is shown, with other fields; an empty field is left out. */
export function link(changes) {
  const { tab, ...fields } = { ...address, ...changes };
  const query = new URLSearchParams(FIELDS.filter((name) => fields[name]).map((name) => [name, fields[name]]));
  return `#${tab}${query.size ? `?${query}` : ""}`;
}

/** Return the link to a tab with these fields only. */
export const tabLink = (tab, fields = {}) =>
  link({ ...Object.fromEntries(FIELDS.map((name) => [name, ""])), tab, ...fields });

function read(tabs) {
  const [tab, query] = location.hash.slice(1).split("?");
  const fields = new URLSearchParams(query);
  address.tab = tabs.includes(tab) ? tab : tabs[0];
  for (const name of FIELDS) address[name] = fields.get(name) ?? "";
}

let changed = () => {};

/** Go to another address; `replace`: without a step for Back. */
export function go(changes, replace = false) {
  const target = typeof changes === "string" ? changes : link(changes);
  if (target === location.hash) return;
  history[replace ? "replaceState" : "pushState"](null, "", target);
  changed();
}

/** Call `apply` with the earlier address, now and whenever the address changes. */
export function onAddress(tabs, apply) {
  changed = () => {
    const before = { ...address };
    read(tabs);
    apply(before);
  };
  addEventListener("popstate", changed);
  changed();
}
