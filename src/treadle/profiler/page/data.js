"use strict";
// What the page shows: facts as JSON and events as columns, both packed; and how numbers read.

const data = {};
const view = { from: 0, to: 1, range: null, chosen: -1, found: [], foundSet: null };

async function unpack(id) {
  const text = document.getElementById(id).textContent.trim();
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function readData() {
  Object.assign(data, JSON.parse(new TextDecoder().decode(await unpack("data-facts"))));
  const buffer = await unpack("data-events");
  let at = 0;
  for (const [name, Kind] of [
    ["start", Float64Array], ["length", Float64Array], ["own", Float64Array], ["run", Float64Array], ["name", Uint32Array],
    ["parent", Int32Array], ["detail", Int32Array], ["lane", Uint16Array],
    ["kind", Uint8Array], ["depth", Uint8Array],
  ]) {
    data[name] = new Kind(buffer, at, data.count);
    at += data.count * Kind.BYTES_PER_ELEMENT;
  }
  data.flows = new Int32Array(await unpack("data-flows")); // source, target, source, target ...
  data.kernel = data.kinds.indexOf("kernel");
  data.lasts = 1;
  for (let e = 0; e < data.count; e++) data.lasts = Math.max(data.lasts, data.start[e] + data.length[e]);
  data.rows = rowsOfLanes();
  view.to = data.lasts;
}

// Events of each lane and depth, which lie one after the other in time.
function rowsOfLanes() {
  const lanes = data.lanes.map(() => []);
  for (let e = 0; e < data.count; e++) {
    const rows = lanes[data.lane[e]];
    while (rows.length <= data.depth[e]) rows.push([]);
    rows[data.depth[e]].push(e);
  }
  return lanes.map((rows) => rows.map((row) => Int32Array.from(row)));
}

const nameOf = (e) => data.names[data.name[e]];
const kindOf = (e) => data.kinds[data.kind[e]];
const detailOf = (e) => (data.detail[e] < 0 ? null : data.details[data.detail[e]]);
const deviceOf = (e) => data.lanes[data.lane[e]].device;

// The least time in which a device could do some work, in nanoseconds; 0 where nobody measured.
function leastTime(device, dtype, flops, bytes) {
  const plain = data.ceilings[device];
  const [, pace] = data.ceilings[`${device} ${dtype}`] ?? plain ?? [];
  return plain ? 1e9 * Math.max(bytes / plain[0], flops / pace) : 0;
}

// ---- numbers as people read them

// A counter's unit may have a prefix of its own.
const counted = (value, unit) => (unit.startsWith("G") ? quantity(value * 1e9, unit.slice(1)) : quantity(value, unit));

function quantity(value, unit) {
  if (!Number.isFinite(value)) return "–";
  for (const prefix of ["", "k", "M", "G", "T"]) {
    if (Math.abs(value) < 1000 || prefix === "T") {
      const digits = prefix === "" && Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3);
      return `${digits} ${prefix}${unit}`;
    }
    value /= 1000;
  }
}

function duration(ns) {
  if (ns >= 1e9) return `${(ns / 1e9).toPrecision(4)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toPrecision(4)} ms`;
  if (ns >= 1e3) return `${(ns / 1e3).toPrecision(4)} µs`;
  return `${ns.toFixed(0)} ns`;
}

const percent = (part) => (Number.isFinite(part) ? `${(100 * part).toFixed(1)}%` : "–");
const shortSite = (site) => site.split("/").slice(-2).join("/");

// ---- elements

function make(tag, attributes = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null) found.setAttribute(name, value);
  }
  found.append(...children);
  return found;
}

const byId = (id) => document.getElementById(id);

// Buttons of which one is pressed.
function choices(id, names, pressed, choose) {
  byId(id).replaceChildren(...names.map(([value, shown]) =>
    make("button", { "aria-pressed": String(value === pressed), onclick: () => choose(value) }, shown)));
}
