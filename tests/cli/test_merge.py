"""Generated blocks among handwritten text: edits survive, rows win where nobody edited."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treadle.cli.merge import END, Block, MarkerError, Piece, merge, parts_of, text_of

HEAD = '"""By hand."""\n\nimport math\n'


def piece(name, *lines):
    return Piece(name, lines or (f"def {name}():", '    """Doc."""', "    return 1"), gap=2)


def run(text, *pieces, markdown=False):
    return merge(text, pieces, "file", markdown)


def by_hand(text):
    """What stands outside the blocks."""
    return [line for part in parts_of(text) if isinstance(part, list) for line in part if line]


def blocks(text):
    return {part.name: part.lines for part in parts_of(text) if isinstance(part, Block)}


def edited(text, before, after):
    assert text.count(before) == 1
    return text.replace(before, after)


def test_blocks_come_in_table_order_and_a_second_run_changes_nothing():
    first = run(HEAD, piece("a"), piece("c")).text
    again = run(first, piece("a"), piece("c"))
    assert (again.text, again.done, again.problems) == (first, [], [])
    more = run(first, piece("z"), piece("a"), piece("b"), piece("c"))
    assert list(blocks(more.text)) == ["z", "a", "b", "c"]
    assert by_hand(more.text) == by_hand(HEAD)
    assert "\n\n\n\n" not in more.text


def test_an_unedited_block_follows_its_row():
    text = run(HEAD, piece("a")).text
    changed = run(text, piece("a", "def a(x):", "    return x"))
    assert blocks(changed.text) == {"a": ["def a(x):", "    return x"]}
    assert changed.problems == []


def test_an_edited_block_is_kept_while_its_row_stays():
    text = edited(run(HEAD, piece("a")).text, "return 1", "return 1 + 1")
    kept = run(text, piece("a"))
    assert (kept.text, kept.problems) == (text, [])


def test_edit_and_row_changed_in_different_lines_are_merged():
    text = edited(run(HEAD, piece("a")).text, "return 1", "return 1 + 1")
    new = piece("a", "def a(x=0):", '    """New."""', "    return 1")
    merged = run(text, new)
    assert blocks(merged.text)["a"] == ["def a(x=0):", '    """New."""', "    return 1 + 1"]
    assert merged.problems == []
    assert run(merged.text, new).done == []


def test_edit_and_row_changed_in_the_same_line_conflict_and_the_file_still_runs():
    text = edited(run(HEAD, piece("a")).text, "return 1", "return 1 + 1")
    new = piece("a", "def a():", '    """Doc."""', "    return 7")
    merged = run(text, new)
    assert len(merged.problems) == 1
    assert "return 1 + 1" in merged.text
    assert "# return 7" in merged.text
    space = {}
    exec(merged.text, space)
    assert space["a"]() == 2  # the edit stays in force until somebody decides
    again = run(merged.text, new)
    assert again.text == merged.text
    assert len(again.problems) == 1
    decided = re.sub(r" *# (<<<<|====|>>>>|return 7).*\n", "", merged.text)
    assert run(decided, new).problems == []


def test_a_deleted_row_takes_its_block_along_unless_somebody_edited_it():
    text = run(HEAD, piece("a"), piece("b"), piece("c")).text
    gone = run(text, piece("a"), piece("c"))
    assert gone.text == run(HEAD, piece("a"), piece("c")).text
    text = edited(text, "def b():", "def b(mine):")
    kept = run(text, piece("a"), piece("c"))
    assert kept.text == text
    assert "b has no row any more" in kept.problems[0]
    unmarked = re.sub(r" *# </?gen b.*\n", "", text)  # as the message says
    final = run(unmarked, piece("a"), piece("c"))
    assert final.problems == []
    assert "def b(mine):" in final.text


def test_text_added_by_hand_between_blocks_stays_where_it_is():
    text = run(HEAD, piece("a"), piece("b")).text
    text = edited(text, "# <gen b>", "MINE = 3\n\n\n# <gen b>")
    changed = run(text, piece("a"), piece("new"), piece("b", "def b():", "    return 2"))
    assert by_hand(changed.text) == [*by_hand(HEAD), "MINE = 3"]
    assert list(blocks(changed.text)) == ["a", "new", "b"]
    order = [changed.text.index(mark) for mark in ("gen a", "gen new", "MINE", "gen b")]
    assert order == sorted(order)


def test_a_block_moved_by_hand_stays_where_it_was_put():
    text = run(HEAD, piece("a"), piece("b")).text
    first, second = re.findall(r"# <gen.*?/gen \w+ \w+>", text, re.DOTALL)
    moved = text.replace(first, "@").replace(second, first).replace("@", second)
    assert run(moved, piece("a"), piece("b")).text == moved


def test_markdown_markers_do_not_show():
    text = run("# Ops\n", Piece("a", ("## a", "", "text")), markdown=True).text
    assert re.search(r"^<!-- <gen a> -->\n## a\n\ntext\n<!-- </gen a \w+> -->$", text, re.MULTILINE)
    changed = edited(text, "text", "my text")
    new = Piece("a", ("## a", "", "row text"))
    merged = run(changed, new, markdown=True)
    assert "<!-- ======= the row says\nrow text\n" in merged.text
    assert len(merged.problems) == 1


@pytest.mark.parametrize(
    "text",
    [
        "# <gen a>\nx = 1\n",
        "x = 1\n# </gen a abcde>\n",
        "# <gen a>\n# <gen b>\n# </gen b abcde>\n# </gen a abcde>\n",
        "# <gen a>\n# </gen b abcde>\n",
    ],
)
def test_broken_markers_stop_everything(text):
    with pytest.raises(MarkerError, match="file"):
        run(text, piece("a"))


def test_a_block_that_is_there_twice_is_reported_and_both_are_kept():
    text = run(HEAD, piece("a")).text
    twice = run(text + text.removeprefix(HEAD), piece("a"))
    assert twice.text == text + text.removeprefix(HEAD)
    assert "twice" in twice.problems[0]


def test_long_blocks_keep_their_markers_within_the_line():
    text = run(HEAD, piece("a", *(f"x{k} = {k}" for k in range(200)))).text
    assert max(map(len, text.split("\n"))) <= 100
    assert run(text, piece("a", *(f"x{k} = {k}" for k in range(200)))).text == text


# ---- anything at any time

NAMES = "abcdef"
LINES = st.lists(st.sampled_from(["one", "two", "", "three", "  four"]), max_size=6)
TABLES = st.dictionaries(st.sampled_from(NAMES), LINES, max_size=6)
EDITS = st.lists(st.tuples(st.sampled_from(["line", "drop", "hand"]), st.integers(0, 60)))


def table_pieces(table):
    return [Piece(name, tuple(table[name]), gap=1) for name in NAMES if name in table]


def edit(text, edits, label=""):
    """The text with lines of somebody's own in blocks and between them, and lines taken out."""
    parts, mine = parts_of(text), []
    for number, (what, where) in enumerate(edits):
        part = parts[where % len(parts)]
        lines = part.lines if isinstance(part, Block) else part
        if what == "drop" and isinstance(part, Block):
            generated = [k for k, line in enumerate(lines) if not line.startswith("mine")]
            if generated:
                del lines[generated[where % len(generated)]]
        elif what == ("line" if isinstance(part, Block) else "hand"):
            mine.append(f"mine {number} {label}")
            lines.insert(where % (len(lines) + 1), mine[-1])
    return text_of(parts), mine


@given(st.lists(st.tuples(TABLES, EDITS), min_size=1, max_size=5))
def test_no_line_written_by_hand_is_ever_lost(rounds):
    text, mine = HEAD, ["import math"]
    for number, (table, edits) in enumerate(rounds):
        text = run(text, *table_pieces(table)).text
        assert run(text, *table_pieces(table)).text == text
        text, added = edit(text, edits, f"in {number}")
        mine += added
    text = run(text, *table_pieces(rounds[-1][0])).text
    lines = [line.strip().removeprefix("# ") for line in text.split("\n")]
    assert not [line for line in mine if line not in lines]


@given(TABLES, TABLES)
def test_without_edits_a_file_is_what_the_table_says(before, after):
    text = run(run(HEAD, *table_pieces(before)).text, *table_pieces(after))
    assert text.problems == []
    assert blocks(text.text) == after
    assert by_hand(text.text) == by_hand(HEAD)


@given(TABLES, EDITS, TABLES)
def test_a_conflict_is_always_reported(before, edits, after):
    text, _ = edit(run(HEAD, *table_pieces(before)).text, edits)
    merged = run(text, *table_pieces(after))
    marked = [name for name, lines in blocks(merged.text).items() if any(END in x for x in lines)]
    assert all(any(f" {name}:" in problem for problem in merged.problems) for name in marked)
