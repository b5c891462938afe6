// The table of a view: filter, order and drawing.

import { element, visible } from "./elements.js";

export const SHOWN = 500;
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

const isMeasure = (column) => /UTC|Gap|Latency/.test(column);

/** Return what can stand before a colon: columns, and fields of the view; each returns a row's values. */
function fieldsOf(view) {
  const columns = view.columns.map((title, at) => [title.toLowerCase(), (row) => textOfCell(cellsOf(view, row)[at])]);
  return { ...Object.fromEntries(columns.filter(([name]) => /^[a-z]+$/.test(name) && name !== "gap" && name !== "latency")), ...view.fields };
}

/** Return whether a row has the number: alone, not as a part of a name, a time or a duration. */
function hasNumber(view, row, number) {
  const texts = cellsOf(view, row).filter((_, at) => !isMeasure(view.columns[at])).map(textOfCell);
  const all = [...texts, ...row.errors ?? [], row.request ? JSON.stringify(row.request) : ""].join(" ");
  return new RegExp(`(?<![\\w.-])${number}(?![\\w.-])`).test(all);
}

const wordsOf = (filter) => (filter.match(/(?:"[^"]*"|[^\s"])+/g) ?? []).filter((word) => word !== "-");

/** Return the parts of a word of the filter: `orders`, `-orders`, `client:shop`, `"text: of any kind"`. */
function partsOf(word) {
  const [, minus, name, rest] = word.match(/^(-?)(?:([A-Za-z_]+):(?=.))?(.*)$/s);
  return { isUnwanted: Boolean(minus && rest), name, value: rest.replaceAll('"', "").toLowerCase() };
}

const isUnknown = (fields, name) => Boolean(name) && name === name.toLowerCase() && !fields[name];

/** Return the condition of a word. `User:bob` is text: names of fields have no capitals. */
function condition(view, fields, word) {
  const { isUnwanted, name, value } = partsOf(word);
  if (isUnwanted) {
    const unwanted = condition(view, fields, word.slice(1));
    return (row) => !unwanted(row);
  }
  const field = fields[name];
  if (field) return (row) => [field(row, value) ?? ""].flat().some((one) => String(one).toLowerCase() === value);
  if (!name && view.words?.[value]) return view.words[value];
  if (!name && /^\d+$/.test(word)) return (row) => hasNumber(view, row, value);
  if (isUnknown(fields, name)) return () => false; // a text names the fields instead
  const text = name ? `${name.toLowerCase()}:${value}` : value;
  return (row) => textOf(view, row).includes(text);
}

/** Return the rows with all these words. Spaces in quotation marks belong to a word. */
export function matching(view, rows, filter) {
  const fields = fieldsOf(view);
  const conditions = wordsOf(filter).map((word) => condition(view, fields, word));
  return conditions.length ? rows.filter((row) => conditions.every((holds) => holds(row))) : rows;
}

/** Return a text about fields of the filter that the view does not have; empty if it has all. */
export function unknownFieldsText(view, filter) {
  const fields = fieldsOf(view);
  const unknown = wordsOf(filter).map((word) => partsOf(word).name).filter((name) => isUnknown(fields, name));
  return unknown.length
    ? `There is no field ${unknown.join(", ")} here; there are ${Object.keys(fields).join(", ")}. Text with a colon is written in quotation marks.` : "";
}

/** Return how the last word of the filter can go on, as whole filters. */
export function completions(view, rows, filter) {
  const [, before, minus, word] = filter.match(/^(.*?)(-?)((?:"[^"]*"?|[^\s"])*)$/s);
  const fields = fieldsOf(view);
  const { name, value } = partsOf(word.endsWith(":") ? `${word} ` : word);
  const quoted = (text) => (/\s/.test(text) ? `"${text}"` : text);
  const found = fields[name]
    ? [...new Set(rows.slice(0, SHOWN).flatMap((row) => fields[name](row, "") ?? ""))].filter((one) => one !== "").map((one) => `${name}:${quoted(String(one))}`)
    : [...Object.keys(fields).map((one) => `${one}:`), ...Object.keys(view.words ?? {})];
  const typed = (name ? `${name}:${value.trim()}` : value).toLowerCase();
  return found.filter((one) => one.toLowerCase().startsWith(typed)).slice(0, 20).map((one) => before + minus + one);
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
  made.append(node ?? visible(text));
  return made;
}
