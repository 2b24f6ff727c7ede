// Kernels against what the machine can do: flops per second over flops per byte, both logarithmic.

const plotState = { device: null };
const PLOT = { width: 1000, height: 460, left: 86, right: 20, top: 16, bottom: 46 };

function drawn(tag, attributes, ...children) {
  const found = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  found.append(...children);
  return found;
}

// A dot for each kernel of a device that has work: its totals.
function dotsOf(device) {
  const dots = new Map();
  for (let e = 0; e < data.count; e++) {
    const detail = detailOf(e);
    const moved = detail ? detail.bytes_read + detail.bytes_written : 0;
    if (data.kind[e] !== data.kernel || deviceOf(e) !== device || !moved || !detail.flops) continue;
    const key = data.detail[e];
    if (!dots.has(key)) dots.set(key, { ...emptyRow(nameOf(e)), detail, first: e });
    addTo(dots.get(key), e, detail, partInRange(e));
  }
  return [...dots.values()].filter((dot) => dot.time);
}

function showRoofline() {
  const names = [...new Set(data.lanes.map((lane) => lane.device))].filter((device) => dotsOf(device).length);
  plotState.device = names.includes(plotState.device) ? plotState.device : names[0] ?? null;
  choices("devices", names.map((name) => [name, name]), plotState.device, (name) => {
    plotState.device = name;
    showRoofline();
  });
  const dots = plotState.device === null ? [] : dotsOf(plotState.device);
  if (!dots.length) {
    byId("plot").replaceChildren(make("p", { class: "note" }, "No kernel with known work ran."));
    return;
  }
  byId("plot").replaceChildren(plotOf(dots, data.ceilings[plotState.device]));
}

function plotOf(dots, ceiling) {
  const xs = dots.map((dot) => dot.flops / dot.bytes);
  const ys = dots.map((dot) => (1e9 * dot.flops) / dot.time);
  if (ceiling) { xs.push(ceiling[1] / ceiling[0]); ys.push(ceiling[1]); }
  const across = logScale(xs, PLOT.left, PLOT.width - PLOT.right);
  const up = logScale(ys, PLOT.height - PLOT.bottom, PLOT.top);
  const svg = drawn("svg", { viewBox: `0 0 ${PLOT.width} ${PLOT.height}`, role: "img" });
  svg.append(...axes(across, up));
  if (ceiling) svg.append(roof(across, up, ceiling));
  const longest = Math.max(...dots.map((dot) => dot.time));
  for (const dot of dots.sort((a, b) => b.time - a.time)) {
    const said = `${dot.name}\n${dot.detail.sites.map(shortSite).join(", ")}\n${quantity((1e9 * dot.flops) / dot.time, "flop/s")}, ` +
      `${quantity((1e9 * dot.bytes) / dot.time, "B/s")}${dot.least ? `, ${percent(dot.least / dot.time)} of the roofline` : ""}\n${duration(dot.time)} in ${Math.round(dot.count)} runs`;
    const circle = drawn("circle", {
      cx: across(dot.flops / dot.bytes), cy: up((1e9 * dot.flops) / dot.time), r: 4 + 12 * Math.sqrt(dot.time / longest),
      fill: colourOf(dot.name), "fill-opacity": 0.75, stroke: "var(--text)", "stroke-opacity": 0.4,
    }, drawn("title", {}, said));
    circle.addEventListener("click", () => goTo(dot.first));
    svg.append(circle);
  }
  return svg;
}

// Positions of numbers between whole powers of ten.
function logScale(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)) - 0.1);
  const high = Math.ceil(Math.log10(Math.max(...values)) + 0.1);
  const at = (value) => from + ((to - from) * (Math.log10(value) - low)) / (high - low);
  return Object.assign(at, { low, high });
}

function axes(across, up) {
  const found = [];
  const grid = { stroke: "var(--line)" };
  const letters = { fill: "var(--soft)", "font-size": 12 };
  for (let k = across.low; k <= across.high; k++) {
    const x = across(10 ** k);
    found.push(drawn("line", { x1: x, x2: x, y1: PLOT.top, y2: PLOT.height - PLOT.bottom, ...grid }));
    found.push(drawn("text", { x, y: PLOT.height - PLOT.bottom + 18, "text-anchor": "middle", ...letters }, String(+(10 ** k).toPrecision(1))));
  }
  for (let k = up.low; k <= up.high; k++) {
    const y = up(10 ** k);
    found.push(drawn("line", { x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: y, y2: y, ...grid }));
    found.push(drawn("text", { x: PLOT.left - 8, y: y + 4, "text-anchor": "end", ...letters }, quantity(10 ** k, "flop/s")));
  }
  found.push(drawn("text", { x: (PLOT.left + PLOT.width) / 2, y: PLOT.height - 6, "text-anchor": "middle", ...letters }, "flop per byte"));
  return found;
}

// Bandwidth up to the ridge, then the most flops.
function roof(across, up, [bandwidth, most]) {
  const first = Math.max(10 ** across.low, 10 ** up.low / bandwidth);
  const ridge = most / bandwidth;
  const points = [[first, first * bandwidth], [ridge, most], [10 ** across.high, most]];
  const path = points.map(([x, y]) => `${across(x)},${up(y)}`).join(" ");
  const said = `${quantity(bandwidth, "B/s")} and ${quantity(most, "flop/s")}, measured`;
  return drawn("g", {},
    drawn("polyline", { points: path, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }, drawn("title", {}, said)),
    drawn("text", { x: PLOT.width - PLOT.right - 6, y: PLOT.height - PLOT.bottom - 10, "text-anchor": "end", fill: "var(--accent)", "font-size": 12 }, said));
}
