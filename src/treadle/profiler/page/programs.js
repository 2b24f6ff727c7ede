// Each program by its stages, what memory it takes, and what the recording knows of its machine.

const programState = { number: null };

function showPrograms() {
  const times = new Map(grouped("program").rows.map((row) => [row.name, row.time]));
  const spent = (number) => times.get(`program ${number}`) ?? 0;
  const known = data.programs.map((program) => program.number).sort((a, b) => spent(b) - spent(a));
  if (!known.includes(programState.number)) programState.number = known[0] ?? null;
  choices("numbers", known.map((number) => [number, `program ${number}: ${duration(spent(number))}`]), programState.number, showProgram);
  const program = data.programs.find((page) => page.number === programState.number);
  byId("program").replaceChildren(...(program ? stagesOf(program) : [make("p", { class: "note" }, "No program was recorded.")]));
}

function showProgram(number) {
  programState.number = number;
  openTab("programs");
}

function stagesOf(program) {
  const rules = Object.entries(program.rules).sort((a, b) => b[1] - a[1]).map(([name, count]) => `${String(count).padStart(6)}  ${name}`);
  const parts = [
    ["What it consists of", program.explanation, true], ["Graph as recorded", program.graph],
    ["Graph after simplifying", program.simplified], ["Rules that fired", rules.join("\n")],
    ["Tuning", program.tuning],
  ];
  if (!program.graph) parts.push(["Graph and rules", "They are written down of programs that are compiled during a profile without memory=True."]);
  const found = parts.filter(([, text]) => text).map(([title, text, open]) =>
    make("details", { open: open ? "" : null }, make("summary", {}, title), make("pre", {}, text)));
  if (program.picture) found.push(make("details", { open: "" }, make("summary", {}, "Memory"), pictureOf(program.picture)));
  if (program.kernels.length) found.push(make("h2", {}, "Kernels"), ...program.kernels.map(kernelOf));
  return found;
}

function kernelOf([name, reason, loops, text, assembly]) {
  const parts = [["loop program", loops], ["LLVM or Triton", text], ["assembly", assembly]].filter(([, said]) => said);
  const missing = text ? [] : [make("p", { class: "note" }, "Code is made for the kernels that took most time; TREADLE_DEBUG=4 and 6 print all.")];
  return make("details", {}, make("summary", {}, make("code", {}, name), " ", make("span", { class: "why" }, reason)), ...missing,
    ...parts.flatMap(([title, said]) => [make("h2", {}, title), make("pre", {}, said)]));
}

// A picture that Python drew.
function pictureOf(svg) {
  const found = make("div", { class: "picture" });
  found.append(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
  const title = found.querySelector("title");
  if (title) found.prepend(make("p", { class: "note" }, title.textContent));
  return found;
}

function showMemory() {
  const parts = data.memory ? [make("h2", {}, "Over time"), pictureOf(data.memory)] : [];
  parts.push(...data.holders.flatMap((svg) => [make("h2", {}, "By the line that made it"), pictureOf(svg)]));
  const arenas = data.programs.filter((page) => page.picture).sort((a, b) => b.without_reuse - a.without_reuse);
  for (const program of arenas) {
    parts.push(make("h2", {}, `Arena of program ${program.number}: time across, offset up`), pictureOf(program.picture));
  }
  byId("memory").replaceChildren(...(parts.length ? parts : [make("p", { class: "note" }, "No memory was recorded.")]));
}

function showAbout() {
  const ceilings = Object.entries(data.ceilings).map(([device, [bytes, flops]]) =>
    [`ceiling of ${device}`, `${quantity(bytes, "B/s")}, ${quantity(flops, "flop/s")}`]);
  const terms = [...Object.entries(data.facts), ...ceilings,
    ["events", data.count.toLocaleString("en")], ["events lost", String(data.lost)]];
  byId("about").replaceChildren(make("dl", { class: "pairs" },
    ...terms.flatMap(([term, said]) => [make("dt", {}, term), make("dd", {}, said)])));
}
