// How the timeline is drawn: bands of lanes and counters, what of them is visible, arrows.

const LABEL = 150, RULER = 24, ROW = 18, GAP = 8, CHART = 46, LETTER = 6.1;
const PALE = new Set(["span", "module", "phase", "op", "call", "realize"]); // what contains others

const bands = []; // { top, height, title | lane | counter }
let canvas, pen, width = 0, height = 0, scrolled = 0, theme = {};

function layOutBands() {
  bands.length = 0;
  let top = RULER + 4, device = null;
  data.lanes.forEach((lane, number) => {
    if (lane.device !== device) {
      device = lane.device;
      bands.push({ top, height: ROW, title: device });
      top += ROW;
    }
    const tall = Math.max(1, data.rows[number].length) * ROW;
    bands.push({ top, height: tall, lane: number, label: lane.name });
    top += tall + GAP;
  });
  if (data.counters.length) {
    bands.push({ top, height: ROW, title: "counters" });
    top += ROW;
  }
  for (const counter of data.counters) {
    let most = 0;
    for (const value of counter.values) most = Math.max(most, value);
    bands.push({ top, height: CHART, counter, most, label: counter.name });
    top += CHART + GAP;
  }
  return top;
}

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ground", "panel", "line", "text", "soft", "accent", "mark", "chosen"]) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
  theme.dark = document.documentElement.dataset.theme === "dark";
}

const hues = new Map();
function hueOf(name) {
  if (!hues.has(name)) {
    let hash = 2166136261;
    for (const letter of name) hash = Math.imul(hash ^ letter.codePointAt(0), 16777619);
    hues.set(name, ((hash >>> 8) % 24) * 15);
  }
  return hues.get(name);
}

function colourOf(name, kind = "kernel") {
  if (kind === "gap") return theme.dark ? "#4a3030" : "#f3dcd4";
  const pale = PALE.has(kind);
  const light = theme.dark ? (pale ? 27 : 38) : pale ? 88 : 74;
  return `hsl(${hueOf(name)} ${pale ? 26 : 48}% ${light}%)`;
}

const xOf = (time) => LABEL + ((time - view.from) / (view.to - view.from)) * (width - LABEL);
const timeAt = (x) => view.from + ((x - LABEL) / (width - LABEL)) * (view.to - view.from);

function draw() {
  pen.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  pen.fillStyle = theme.ground;
  pen.fillRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "middle";
  drawGrid();
  pen.save();
  pen.beginPath();
  pen.rect(LABEL, 0, width - LABEL, height);
  pen.clip();
  for (const band of bands) {
    const y = band.top - scrolled;
    if (y > height || y + band.height < 0) continue;
    if (band.counter) drawCounter(band, y);
    else if (band.lane !== undefined) data.rows[band.lane].forEach((row, depth) => drawRow(row, y + depth * ROW));
  }
  drawArrows();
  drawRange();
  pen.restore();
  drawLabels();
  drawRuler();
}

// The first place in a row whose event ends after a time.
function firstAfter(row, time, low = 0) {
  let high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (data.start[row[middle]] + data.length[row[middle]] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function drawRow(row, y) {
  if (y > height || y + ROW < 0) return;
  const pixel = (view.to - view.from) / (width - LABEL);
  let k = firstAfter(row, view.from);
  while (k < row.length) {
    const e = row[k];
    if (data.start[e] > view.to) break;
    const left = Math.max(LABEL - 1, xOf(data.start[e]));
    const right = Math.min(width + 1, xOf(data.start[e] + data.length[e]));
    drawSlice(e, left, Math.max(right - left, 1), y);
    // What would fall on the same pixel is not drawn.
    k = right - left < 1 ? Math.max(k + 1, firstAfter(row, data.start[e] + pixel, k)) : k + 1;
  }
}

function drawSlice(e, left, wide, y) {
  const dim = view.foundSet && !view.foundSet.has(e);
  pen.globalAlpha = dim ? 0.22 : 1;
  pen.fillStyle = colourOf(nameOf(e), kindOf(e));
  pen.fillRect(left, y + 1, wide > 3 ? wide - 0.6 : wide, ROW - 2);
  if (wide > 24) {
    const room = Math.floor((wide - 7) / LETTER);
    const name = nameOf(e);
    pen.fillStyle = theme.text;
    pen.fillText(name.length > room ? `${name.slice(0, Math.max(1, room - 1))}…` : name, left + 4, y + ROW / 2 + 0.5);
  }
  pen.globalAlpha = 1;
  if (e === view.chosen) {
    pen.strokeStyle = theme.chosen;
    pen.lineWidth = 2;
    pen.strokeRect(left + 1, y + 1, Math.max(wide - 2, 2), ROW - 2);
  }
}

function drawCounter(band, y) {
  const { times, values } = band.counter;
  const up = (value) => y + band.height - (band.height - 4) * (band.most ? value / band.most : 0);
  pen.beginPath();
  pen.moveTo(xOf(times[0]), y + band.height);
  times.forEach((time, k) => {
    if (k) pen.lineTo(xOf(time), up(values[k - 1]));
    pen.lineTo(xOf(time), up(values[k]));
  });
  pen.lineTo(xOf(times[times.length - 1]), y + band.height);
  pen.fillStyle = `hsl(${hueOf(band.counter.name)} 45% ${theme.dark ? 45 : 60}% / .45)`;
  pen.fill();
}

// Arrows to and from the chosen event.
function drawArrows() {
  if (view.chosen < 0) return;
  pen.strokeStyle = theme.accent;
  pen.fillStyle = theme.accent;
  pen.lineWidth = 1.4;
  for (let k = 0; k < data.flows.length; k += 2) {
    const source = data.flows[k], target = data.flows[k + 1];
    if (source !== view.chosen && target !== view.chosen) continue;
    const [x0, y0] = spotOf(source), [x1, y1] = spotOf(target);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + 30, y0, x1 - 30, y1, x1, y1);
    pen.stroke();
    pen.beginPath();
    pen.arc(x1, y1, 3, 0, 7);
    pen.fill();
  }
}

function spotOf(e) {
  const band = bands.find((each) => each.lane === data.lane[e]);
  return [xOf(data.start[e]), band.top - scrolled + (data.depth[e] + 0.5) * ROW];
}

function drawRange() {
  if (!view.range) return;
  const [left, right] = view.range.map(xOf);
  pen.globalAlpha = 0.28;
  pen.fillStyle = theme.soft;
  pen.fillRect(LABEL, 0, Math.max(0, left - LABEL), height);
  pen.fillRect(right, 0, Math.max(0, width - right), height);
  pen.globalAlpha = 1;
}

function drawLabels() {
  pen.fillStyle = theme.panel;
  pen.fillRect(0, 0, LABEL - 1, height);
  pen.fillStyle = theme.line;
  pen.fillRect(LABEL - 1, 0, 1, height);
  for (const band of bands) {
    const y = band.top - scrolled;
    pen.font = band.title ? "600 12px system-ui, sans-serif" : "11px system-ui, sans-serif";
    pen.fillStyle = band.title ? theme.text : theme.soft;
    pen.fillText(band.title ?? band.label.slice(0, 22), band.title ? 8 : 16, y + ROW / 2);
    if (band.counter) pen.fillText(counted(band.most, band.counter.unit), 16, y + ROW * 1.4);
  }
}

function drawGrid() {
  pen.fillStyle = theme.line;
  for (const [x] of ticks()) pen.fillRect(x, 0, 1, height);
}

// Round times and where they stand.
function ticks() {
  const wish = ((view.to - view.from) / (width - LABEL)) * 110;
  const power = 10 ** Math.floor(Math.log10(wish));
  const step = [1, 2, 5, 10].map((k) => k * power).find((each) => each >= wish);
  const found = [];
  for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
    if (xOf(k * step) >= LABEL) found.push([xOf(k * step), ruled(k * step, step)]);
  }
  return found;
}

function drawRuler() {
  pen.font = "11px system-ui, sans-serif";
  pen.fillStyle = theme.panel;
  pen.fillRect(0, 0, width, RULER);
  pen.fillStyle = theme.soft;
  for (const [x, said] of ticks()) pen.fillText(said, x + 4, RULER / 2);
  pen.fillStyle = theme.line;
  pen.fillRect(0, RULER, width, 1);
}

// A time with as many digits as the step needs.
function ruled(time, step) {
  const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, each]) => view.to >= each) ?? ["ns", 1];
  const digits = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(time / size).toFixed(digits)} ${unit}`;
}
