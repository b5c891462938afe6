// The table of a view: filter, order and drawing.

import { element } from "./elements.js";

export const SHOWN = 500;
const FIELD_NAMES = { connection: "connection", broker: "node_id", client: "client_id", principal: "principal", api: "api" };

const texts = new WeakMap(); // the text that the filter searches, by row
const cellsByRow = new WeakMap();

function cellsOf(view, row) {
  if (!cellsByRow.has(row)) cellsByRow.set(row, view.cells(row));
  return cellsByRow.get(row);
}

const textOfCell = (cell) => String(cell.text ?? cell.node?.textContent ?? "");

/** Return the text of the row's cells and of its decoded request. */
function textOf(view, row) {
  if (!texts.has(row)) {
    const request = row.request ? JSON.stringify(row.request) : "";
    texts.set(row, `${cellsOf(view, row).map(textOfCell).join(" ")} ${request}`.toLowerCase());
  }
  return texts.get(row);
}

/** Return the condition of a word of the filter: `orders`, `-orders`, `client:shop`. */
function condition(view, word) {
  if (word[0] === "-" && word.length > 1) {
    const unwanted = condition(view, word.slice(1));
    return (row) => !unwanted(row);
  }
  const [name, ...rest] = word.split(":");
  const field = rest.length && FIELD_NAMES[name];
  const value = rest.join(":");
  return (row) => (field && field in row
    ? String(row[field] ?? "").toLowerCase() === value : textOf(view, row).includes(word));
}

/** Return the rows with all these words. Spaces in quotation marks belong to a word. */
export function matching(view, rows, filter) {
  const words = filter.toLowerCase().match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
  const conditions = words.filter((word) => word !== "-").map((word) => condition(view, word.replaceAll('"', "")));
  return conditions.length ? rows.filter((row) => conditions.every((holds) => holds(row))) : rows;
}

/** Return the rows from a time to another, in µs; all without them. */
export const during = (rows, [from, to]) => (to ? rows.filter((row) => row.time_us >= from && row.time_us < to) : rows);

/** Return rows in the order of a column; with a minus, the largest first. */
export function sorted(view, rows, sort) {
  const at = view.columns.indexOf(sort.replace(/^-/, ""));
  if (at < 0) return rows;
  const value = (row) => {
    const cell = cellsOf(view, row)[at];
    return cell.sort ?? cell.text ?? textOfCell(cell);
  };
  const sign = sort[0] === "-" ? -1 : 1;
  const compare = (one, other) => (typeof one === "number" && typeof other === "number"
    ? one - other : String(one ?? "").localeCompare(String(other ?? ""), "en", { numeric: true }));
  return rows.map((row) => [value(row), row]).sort(([one], [other]) => sign * compare(one, other)).map(([, row]) => row);
}

/**
 * Make the children of a node those of `rows`, by key: a child whose row has not changed stays as it
 * is, with its focus and selection.
 */
export function sync(parent, rows, key, make) {
  const keys = rows.map(key);
  const wanted = new Set(keys);
  const present = new Map();
  for (const child of [...parent.children]) {
    if (wanted.has(child.syncKey)) present.set(child.syncKey, child);
    else child.remove();
  }
  let next = parent.firstElementChild;
  rows.forEach((row, at) => {
    let child = present.get(keys[at]);
    if (!child || (child.syncRow !== row && child.syncText !== JSON.stringify(row))) {
      const made = Object.assign(make(row), { syncKey: keys[at], syncText: JSON.stringify(row) });
      const hadFocus = child?.contains(document.activeElement);
      if (child === next) next = next?.nextElementSibling ?? null;
      child?.remove();
      child = made;
      parent.insertBefore(child, next);
      if (hadFocus) child.focus();
    } else if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
    child.syncRow = row;
  });
}

/** Draw a part again if its data has changed. */
export const syncPart = (parent, data, make) => sync(parent, [data], () => "part", make);

/** Draw rows into the page's table; `open` is called with the row that the user chooses. */
export function drawRows(view, rows, { selected, open, sort, sortBy }) {
  const table = document.getElementById("rows");
  const { columns } = view;
  const extra = columns.map((name) => (view.extra?.includes(name) ? "extra" : view.rare?.includes(name) ? "rare" : ""));
  syncPart(table.tHead, [view.title, columns, sort], () => head(columns, extra, sort, sortBy));
  table.caption.textContent = view.title;
  const body = table.tBodies[0];
  if (body.syncView !== view) body.replaceChildren();
  body.syncView = view;
  sync(body, rows, view.key ?? JSON.stringify, (row) => line(view, row, extra, open));
  for (const child of body.children) {
    if (view.key && child.syncKey === selected) child.setAttribute("aria-current", "true");
    else child.removeAttribute("aria-current");
  }
  table.hidden = !rows.length;
}

export const focusRow = (key) => document.querySelector(`tr[data-key="${CSS.escape(key)}"]`)?.focus();

function head(columns, extra, sort, sortBy) {
  return element("tr", {}, ...columns.map((text, at) => {
    if (!text) return element("td");
    const order = sort === text ? "ascending" : sort === `-${text}` ? "descending" : null;
    return element("th", { scope: "col", class: extra[at], "aria-sort": order },
      element("button", { type: "button", text, onclick: () => sortBy(order === "ascending" ? `-${text}` : order ? "" : text) }));
  }));
}

function line(view, row, extra, open) {
  const cells = cellsOf(view, row).map((one, at) => cell(one, extra[at]));
  cellsByRow.delete(row); // its nodes are in the table now
  const made = element("tr", {}, ...cells);
  if (view.key) {
    made.dataset.key = view.key(row);
    made.tabIndex = 0;
    made.addEventListener("click", (event) => {
      if (!event.target.closest("button, a") && !String(getSelection())) open(row);
    });
    made.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.target !== made) return;
      event.preventDefault(); // otherwise the key also presses a button of the details
      open(row);
    });
  }
  return made;
}

function cell({ text, node, sort, ...attributes }, extra) {
  if (text !== undefined && String(text).length > 20) attributes.title ??= text;
  const made = element("td", { ...attributes, class: [attributes.class, extra].filter(Boolean).join(" ") || null });
  made.append(node ?? String(text));
  return made;
}
