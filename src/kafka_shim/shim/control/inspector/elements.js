// Elements, forms and texts that several views need.

/** Return text with escapes for characters that cannot be seen, and those that turn others around. */
export const visible = (text) => String(text).replace(
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text" || name === "title") made[name === "text" ? "textContent" : "title"] = visible(value ?? "");
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : visible(child))));
  return made;
}

export const badge = (isGood, text) => element("span", { class: isGood ? "good" : "bad", text });

export const button = (text, onclick, attributes = {}) =>
  element("button", { type: "button", text, onclick, ...attributes });

export const capital = (name) =>
  name.split("_").map((word) => word[0] + word.slice(1).toLowerCase()).join("");

/** `2026-11-22 14:03:07.123 UTC`, or without the day. */
export const instant = (ms) =>
  (ms < 0 ? "none" : `${new Date(ms).toISOString().slice(0, 23).replace("T", " ")} UTC`);
/** Return a time that was typed as it is shown, in UTC, in ms. */
export const timeOf = (typed) => Date.parse(`${typed}Z`);
export const clockTime = (us) => new Date(us / 1000).toISOString().slice(11, 23);

export function duration(us) {
  if (us === null || us === undefined) return "";
  if (us < 1000) return `${us} µs`;
  return us < 1_000_000 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1_000_000).toFixed(2)} s`;
}

/** A link to what an API, an error or an operation means, in a page of the broker. */
export const docLink = (name, text = name) =>
  element("a", { class: "doc", href: `inspector/reference#${name}`, target: "_blank", title: `What ${name} means`, text });

/** A button that copies a text. */
export const copier = (text, label = "Copy") => button(label, async ({ target }) => {
  await navigator.clipboard.writeText(text);
  target.textContent = "Copied";
});

/** A link that downloads a text as a file. */
export const downloadLink = (text, name) => element("a", {
  class: "button", href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name, text: "Download",
});

let fields = 0;

/** Return a label over an input, a select or a textarea. */
export function field(label, control) {
  control.id ||= `field-${fields += 1}`;
  return element("div", { class: "field" }, element("label", { for: control.id, text: label }), control);
}

export const input = (name, attributes = {}) =>
  element("input", { name, autocomplete: "off", spellcheck: "false", ...attributes });

export function select(name, options, attributes = {}) {
  const made = options.map((option) => {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    return element("option", { value, text });
  });
  return element("select", { name, ...attributes }, ...made);
}

/** Return a form in one line; `submit` gets its values by name, and the form. */
export function form(id, label, parts, action, submit) {
  const made = element("form", { id, class: "inline", "aria-label": label }, ...parts, element("button", { type: "submit", text: action }));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(Object.fromEntries(new FormData(made)), made);
  });
  return made;
}

/** `1 topic`, `2 topics`. */
export const counted = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;

/** Return a small table, for details and the overview. */
export function table(caption, columns, rows) {
  const head = element("tr", {}, ...columns.map((text) => element("th", { scope: "col", text })));
  const lines = rows.map((cells) => element("tr", {}, ...cells.map((content) => {
    const cell = element("td");
    cell.append(content instanceof Node ? content : visible(content));
    return cell;
  })));
  return element("div", { class: "scroll" }, element("table", { class: "small" },
    element("caption", { text: caption }), element("thead", {}, head),
    element("tbody", { class: "details" }, ...lines)));
}

export const section = (title, ...nodes) =>
  element("section", {}, element("h3", { text: title }), ...nodes);

export const json = (value) => element("pre", { text: JSON.stringify(value, null, 2) });

/** Show bytes in lines of sixteen: position, hexadecimal, text. */
export const hexdump = (hex) => element("pre", { class: "hex", text: (hex.match(/.{1,32}/g) ?? []).map((line, at) => {
  const bytes = line.match(/../g);
  const text = bytes.map((byte) => String.fromCharCode(parseInt(byte, 16)).replace(/[^ -~]/, "."));
  return `${(at * 16).toString(16).padStart(4, "0")}  ${bytes.join(" ").padEnd(48)} ${text.join("")}`;
}).join("\n") });
