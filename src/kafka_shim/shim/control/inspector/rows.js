// The table of a view: filter and drawing.

import { element } from "./elements.js";

export const SHOWN = 500;

const texts = new WeakMap(); // the text that the filter searches, by row

/** Return the text of the row's cells and of its decoded request. */
function textOf(view, row) {
  if (!texts.has(row)) {
    const cells = view.cells(row).map((cell) => cell.text ?? cell.node.textContent);
    const request = row.request ? JSON.stringify(row.request) : "";
    texts.set(row, `${cells.join(" ")} ${request}`.toLowerCase());
  }
  return texts.get(row);
}

export function matching(view, rows, filter) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = words.filter((word) => word[0] !== "-");
  const unwanted = words.filter((word) => word[0] === "-").map((word) => word.slice(1)).filter(Boolean);
  if (!wanted.length && !unwanted.length) return rows;
  return rows.filter((row) => {
    const text = textOf(view, row);
    return wanted.every((word) => text.includes(word)) && !unwanted.some((word) => text.includes(word));
  });
}

/**
 * Draw up to `count` rows into the page's table; `open` is called with the row that the user chooses.
 * Return how many are drawn.
 */
export function drawRows(view, found, data, { selected, open, count }) {
  const focused = document.activeElement?.dataset?.key;
  const rows = found.slice(0, count);
  const columns = typeof view.columns === "function" ? view.columns(data) : view.columns;
  const head = element("tr", {}, ...columns.map((text) => (
    text ? element("th", { scope: "col", text }) : element("td"))));
  const table = document.getElementById("rows");
  table.replaceChildren(
    element("caption", { text: view.title }),
    element("thead", {}, head),
    element("tbody", {}, ...rows.map((row) => line(view, row, selected, open))),
  );
  table.hidden = !rows.length;
  if (focused) focus(focused);
  return rows.length;
}

export function focus(key) {
  document.querySelector(`tr[data-key="${CSS.escape(key)}"]`)?.focus();
}

function line(view, row, selected, open) {
  const made = element("tr", {}, ...view.cells(row).map(cell));
  if (view.key) {
    made.dataset.key = view.key(row);
    made.tabIndex = 0;
    if (selected === made.dataset.key) made.setAttribute("aria-current", "true");
    made.addEventListener("click", (event) => {
      if (!event.target.closest("button")) open(row);
    });
    made.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target === made) open(row);
    });
  }
  return made;
}

function cell({ text, node, heading, ...attributes }) {
  const made = element(heading ? "th" : "td", heading ? { scope: "row" } : attributes);
  made.append(node ?? String(text));
  return made;
}
