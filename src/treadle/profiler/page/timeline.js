// The timeline in the user's hands: zoom, pan, select, choose an event, go to it.

const MOST_LINKS = 20; // to other events, of one that is chosen

let asked = false, tall = 0;

function redraw() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    draw();
    const [from, to] = view.range ?? [view.from, view.to];
    byId("range").textContent = `${view.range ? "selected" : "shown"}: ${duration(to - from)} from ${duration(Math.max(0, from))}`;
  });
}

function startTimeline() {
  canvas = byId("canvas");
  pen = canvas.getContext("2d");
  const tracks = byId("tracks");
  tall = layOutBands();
  new ResizeObserver(fitCanvas).observe(tracks);
  tracks.addEventListener("scroll", () => { scrolled = tracks.scrollTop; redraw(); });
  canvas.addEventListener("wheel", turned, { passive: false });
  canvas.addEventListener("pointerdown", pressed);
  canvas.addEventListener("pointermove", hovered);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("dblclick", (event) => { const e = eventAt(event); if (e >= 0) zoomTo(e); });
}

// The canvas is as large as what is seen of it, and what scrolls is a box below it.
function fitCanvas() {
  const tracks = byId("tracks");
  if (!tracks.clientWidth) return;
  width = tracks.clientWidth;
  height = tracks.clientHeight;
  canvas.style.height = `${height}px`;
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  byId("tall").style.height = `${Math.max(0, tall - height)}px`;
  draw();
  redraw();
}

function setView(from, to) {
  const wide = Math.min(Math.max(to - from, 50), data.lasts * 1.04);
  const least = -0.02 * data.lasts;
  view.from = Math.min(Math.max(from, least), data.lasts * 1.02 - wide);
  view.to = view.from + wide;
  redraw();
}

function zoom(factor, around = (view.from + view.to) / 2) {
  setView(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

const pan = (part) => setView(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));
const fit = () => (view.range ? setView(...view.range) : setView(0, data.lasts));

function zoomTo(e) {
  const margin = Math.max(data.length[e], 100) * 0.6;
  setView(data.start[e] - margin, data.start[e] + data.length[e] + margin);
}

// Wheels zoom where the pointer is; with shift, or sideways, they pan; with alt they scroll.
function turned(event) {
  if (event.altKey) return;
  event.preventDefault();
  const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
  if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) pan(sideways / 800);
  else zoom(Math.exp(event.deltaY / 400), timeAt(event.offsetX));
}

// A press that moves pans, or selects a range with shift; one that does not chooses an event.
function pressed(event) {
  const { offsetX: x0, clientY: y0, shiftKey } = event;
  const { from, to } = view;
  const top = byId("tracks").scrollTop;
  let moved = false;
  const move = (next) => {
    moved ||= Math.abs(next.offsetX - x0) > 3 || Math.abs(next.clientY - y0) > 3;
    if (!moved) return;
    if (shiftKey) {
      const at = [x0, next.offsetX].map((x) => from + ((x - LABEL) / (width - LABEL)) * (to - from));
      view.range = [Math.max(0, Math.min(...at)), Math.min(data.lasts, Math.max(...at))];
      redraw();
    } else {
      const step = ((x0 - next.offsetX) / (width - LABEL)) * (to - from);
      setView(from + step, to + step);
      byId("tracks").scrollTop = top + y0 - next.clientY;
    }
  };
  canvas.setPointerCapture(event.pointerId);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", (last) => {
    canvas.removeEventListener("pointermove", move);
    if (!moved) choose(eventAt(last));
    else if (shiftKey) rangeChanged();
  }, { once: true });
}

// The event under the pointer, or -1.
function eventAt({ offsetX, offsetY }) {
  if (offsetX < LABEL || offsetY < RULER) return -1;
  const y = offsetY + scrolled;
  const band = bands.find((each) => each.lane !== undefined && y >= each.top && y < each.top + each.height);
  const row = band && data.rows[band.lane][Math.floor((y - band.top) / ROW)];
  if (!row) return -1;
  const slack = ((view.to - view.from) / (width - LABEL)) * 1.5;
  const time = timeAt(offsetX);
  const e = row[firstAfter(row, time - slack)];
  return e !== undefined && data.start[e] <= time + slack ? e : -1;
}

function hovered(event) {
  const e = event.buttons ? -1 : eventAt(event);
  canvas.style.cursor = e >= 0 ? "pointer" : "default";
  if (e < 0) return hideTip();
  const detail = detailOf(e);
  const tip = byId("tip");
  tip.textContent = `${nameOf(e)}\n${kindOf(e)}, ${duration(data.length[e])}` +
    [detail?.ops.join(" "), detail?.sites.map(shortSite).join(", ")].map((said) => said && `\n${said}`).join("");
  tip.style.display = "block";
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8)}px`;
}

function hideTip() {
  byId("tip").style.display = "none";
}

// Kernels that computed what an op has recorded, or the ops of a kernel; arrows go to its first part.
function opArrows(e) {
  const found = [];
  for (let k = 0; k < data.flows.length; k += 2) {
    const source = data.flows[k], target = data.flows[k + 1];
    if (kindOf(source) !== "op") continue;
    if (source === e) found.push(target);
    else if (data.kind[e] === data.kernel && data.parent[target] === data.parent[e] && data.detail[target] === data.detail[e]) found.push(source);
  }
  return found;
}

// Show all about an event below the timeline.
function choose(e) {
  view.chosen = e;
  redraw();
  if (e < 0) return byId("chosen").replaceChildren();
  const detail = detailOf(e);
  const above = [];
  for (let p = data.parent[e]; p >= 0; p = data.parent[p]) above.unshift(p);
  const path = above.flatMap((p) => [make("a", { onclick: () => goTo(p) }, nameOf(p)), " › "]);
  const row = emptyRow(nameOf(e));
  addTo(row, e, detail, 1);
  const lane = data.lanes[data.lane[e]];
  const ends = opArrows(e).slice(0, MOST_LINKS).flatMap((end) => [make("a", { onclick: () => goTo(end) }, nameOf(end)), " "]);
  const pairs = [["in", ...path, nameOf(e)], ["time", `${duration(data.length[e])} at ${duration(data.start[e])} on ${lane.device}, ${lane.name}`], ["kind", kindOf(e)]];
  if (ends.length) pairs.push([kindOf(e) === "op" ? "kernels" : "called", ...ends]);
  byId("chosen").replaceChildren(make("dl", { class: "pairs" },
    ...pairs.flatMap(([term, ...said]) => [make("dt", {}, term), make("dd", {}, ...said)])),
    ...(detail ? [factList(detail, row)] : []));
}

function goTo(e) {
  openTab("timeline");
  choose(e);
  const long = data.length[e] > (view.to - view.from) / 400;
  const seen = data.start[e] >= view.from && data.start[e] + data.length[e] <= view.to;
  if (!long || !seen) {
    const wide = Math.max(data.length[e] * 8, 2000);
    const middle = data.start[e] + data.length[e] / 2;
    setView(middle - wide / 2, middle + wide / 2);
  }
  const [, y] = spotOf(e);
  if (y < RULER + ROW || y > height - ROW) byId("tracks").scrollTop = y + scrolled - height / 2;
}
