"""Perfetto files against the public schema, where the `perfetto` package is installed."""

from __future__ import annotations

import plausible
import pytest
import wire

from treadle.profiler.perfetto import perfetto_parts

pytest.importorskip("perfetto")


def as_dict(message):
    """A message by the numbers of its fields, as `wire` reads it."""
    found = {}
    for field, value in message.ListFields():
        repeated = hasattr(value, "extend")
        values = list(value) if repeated else [value]
        found[field.number] = [as_dict(v) if field.message_type else v for v in values]
    return found


def decoded(message):
    """The same with bytes read as text: the schema calls interned texts bytes."""
    if isinstance(message, dict):
        return {number: [decoded(v) for v in values] for number, values in message.items()}
    return message.decode() if isinstance(message, bytes) else message


@pytest.mark.parametrize("overlap", [False, True], ids=["nested", "overlapping"])
def test_the_public_schema_reads_what_we_read(overlap):
    schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    data = b"".join(perfetto_parts(plausible.training(2, overlap=overlap)))
    trace = schema.Trace()
    trace.ParseFromString(data)
    found = [decoded(as_dict(packet)) for packet in trace.packet]
    assert found == wire.packets_of(data)
    assert not [packet for packet in trace.packet if unknown(packet)]
    shown = wire.replay(found)
    ends = [n for s in shown.slices for n in s.ends_flows]
    assert sorted(ends) == sorted(n for s in shown.slices for n in s.starts_flows) != []
    assert trace.SerializeToString() == data or len(trace.SerializeToString()) == len(data)


def unknown(message):
    """Are there fields in it, at any depth, that the schema does not know?"""
    again = type(message)()
    again.CopyFrom(message)
    again.DiscardUnknownFields()
    return again.SerializeToString(deterministic=True) != message.SerializeToString(
        deterministic=True
    )


def test_types_of_events_are_what_the_schema_calls_them():
    schema = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    trace = schema.Trace()
    trace.ParseFromString(b"".join(perfetto_parts(plausible.training(1))))
    kinds = {schema.TrackEvent.Type.Name(p.track_event.type) for p in trace.packet
             if p.HasField("track_event")}  # fmt: skip
    assert kinds == {"TYPE_SLICE_BEGIN", "TYPE_SLICE_END", "TYPE_COUNTER", "TYPE_INSTANT"}
    names = [p.system_info.utsname.sysname for p in trace.packet if p.HasField("system_info")]
    assert names
    assert names[0]
