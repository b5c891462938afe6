// What a change of ACLs would do, and in what two principals differ, before anything changes.

import { badge, counted, element, table } from "./elements.js";

const LINES = 10;

const names = ({ existing, existing_count: count }) => (count
  ? `now: ${existing.join(", ")}${count > existing.length ? ` and ${count - existing.length} more` : ""}` : "");

function lines(rows, line) {
  const shown = rows.slice(0, LINES).map((row) => element("li", {}, ...line(row)));
  if (rows.length > LINES) shown.push(element("li", { class: "none", text: `and ${rows.length - LINES} more` }));
  return element("ul", {}, ...shown);
}

/** Show who gains and who loses what, for all names and for those that exist, and what was observed. */
export function previewed({ changes, observed, observed_count: count, requests, warnings }) {
  const warned = warnings.map((text) => element("p", { class: "bad", text }));
  if (!changes.length) return element("div", {}, ...warned, element("p", { text: "Nobody gains or loses anything." }));
  const seen = element("p", { text: count
    ? `Of the last ${counted(requests, "request")}, these would be decided otherwise:`
    : `None of the last ${counted(requests, "request")} would be decided otherwise.` });
  return element("div", {}, ...warned,
    lines(changes, (row) => [badge(row.gained, row.gained ? "gains" : "loses"), ` ${row.principal}: ${row.access} `,
      element("span", { class: "none", text: names(row), title: row.example })]),
    seen,
    lines(observed, (row) => [badge(row.allowed, row.allowed ? "would be allowed" : "would be denied"),
      ` ${row.principal} from ${row.host}: ${row.access}, ${counted(row.requests, "request")}`]));
}

/** Load what a change would do into a node; of two calls, the later one counts. */
export async function preview(page, container, change) {
  const call = container.previewCall = {};
  const shown = await page.call("POST", "acls/preview", change).then(previewed, (error) => element("p", { class: "bad", text: error.message }));
  if (container.previewCall === call) container.replaceChildren(shown);
}

/** Show what only one of two principals may, and why. */
export function differences({ first, second, differences: rows }) {
  if (!rows.length) return element("p", { text: `${first} and ${second} may do exactly the same.` });
  return table(`${first} and ${second}`, ["Only", "may", `${first}, because of`, `${second}, because of`],
    rows.map((row) => [row.only, element("span", {}, `${row.access} `, element("span", { class: "none", text: names(row) })),
      ...row.because]));
}
