// The user's source with the time of each line in the margin, and the kernels behind a line.

const sourceState = { file: null, line: null, rows: new Map() };
const WORDS = new Set(("and as assert async await break class continue def del elif else except False finally for " +
  "from global if import in is lambda None nonlocal not or pass raise return True try while with yield").split(" "));

function showSource() {
  sourceState.rows = new Map(grouped("line").rows.map((row) => [row.name, row]));
  const times = new Map(Object.keys(data.sources).map((file) => [file, 0]));
  for (const [site, row] of sourceState.rows) {
    const file = site.slice(0, site.lastIndexOf(":"));
    if (times.has(file)) times.set(file, times.get(file) + row.time);
  }
  const files = [...times].sort((a, b) => b[1] - a[1]).map(([file]) => file);
  sourceState.file ??= files[0] ?? null;
  choices("files", files.map((file) => [file, shortSite(file)]), sourceState.file, (file) => {
    Object.assign(sourceState, { file, line: null });
    showSource();
  });
  showCode();
}

function showCode() {
  const { file, rows, line } = sourceState;
  if (file === null) {
    byId("code").replaceChildren(make("p", { class: "note" }, "No source of a line could be read."));
    return;
  }
  const most = Math.max(0, ...[...rows.values()].map((row) => row.share));
  byId("code").replaceChildren(...data.sources[file].split("\n").map((text, k) => {
    const site = `${file}:${k + 1}`;
    const row = rows.get(site);
    const classes = `row${row ? " hot" : ""}${line === site ? " on" : ""}`;
    return make("div", { class: classes, "data-site": site, onclick: row ? () => showLine(site) : () => {} },
      make("span", { class: "time" }, row ? duration(row.time) : ""),
      make("span", { class: "part", style: row ? `--part: ${(100 * row.share) / most}%` : "--part: 0%" }, row ? percent(row.share) : ""),
      make("span", { class: "no" }, String(k + 1)), coloured(text));
  }));
  showBehind();
}

// Python in colour: strings, comments, words of the language.
function coloured(text) {
  const found = make("span");
  for (const [part] of text.matchAll(/#.*|[rbfRBF]{0,2}("""|'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\w+|\s+|[^\w\s]/g)) {
    const kind = part[0] === "#" ? "comment" : /["']/.test(part) ? "string" : WORDS.has(part) ? "word" : null;
    found.append(kind ? make("span", { class: kind }, part) : part);
  }
  return found;
}

// Go to a line and show what ran for it.
function showLine(site) {
  const file = site.slice(0, site.lastIndexOf(":"));
  if (!(file in data.sources)) return searchFor(site);
  Object.assign(sourceState, { file, line: site });
  openTab("source");
  document.querySelector("#code .on")?.scrollIntoView({ block: "center" });
}

function showBehind() {
  const { line } = sourceState;
  if (!line) return byId("behind").replaceChildren();
  const kernels = new Map();
  for (let e = 0; e < data.count; e++) {
    const detail = detailOf(e);
    if (data.kind[e] !== data.kernel || !detail || !detail.sites.includes(line)) continue;
    const key = `${nameOf(e)}|${data.detail[e]}`;
    if (!kernels.has(key)) kernels.set(key, { ...emptyRow(nameOf(e)), detail, first: e });
    addTo(kernels.get(key), e, detail, partInRange(e), shares(detail, "line").get(line) ?? 0);
  }
  const rows = [...kernels.values()].sort((a, b) => b.time - a.time);
  byId("behind").replaceChildren(make("h2", {}, `Kernels of ${shortSite(line)}`), ...rows.map((row) =>
    make("details", {},
      make("summary", {}, make("code", {}, row.name), ` ${duration(row.time)}, ${Math.round(row.count)} times`),
      factList(row.detail, row), make("a", { onclick: () => goTo(row.first) }, "show in the timeline"))));
}

// Facts of a kernel, or of an op that was called, as a list of terms.
function factList(detail, row) {
  const work = detail.kind === "op" ? [] : [
    ["work", `${quantity(detail.flops, "flop")}, ${quantity(detail.bytes_read, "B")} read, ${quantity(detail.bytes_written, "B")} written, ${detail.blocks} blocks`],
    ["reached", `${quantity((1e9 * row.flops) / row.time, "flop/s")}, ${quantity((1e9 * row.bytes) / row.time, "B/s")}, ${row.least ? percent(row.least / row.time) : "–"} of the roofline`],
    ["program", make("a", { onclick: () => showProgram(detail.program) }, `program ${detail.program}, kernel ${detail.entry}`)],
    ["why", detail.reason],
  ];
  const terms = [
    ["ops", detail.ops.join(" ")],
    ["lines", ...detail.sites.flatMap((site) => [make("a", { onclick: () => showLine(site) }, shortSite(site)), " "])],
    ["modules", detail.modules.join(", ")], ["phase", detail.phase], ["scopes", scopesOf(detail).join(", ")],
    ...work,
  ];
  return make("dl", { class: "pairs" }, ...terms.filter(([, ...said]) => said.some(Boolean)).flatMap(([term, ...said]) =>
    [make("dt", {}, term), make("dd", {}, ...said)]));
}
