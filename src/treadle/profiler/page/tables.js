// Time of kernels by line, module, op, kernel, phase or program; and of spans by name.

const GROUPS = {
  line: (detail) => detail.sites, module: (detail) => detail.modules, op: (detail) => detail.ops,
  kernel: (detail, e) => [nameOf(e)], phase: (detail) => [detail.phase],
  program: (detail) => [`program ${detail.program}`], span: null,
};
const COLUMNS = [
  ["name", (row) => row.name], ["time", (row) => duration(row.time)], ["share", (row) => percent(row.share)],
  ["count", (row) => row.count], ["bytes", (row) => quantity(row.bytes, "B")],
  ["flops", (row) => quantity(row.flops, "flop")], ["bytes/s", (row) => quantity((1e9 * row.bytes) / row.time, "B/s")],
  ["flop/s", (row) => quantity((1e9 * row.flops) / row.time, "flop/s")],
  ["roofline", (row) => (row.least ? percent(row.least / row.time) : "–")],
];
const tableState = { group: "line", by: "time", falling: true };

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
    addTo(total, e, detail, part);
    const keys = keysOf ? new Set(keysOf(detail, e)) : new Set([nameOf(e)]);
    if (!keys.size || (keys.size === 1 && keys.has(""))) { keys.clear(); keys.add("(not known)"); }
    for (const key of keys) {
      if (!rows.has(key)) rows.set(key, emptyRow(key));
      addTo(rows.get(key), e, detail, part);
    }
  }
  const found = [...rows.values()];
  const whole = keysOf ? total.time : view.range ? view.range[1] - view.range[0] : data.lasts;
  for (const row of [...found, total]) row.share = row.time / (whole || 1);
  return { rows: found, total };
}

const emptyRow = (name) => ({ name, time: 0, share: 0, count: 0, bytes: 0, flops: 0, least: 0 });

function addTo(row, e, detail, part) {
  row.time += part * data.length[e];
  row.count += 1;
  if (!detail) return;
  const bytes = part * (detail.bytes_read + detail.bytes_written);
  row.bytes += bytes;
  row.flops += part * detail.flops;
  row.least += leastTime(deviceOf(e), part * detail.flops, bytes);
}

function sortKey(row) {
  const by = tableState.by;
  if (by === "bytes/s") return row.bytes / row.time;
  if (by === "flop/s") return row.flops / row.time;
  if (by === "roofline") return row.least / row.time;
  return row[by];
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
    : "A fused kernel stands under each of its lines, modules and ops; the last row counts it once.";
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
