"""The report in a browser: every part of the page is clicked through, in both themes."""

from __future__ import annotations

import browser
import numpy as np
import plausible
import pytest

from treadle.profiler.events import Events
from treadle.profiler.recording import Kind
from treadle.profiler.report import write_report

pytestmark = pytest.mark.skipif(browser.CHROMIUM is None, reason="no chromium")
TABS = ("timeline", "tables", "source", "roofline", "memory", "programs", "about")


@pytest.fixture(scope="module")
def recording():
    return plausible.training(3, overlap=True)


@pytest.fixture(scope="module")
def chromium():
    found = browser.Browser()
    yield found
    found.close()


@pytest.fixture
def page(chromium, recording, tmp_path):
    """The report, fresh; no test leaves an error or asks the network for anything."""
    chromium.requests.clear()
    chromium.errors.clear()
    path = tmp_path / "report.html"
    write_report(recording, path)
    chromium.theme("light")
    chromium.open(path.as_uri())
    yield chromium
    chromium.run("1")
    assert chromium.errors == []
    assert set(chromium.requests) == {path.as_uri()}


def open_tab(page, name):
    page.run(f"document.querySelector('[data-tab={name}]').click()")
    assert page.run("[...document.querySelectorAll('section.shown')].map(s => s.id)") == [name]


def text(page, where):
    return page.run(f"document.querySelector({where!r}).innerText")


def spot(page, row):
    """Where an event is on the screen: inside its left end."""
    x, y = page.run(f"(() => {{ const r = canvas.getBoundingClientRect(); const s = spotOf({row});"
                    "return [r.x + s[0] + 1, r.y + s[1]]; })()")  # fmt: skip
    return x, y


def kernel_row(recording, words):
    names = [recording.names[k] for k in recording.events["name"]]
    return next(k for k, name in enumerate(names) if words in name)


def test_every_tab_shows_something_in_both_themes(page):
    seen = {}
    for theme in ("light", "dark"):
        page.run(f"setTheme({theme!r})")
        for tab in TABS:
            open_tab(page, tab)
            assert page.run(f"document.getElementById({tab!r}).innerText.length") > 20
        seen[theme] = page.run("getComputedStyle(document.body).backgroundColor")
    assert seen["light"] != seen["dark"]


def test_the_theme_follows_the_system_and_the_button(page):
    page.theme("dark")
    page.call("Page.reload")
    page.wait("document.body && document.body.dataset.ready === 'yes'")
    assert page.run("document.documentElement.dataset.theme") == "dark"
    page.run("document.getElementById('theme').click()")
    assert page.run("document.documentElement.dataset.theme") == "light"


def test_a_click_on_a_slice_tells_all_about_it(page, recording):
    row = kernel_row(recording, "matmul_gelu")
    page.run(f"zoomTo({row})")
    page.click(*spot(page, row))
    said = text(page, "#chosen")
    for words in ("blocks.0.mlp", "matmul gelu", "train step", "of the roofline", "plausible.py:"):
        assert words in said
    ends = page.run(f"[...data.flows].filter((e, k) => data.flows[k ^ 1] === {row})")
    flows = recording.flows
    assert ends == flows["source"][flows["target"] == row].tolist() != []
    page.run("document.querySelector('#chosen dd a').click()")  # the outermost event above it
    assert "train step" in text(page, "#chosen")


def test_an_op_and_the_kernel_that_computed_it_lead_to_each_other(page, recording):
    flows = recording.flows[recording.events["kind"][recording.flows["source"]] == Kind.OP]
    op, kernel = flows[0].tolist()
    beside = np.flatnonzero(recording.events["parent"] == recording.events["parent"][kernel])
    other = next(row for row in beside.tolist() if row != kernel)  # another thread's part of it
    page.run(f"goTo({op})")
    terms = "[...document.querySelectorAll('#chosen dt')].map(t => t.innerText)"
    assert "kernels" in page.run(terms)
    assert "reached" not in page.run(terms)  # Python's time, no kernel's
    links = "[...document.querySelectorAll('#chosen dd a')]"
    page.run(f"{links}.find(a => a.innerText.endsWith('_f32')).click()")
    assert page.run("view.chosen") == kernel
    for row in (kernel, other):
        page.run(f"goTo({row})")
        assert {"called", "reached"} <= set(page.run(terms))
        name = recording.names[recording.events["name"][op]]
        page.run(f"{links}.findLast(a => a.innerText === {name!r}).click()")
        assert page.run("view.chosen") == op


def test_the_timeline_zooms_pans_and_fits_by_keys_and_wheel(page):
    whole = page.run("[view.from, view.to]")
    page.key("w")
    near = page.run("[view.from, view.to]")
    assert near[1] - near[0] == pytest.approx(0.7 * (whole[1] - whole[0]))
    page.key("d")
    assert page.run("view.from") > near[0]
    page.key("a")
    assert page.run("view.from") == pytest.approx(near[0])
    page.key("s")
    page.key("s")
    page.key("f")
    assert page.run("[view.from, view.to]") == pytest.approx(whole)
    page.mouse("mouseWheel", 700, 300, deltaX=0, deltaY=-400)
    page.wait(f"view.to - view.from < 0.5 * {whole[1]}")


def test_search_finds_events_by_line_and_goes_through_them(page, recording):
    page.key("/")
    for letter in "gelu":
        page.key(letter)
    found = page.run("view.found.length")
    ops = [d.ops for d in recording.details]
    assert found == sum(
        "gelu" in recording.names[e["name"]] or (e["detail"] >= 0 and "gelu" in ops[e["detail"]])
        for e in recording.events
    )
    page.key("Enter")
    first = page.run("view.chosen")
    page.key("Enter")
    second = page.run("view.chosen")
    assert second > first
    page.run("document.getElementById('search').blur()")
    page.key("n")
    assert page.run("view.chosen") > second
    page.key("N")
    assert page.run("view.chosen") == second
    page.key("Escape")
    assert page.run("[view.found.length, view.chosen]") == [0, -1]


def table(page, group):
    open_tab(page, "tables")
    page.run("[...document.querySelectorAll('#groups button')]"
             f".find(b => b.innerText === {group!r})"
             ".click()")  # fmt: skip
    return page.run("[...document.querySelectorAll('#table tbody tr')].map(r => "
                    "[...r.children].map(c => c.innerText))")  # fmt: skip


def test_a_range_that_is_selected_is_what_tables_count(page, recording):
    whole = table(page, "phase")
    open_tab(page, "timeline")
    left, right = page.run("(() => { const r = canvas.getBoundingClientRect();"
                           "return [r.x + LABEL + 10, r.right - 10]; })()")  # fmt: skip
    middle = (left + right) / 2
    page.mouse("mousePressed", left, 300, button="left", modifiers=8)
    page.mouse("mouseMoved", middle, 300, button="left", modifiers=8)
    page.mouse("mouseReleased", middle, 300, button="left", modifiers=8)
    from_, to = page.run("view.range")
    part = table(page, "phase")
    assert "selected" in text(page, "#scope")
    events, began = recording.events, recording.events["start"].min()
    rows = (events["kind"] == Kind.KERNEL) & (events["detail"] >= 0)
    start, end = events["start"][rows] - began, events["end"][rows] - began
    running = [((start <= t) & (t < end)).sum() for t in range(0, int(end.max()), plausible.US)]
    shared = [
        sum(plausible.US / running[t // plausible.US] for t in range(s, e, plausible.US))
        for s, e in zip(start.tolist(), end.tolist(), strict=True)
    ]
    inside = (end.clip(from_, to) - start.clip(from_, to)) / (end - start)
    total = (np.array(shared) * inside).sum()
    assert page.run("grouped('phase').total.time") == pytest.approx(total)
    assert int(part[-1][3]) < int(whole[-1][3])


def test_the_line_that_took_most_is_first_and_leads_to_its_source(page, recording):
    rows = table(page, "line")
    assert rows[-1][0] == "all kernels"
    page.run("document.querySelector('#table tbody tr').click()")
    assert page.run("document.querySelector('section.shown').id") == "source"
    line = page.run("document.querySelector('#code .on').dataset.site")
    assert line.endswith(rows[0][0].rpartition("/")[2])
    assert page.run("document.querySelector('#code .on .time').innerText") == rows[0][1]
    assert "matmul" in text(page, "#behind")


@pytest.mark.parametrize("key", ["line", "op", "module", "phase", "scope", "kernel", "program"])
def test_tables_of_the_page_and_of_the_terminal_agree(page, recording, key):
    wanted = {g.name: (g.time, g.flops, g.nbytes, g.ideal) for g in Events(recording).group_by(key)}
    rows = page.run(f"grouped({key!r}).rows.map(r => [r.name, r.time, r.flops, r.bytes, r.least])")
    assert {name for name, *_ in rows} == set(wanted)
    for name, *numbers in rows:
        assert numbers == pytest.approx(wanted[name], rel=1e-6)


def test_spans_in_each_other_count_once_in_page_and_terminal(chromium, tmp_path):
    recording = plausible.training(2)
    events = recording.events
    events["name"][events["kind"] == Kind.OP] = recording.names.index("train step")
    events["kind"][events["kind"] == Kind.OP] = Kind.SPAN  # of the name of the span around them
    write_report(recording, tmp_path / "report.html")
    chromium.open((tmp_path / "report.html").as_uri())
    (wanted,) = Events(recording).group_by("span")
    rows = chromium.run("grouped('span').rows.map(r => [r.name, r.time, r.count])")
    (found,) = [numbers for name, *numbers in rows if name == "train step"]
    assert found == pytest.approx([wanted.time, wanted.runs])


def test_columns_sort(page):
    table(page, "kernel")
    page.run(
        "[...document.querySelectorAll('#table th')].find(h => h.innerText === 'runs').click()"
    )
    counts = page.run("[...document.querySelectorAll('#table tbody tr:not(.total) td.runs')]"
                      ".map(c => +c.innerText)")  # fmt: skip
    assert counts == sorted(counts, reverse=True)
    assert len(counts) == 3


def test_dots_of_the_roofline_lead_to_the_timeline(page):
    open_tab(page, "roofline")
    assert page.run("document.querySelectorAll('#plot circle').length") == 18
    page.run("document.querySelector('#plot circle').dispatchEvent(new Event('click'))")
    assert "matmul" in text(page, "#chosen")


def test_programs_show_their_stages_and_pictures(page):
    open_tab(page, "programs")
    page.run("[...document.querySelectorAll('#numbers button')][1].click()")
    page.run("document.querySelectorAll('#program details').forEach(d => { d.open = true; })")
    said = text(page, "#program")
    for words in ("%1 = exp %0", "add zero", "qkv_1", "for i in 0:", "define void", "vmulps"):
        assert words in said
    assert page.run("document.querySelectorAll('#program svg rect').length") == 3
    open_tab(page, "memory")
    assert page.run("document.querySelectorAll('#memory svg').length") == 4


def test_names_are_text_and_never_markup(chromium, tmp_path):
    recording = plausible.training(1)
    recording.names = [f"<img src=x onerror=alert(1)>{name}</script>" for name in recording.names]
    recording.facts["script"] = "</title><script>x</script>"
    write_report(recording, tmp_path / "report.html")
    chromium.open((tmp_path / "report.html").as_uri())
    table(chromium, "kernel")
    assert chromium.run("document.querySelectorAll('img').length") == 0
    assert chromium.run("document.getElementById('title').innerText") == recording.facts["script"]
    assert recording.facts["script"] in chromium.run("document.title")
