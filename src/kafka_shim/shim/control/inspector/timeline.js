// The time line over requests and decisions: their rate, denials and latency; dragging selects a time.

import { address, go } from "./address.js";
import { button, clockTime, counted, duration, element } from "./elements.js";
import { syncPart } from "./rows.js";

const BARS = 120;
const HEIGHT = 40;
const container = document.getElementById("timeline");
let shown = null; // the first time, and the time of one bar

function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Draw rows, newest first: a bar for each part of their time. */
export function drawTimeline(rows, isDenied) {
  container.hidden = rows.length < 2;
  if (container.hidden) return;
  const first = rows.at(-1).time_us;
  const width = Math.max((rows[0].time_us + 1 - first) / BARS, 1);
  shown = { first, width };
  const bars = Array.from({ length: BARS }, () => ({ requests: 0, denied: 0, latency: 0 }));
  for (const row of rows) {
    const bar = bars[Math.min(Math.floor((row.time_us - first) / width), BARS - 1)];
    bar.requests += 1;
    if (isDenied(row)) bar.denied += 1;
    bar.latency = Math.max(bar.latency, row.latency_us ?? 0);
  }
  syncPart(container, [bars, first, address.time], () => drawn(bars));
}

function drawn(bars) {
  const most = Math.max(...bars.map((bar) => bar.requests));
  const slowest = Math.max(...bars.map((bar) => bar.latency));
  const { first, width } = shown;
  const rect = (at, size, kind, length = 1) => svg("rect", { x: at, y: HEIGHT - size, width: length, height: size, class: kind });
  const scaled = (count) => (count ? Math.max(count / most * HEIGHT, 1) : 0);
  const [from, to] = address.time ? address.time.split("-").map((us) => (us - first) / width) : [0, 0];
  const rate = most / (width / 1e6);
  const words = `${counted(bars.reduce((sum, bar) => sum + bar.requests, 0), "row")} in ${duration(Math.round(width * BARS))}, at most ${rate.toFixed(rate < 10 ? 1 : 0)}/s; `
    + `${bars.reduce((sum, bar) => sum + bar.denied, 0)} denied${slowest ? `; latency up to ${duration(slowest)}` : ""}`;
  const line = bars.map((bar, at) => `${at + 0.5},${HEIGHT - (slowest ? bar.latency / slowest : 0) * HEIGHT}`).join(" ");
  return element("div", {}, svg("svg", { viewBox: `0 0 ${BARS} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
    rect(Math.max(from, 0), HEIGHT, "selected", Math.max(to - Math.max(from, 0), 0)),
    ...bars.flatMap((bar, at) => [rect(at, scaled(bar.requests), "rate"), rect(at, scaled(bar.denied), "denied")]),
    ...(slowest ? [svg("polyline", { points: line, class: "latency" })] : [])),
  element("p", {}, address.time ? `${address.time.split("-").map((us) => clockTime(Number(us))).join(" to ")} UTC of ` : "", words, " · ",
    address.time ? button("All times", () => go({ time: "" })) : element("span", { class: "none", text: "drag to select a time" })));
}

const barAt = (event) => {
  const { left, width } = container.querySelector("svg").getBoundingClientRect();
  return Math.min(Math.max(Math.floor((event.clientX - left) / width * BARS), 0), BARS - 1);
};
let start = null;
container.addEventListener("pointerdown", (event) => {
  start = event.target.closest("svg") && { bar: barAt(event), ...shown };
});
addEventListener("pointerup", (event) => {
  if (!start) return;
  const [low, high] = [start.bar, barAt(event)].sort((one, other) => one - other);
  go({ time: `${Math.floor(start.first + low * start.width)}-${Math.ceil(start.first + (high + 1) * start.width)}`, open: "" });
  start = null;
});
