"""Can event files and CSV logs be read by somebody who knows only their formats?"""

from __future__ import annotations

import csv
import math
import struct
import zlib

import numpy as np
import pytest

import treadle as td
from treadle.base.errors import ArgumentError, FileError, ShapeError
from treadle.logs import records


def bitwise_crc(content):
    """CRC-32C, one bit after the other."""
    found = 0xFFFFFFFF
    for byte in content:
        for k in range(8):
            bit = (found ^ (byte >> k)) & 1
            found = (found >> 1) ^ (0x82F63B78 if bit else 0)
    return found ^ 0xFFFFFFFF


def masked(content):
    found = bitwise_crc(content)
    return ((found >> 15 | found << 17) + 0xA282EAD8) % (1 << 32)


def read_records(path):
    content, at, found = path.read_bytes(), 0, []
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        assert struct.unpack_from("<I", content, at + 8)[0] == masked(content[at : at + 8])
        body = content[at + 12 : at + 12 + length]
        assert len(body) == length
        assert struct.unpack_from("<I", content, at + 12 + length)[0] == masked(body)
        found.append(body)
        at += length + 16
    return found


def fields(message):
    """{number: values} of a message."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            value = varint()
            value -= (1 << 64) if value >> 63 else 0
        elif kind == 2:
            size = varint()
            value, at = message[at : at + size], at + size
        else:
            form, size = {1: ("<d", 8), 5: ("<f", 4)}[kind]
            (value,), at = struct.unpack_from(form, message, at), at + size
        found.setdefault(number, []).append(value)
    return found


def values(writer):
    """(step, tag, fields of the value) of every event after the first."""
    writer.close()
    first, *rest = read_records(writer.path)
    assert fields(first)[3] == [b"brain.Event:2"]
    found = []
    for one in map(fields, rest):
        (summary,) = one[5]
        (value,) = fields(summary)[1]
        parts = fields(value)
        found.append((one.get(2, [None])[0], parts[1][0].decode(), parts))
        assert one[1][0] > 1e9
    return found


@pytest.mark.parametrize("content", [b"", b"a", b"123456789", bytes(range(256)) * 3])
def test_checksums(content):
    assert records.crc32c(content) == bitwise_crc(content)


def test_scalars(tmp_path):
    writer = td.logs.SummaryWriter(tmp_path / "a" / "b")
    writer.add_scalar("loss", 0.5, 3)
    writer.add_scalar("loss", td.tensor(0.25), 1 << 40)
    writer.add_scalar("é", np.float64(1e300), -1)
    writer.add_scalar("none", math.nan)
    writer.add_scalars("both", {"x": 1, "y": True}, 7)
    found = values(writer)
    assert [(step, tag) for step, tag, _ in found] == [
        (3, "loss"), (1 << 40, "loss"), (-1, "é"), (None, "none"), (7, "both/x"), (7, "both/y"),
    ]  # fmt: skip
    numbers = [parts[2][0] for _, _, parts in found]
    assert numbers[:3] == [0.5, 0.25, math.inf]
    assert math.isnan(numbers[3])
    assert numbers[4:] == [1, 1]
    assert writer.path.name.startswith("events.out.tfevents.")


@pytest.mark.parametrize("bins", ["tensorflow", "auto", 10, [-100.0, 0.0, 1.0, 100.0]])
def test_histograms(tmp_path, bins):
    drawn = np.random.default_rng(0).standard_normal(500)
    writer = td.logs.SummaryWriter(tmp_path)
    writer.add_histogram("w", drawn, 1, bins=bins)
    ((_, _, parts),) = values(writer)
    found = fields(parts[5][0])
    limits, counts = (np.frombuffer(found[k][0], "<f8") for k in (6, 7))
    assert len(limits) == len(counts)
    wanted = (drawn.min(), drawn.max(), 500, drawn.sum(), (drawn**2).sum())
    np.testing.assert_allclose([found[k][0] for k in range(1, 6)], wanted)
    assert counts.sum() == 500
    assert (np.diff(limits) > 0).all()
    for k in range(1, len(limits)):
        inside = (drawn >= limits[k - 1]) & (drawn < limits[k])
        last = k == len(limits) - 1
        assert abs(inside.sum() - counts[k]) <= last  # the last one has its right end


def test_histograms_of_odd_values(tmp_path):
    writer = td.logs.SummaryWriter(tmp_path)
    for array in (np.zeros(4), np.array([1e30]), np.array([-5, 5]), td.ones(3), np.array([True])):
        writer.add_histogram("w", array)
    counts = [np.frombuffer(fields(p[5][0])[7][0], "<f8").sum() for _, _, p in values(writer)]
    assert counts == [4, 1, 2, 3, 1]


def test_texts(tmp_path):
    writer = td.logs.SummaryWriter(tmp_path)
    writer.add_text("sample", "**über**", 5)
    ((step, tag, parts),) = values(writer)
    assert (step, tag) == (5, "sample/text_summary")
    assert fields(fields(parts[9][0])[1][0])[1] == [b"text"]
    tensor = fields(parts[8][0])
    assert tensor[1] == [7]
    assert tensor[8] == ["**über**".encode()]
    assert fields(fields(tensor[2][0])[2][0])[1] == [1]


def png_pixels(content):
    """The pixels of a PNG file without filters."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(content):
        size, name = struct.unpack_from(">I4s", content, at)
        body = content[at + 8 : at + 8 + size]
        (check,) = struct.unpack_from(">I", content, at + 8 + size)
        assert check == zlib.crc32(name + body)
        parts[name] = body
        at += size + 12
    width, height, bits, kind = struct.unpack_from(">IIBB", parts[b"IHDR"])
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[kind]
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), np.uint8).reshape(height, -1)
    assert bits == 8
    assert not rows[:, 0].any()
    return rows[:, 1:].reshape(height, width, channels)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", [np.uint8, np.float32])
def test_images(tmp_path, channels, kind):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, channels), np.uint8)
    given = pixels if kind == np.uint8 else (pixels / 255).astype(np.float32)
    writer = td.logs.SummaryWriter(tmp_path)
    writer.add_image("x", given.transpose(2, 0, 1))
    writer.add_image("x", td.tensor(given), dataformats="HWC")
    writer.add_image("x", given[:, :, 0], dataformats="HW")
    for number, (_, _, parts) in enumerate(values(writer)):
        image = fields(parts[4][0])
        wanted = pixels if number < 2 else pixels[:, :, :1]
        assert [image[k][0] for k in (1, 2, 3)] == list(wanted.shape)
        np.testing.assert_array_equal(png_pixels(image[4][0]), wanted)


def test_what_cannot_be_written(tmp_path):
    with td.logs.SummaryWriter(tmp_path) as writer:
        for wrong in (
            lambda: writer.add_scalar("x", [1, 2]),
            lambda: writer.add_scalar("x", "high"),
            lambda: writer.add_histogram("x", []),
            lambda: writer.add_histogram("x", [math.nan]),
            lambda: writer.add_image("x", np.zeros((1, 2, 2)), dataformats="NCHW"),
        ):
            with pytest.raises(ArgumentError):
                wrong()
        for shape in ((2, 2), (5, 2, 2), (3, 0, 2)):
            with pytest.raises(ShapeError):
                writer.add_image("x", np.zeros(shape))
    with pytest.raises(ArgumentError, match="closed"):
        writer.add_scalar("x", 1)
    assert values(writer) == []


# ---- CSV


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.add_histogram("a", [1.0, 2.0], bins="no such rule"),
        lambda w: w.add_histogram("a", [1.0, 2.0], bins=-3),
        lambda w: w.add_text("a", 3),
        lambda w: w.add_scalar(3, 1.0),
        lambda w: w.add_scalar("a", 1.0, "first"),
    ],
    ids=["rule", "bins", "text", "tag", "step"],
)
def test_arguments_that_are_none_are_refused_and_nothing_is_written(call, tmp_path):
    with td.logs.SummaryWriter(tmp_path) as writer:
        before = writer.path.read_bytes()
        with pytest.raises(ArgumentError):
            call(writer)
        assert writer.path.read_bytes() == before


@pytest.mark.parametrize("values", [[1e300, -1e300], [1.7e308], [5e-324], [0.0]])
def test_histograms_of_any_finite_numbers(values, tmp_path):
    with td.logs.SummaryWriter(tmp_path) as writer:
        before = len(writer.path.read_bytes())
        writer.add_histogram("a", values)
        assert len(writer.path.read_bytes()) > before


def test_lines_of_numbers(tmp_path):
    path = tmp_path / "new" / "log.csv"
    with td.logs.CSVLogger(path) as log:
        log.log(step=1, loss=td.tensor(0.5))
        log.log(step=2, loss=np.float32(0.25), note='a "b", c')
        assert repr(log).endswith("columns=['step', 'loss', 'note'])")
    with td.logs.CSVLogger(path) as log:  # goes on
        log.log(step=3, rate=0.1)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows] == ["1", "2", "3"]
    assert [row["loss"] for row in rows] == ["0.5", "0.25", ""]
    assert rows[1]["note"] == 'a "b", c'
    assert rows[2]["rate"] == "0.1"
    table = td.data.read_csv(path)
    np.testing.assert_array_equal(table["loss"], [0.5, 0.25, np.nan])
    assert [p.name for p in path.parent.iterdir()] == ["log.csv"]


def test_a_line_that_was_cut_off_is_dropped(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("step,loss\n1,0.5\n2,0.")
    with td.logs.CSVLogger(path) as log:
        log.log(step=2, loss=0.25)
    assert path.read_text() == "step,loss\n1,0.5\n2,0.25\n"


def test_other_files_and_values_are_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("a,b\n1,2,3\n")
    with pytest.raises(FileError):
        td.logs.CSVLogger(path)
    with td.logs.CSVLogger(tmp_path / "x.csv") as log:
        for value in (np.zeros(2), td.ones(2), [1], {}):
            with pytest.raises(ArgumentError, match="name=loss"):
                log.log(loss=value)
    with pytest.raises(ArgumentError, match="closed"):
        log.log(loss=1)
