// The page itself: tabs, search, keys, theme.

const TABS = {
  timeline: ["Timeline", fitCanvas], tables: ["Tables", showTable], source: ["Source", showSource],
  roofline: ["Roofline", showRoofline], memory: ["Memory", showMemory], programs: ["Programs", showPrograms],
  about: ["About", showAbout],
};
let tab = "timeline";

function openTab(name) {
  tab = name;
  hideTip();
  for (const section of document.querySelectorAll("section")) section.classList.toggle("shown", section.id === name);
  byId("tabs").replaceChildren(...Object.entries(TABS).map(([id, [title]]) =>
    make("button", { role: "tab", "data-tab": id, "aria-selected": String(id === name), onclick: () => openTab(id) }, title)));
  TABS[name][1]();
}

// What a search finds: events whose name, lines, ops, modules or scopes have the words.
function search() {
  const words = byId("search").value.trim().toLowerCase();
  const has = (text) => text.toLowerCase().includes(words);
  const names = data.names.map(has);
  const details = data.details.map((d) => [...d.sites, ...d.ops, ...d.modules, ...scopesOf(d)].some(has));
  view.found = [];
  for (let e = 0; words && e < data.count; e++) {
    if (names[data.name[e]] || (data.detail[e] >= 0 && details[data.detail[e]])) view.found.push(e);
  }
  view.foundSet = words ? new Set(view.found) : null;
  summarise();
  TABS[tab][1]();
}

function searchFor(words) {
  byId("search").value = words;
  openTab("timeline");
  search();
  nextFound(1);
}

function nextFound(step) {
  if (!view.found.length) return;
  const now = view.found.indexOf(view.chosen);
  goTo(view.found[(now + step + view.found.length) % view.found.length]);
}

function rangeChanged() {
  redraw();
  if (tab !== "timeline") TABS[tab][1]();
}

function summarise() {
  let kernels = 0, time = 0;
  for (let e = 0; e < data.count; e++) {
    if (data.kind[e] === data.kernel) { kernels += data.run[e]; time += data.own[e]; }
  }
  const parts = [`${duration(data.lasts)} recorded`, `kernels ran ${Math.round(kernels).toLocaleString("en")} times, ${duration(time)} in all`];
  if (view.foundSet) parts.push(`${view.found.length.toLocaleString("en")} found`);
  byId("summary").replaceChildren(parts.join(" · "));
  if (data.lost) byId("summary").append(make("span", { class: "alert" }, ` · ${data.lost.toLocaleString("en")} events lost`));
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  readTheme();
  TABS[tab][1]();
}

const otherTheme = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

function clear() {
  Object.assign(view, { range: null, foundSet: null, found: [] });
  byId("search").value = "";
  byId("search").blur();
  choose(-1);
  search();
}

const KEYS = {
  w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => pan(-0.2), d: () => pan(0.2), f: fit, t: otherTheme,
  n: () => nextFound(1), N: () => nextFound(-1), "/": () => byId("search").focus(),
  ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.7), "-": () => zoom(1 / 0.7),
  ...Object.fromEntries(Object.keys(TABS).map((name, k) => [String(k + 1), () => openTab(name)])),
};

function keyed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return clear();
  if (event.target === byId("search")) {
    if (event.key === "Enter") nextFound(event.shiftKey ? -1 : 1);
    return;
  }
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
}

async function start() {
  document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  await readData();
  byId("title").textContent = data.title;
  readTheme();
  startTimeline();
  summarise();
  byId("search").addEventListener("input", search);
  byId("theme").addEventListener("click", otherTheme);
  document.addEventListener("keydown", keyed);
  openTab("timeline");
  document.body.dataset.ready = "yes";
}

start().catch((error) => { byId("summary").textContent = `The page could not be shown: ${error}`; });
