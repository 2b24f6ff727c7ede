// Time of kernels by line, module, op, phase, scope, kernel or program; and of spans by name.

// What a kernel stands under, and with which share of it.
const GROUPS = {
  line: (detail) => shares(detail, "line"), module: (detail) => shares(detail, "module"),
  op: (detail) => shares(detail, "op"), phase: (detail) => shares(detail, "phase"),
  scope: (detail) => shares(detail, "scope", "(no span)"),
  kernel: (detail, e) => [[nameOf(e), 1]], program: (detail) => [[`program ${detail.program}`, 1]], span: null,
};
const COLUMNS = [
  ["name", (row) => row.name], ["time", (row) => duration(row.time)], ["share", (row) => percent(row.share)],
  ["runs", (row) => Math.round(row.count)], ["bytes", (row) => quantity(row.bytes, "B")],
  ["flops", (row) => quantity(row.flops, "flop")], ["bytes/s", (row) => quantity((1e9 * row.bytes) / row.time, "B/s")],
  ["flop/s", (row) => quantity((1e9 * row.flops) / row.time, "flop/s")],
  ["roofline", (row) => (row.least ? percent(row.least / row.time) : "–")],
];
const tableState = { group: "line", by: "time", falling: true };

// Spans that the ops of a kernel were recorded in, each path once.
function scopesOf(detail) {
  return [...new Set(detail.parts.map((part) => part.scope).filter(Boolean))];
}

function shares(detail, key, none = `(no ${key})`) {
  const found = new Map();
  for (const part of detail.parts) {
    const name = part[key] || none;
    found.set(name, (found.get(name) ?? 0) + part.share);
  }
  return found;
}

// The part of an event that lies in the selected range, as a share of it.
function partInRange(e) {
  if (!view.range) return 1;
  const [from, to] = view.range;
  const inside = Math.min(to, data.start[e] + data.length[e]) - Math.max(from, data.start[e]);
  return inside <= 0 ? 0 : data.length[e] ? inside / data.length[e] : 1;
}

// Rows of a grouping and the total, in which every kernel counts once.
function grouped(group) {
  const keysOf = GROUPS[group];
  const rows = new Map();
  const total = emptyRow("all kernels");
  for (let e = 0; e < data.count; e++) {
    const detail = detailOf(e);
    const fits = keysOf ? data.kind[e] === data.kernel && detail : data.kind[e] !== data.kernel;
    const part = fits ? partInRange(e) : 0;
    if (!part) continue;
    if (!keysOf) {
      addSpan(rows, e);
      continue;
    }
    addTo(total, e, detail, part);
    for (const [key, share] of keysOf(detail, e)) {
      if (!rows.has(key)) rows.set(key, emptyRow(key));
      addTo(rows.get(key), e, detail, part, share);
    }
  }
  const found = [...rows.values()];
  const whole = keysOf ? total.time : view.range ? view.range[1] - view.range[0] : data.lasts;
  for (const row of [...found, total]) row.share = row.time / (whole || 1);
  return { rows: found, total };
}

const emptyRow = (name) => ({ name, time: 0, share: 0, count: 0, bytes: 0, flops: 0, least: 0 });

// Add a share of a part of an event: threads that ran a kernel together share its time and work.
function addTo(row, e, detail, part, share = 1) {
  row.time += part * share * data.own[e];
  row.count += data.run[e];
  if (!detail) return;
  const work = part * share * data.run[e];
  const bytes = work * (detail.bytes_read + detail.bytes_written);
  row.bytes += bytes;
  row.flops += work * detail.flops;
  row.least += leastTime(deviceOf(e), detail.dtype, work * detail.flops, bytes);
}

// The time in which at least one span of a name was under way: events are in order of time.
function addSpan(rows, e) {
  const name = nameOf(e);
  if (!rows.has(name)) rows.set(name, { ...emptyRow(name), until: -Infinity });
  const row = rows.get(name);
  const [from, to] = view.range ?? [0, Infinity];
  const end = Math.min(to, data.start[e] + data.length[e]);
  row.time += Math.max(0, end - Math.max(from, row.until, data.start[e]));
  row.until = Math.max(row.until, end);
  row.count += 1;
}

function sortKey(row) {
  const by = tableState.by;
  if (by === "bytes/s") return row.bytes / row.time;
  if (by === "flop/s") return row.flops / row.time;
  if (by === "roofline") return row.least / row.time;
  return by === "runs" ? row.count : row[by];
}

function showTable() {
  const { group, by, falling } = tableState;
  choices("groups", Object.keys(GROUPS).map((name) => [name, name]), group, (name) => {
    tableState.group = name;
    showTable();
  });
  const { rows, total } = grouped(group);
  const words = byId("search").value.toLowerCase();
  const shown = rows.filter((row) => row.name.toLowerCase().includes(words));
  shown.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : 0) * (falling ? -1 : 1));
  const spans = group === "span";
  const columns = spans ? COLUMNS.slice(0, 4) : COLUMNS;
  const head = make("tr", {}, ...columns.map(([name]) => make("th", {
    onclick: () => {
      tableState.falling = name === by ? !falling : name !== "name";
      tableState.by = name;
      showTable();
    },
  }, (name === "name" ? group : name) + (name === by ? (falling ? " ↓" : " ↑") : ""))));
  const lines = shown.slice(0, 500).map((row) => tableLine(row, columns, group));
  if (!spans) lines.push(tableLine(total, columns, null));
  byId("table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...lines));
  byId("scope").textContent = view.range
    ? `of the selected ${duration(view.range[1] - view.range[0])}` : "of the whole recording";
  byId("note").textContent = spans
    ? "Spans lie within each other, so their times do not add up."
    : "A fused kernel stands under each of its lines, modules, ops and scopes with a share of its time; shares sum to the whole. " +
      "Kernels that run at the same time share that time.";
}

function tableLine(row, columns, group) {
  const cells = columns.map(([name, shown]) => {
    const text = name === "name" && group === "line" ? shortSite(row.name) : String(shown(row));
    const style = name === "share" ? `--part: ${Math.min(100, 100 * row.share)}%` : null;
    return make("td", { class: name, style, title: name === "name" ? row.name : null }, text);
  });
  const go = () => (group === "line" ? showLine(row.name) : group && searchFor(row.name));
  return make("tr", { class: group ? null : "total", onclick: go }, ...cells);
}
