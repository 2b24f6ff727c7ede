"""A walk that writes down which thread ran what and when, as LLVM IR text.

The program runs as it does otherwise: entries beside each other, blocks shared by all threads, a
long one in parts. What threads are given to run instead of a kernel is `@recorded`, which runs a
block of the kernel with a clock around it. So nothing of this is there while nobody records.

A thread writes to a ring of its own: a head of eight words, then records of five.

    head    records written, room for how many, records lost for want of room, nothing
    record  number of the launch, of the entry, start, end, blocks that the thread ran of it

Blocks that a thread runs of one entry of one launch are one record. That of the caller lasts until
all threads are done with the entry. A loop or branch is one entry: what runs inside of it is not
told apart.
"""

from __future__ import annotations

from treadle.backends.cpu.runners import GIVEN, INSIDE, PART

HEAD, RECORD = 8, 5  # words
OPEN = """\
  store ptr %rings, ptr %open
  store i64 %call, ptr %open1
  %entry_number = add i64 %first, %i
  store i64 %entry_number, ptr %open2
  store ptr %e, ptr %open3
  call void @fork(ptr %pool, ptr @recorded, ptr %open, i64 {blocks}, ptr %bases)"""

MARK = f"""
; The record before the first lies in the head: a launch of number 0, which is nobody's.
define internal void @mark(
  ptr %rings, i64 %tid, i64 %call, i64 %number, i64 %start, i64 %end, i64 %blocks
) nounwind {{{{
entry:
  %ring_at = getelementptr ptr, ptr %rings, i64 %tid
  %ring = load ptr, ptr %ring_at
  %written = load i64, ptr %ring
  %next = mul i64 %written, {RECORD}
  %words = add i64 %next, {HEAD}
  %new = getelementptr i64, ptr %ring, i64 %words
  %last = getelementptr i64, ptr %new, i64 -{RECORD}
  %last1 = getelementptr i64, ptr %last, i64 1
  %its_call = load i64, ptr %last
  %its_entry = load i64, ptr %last1
  %same_call = icmp eq i64 %its_call, %call
  %same_entry = icmp eq i64 %its_entry, %number
  %same = and i1 %same_call, %same_entry
  br i1 %same, label %extend, label %add
extend:
  %end_at = getelementptr i64, ptr %last, i64 3
  %count_at = getelementptr i64, ptr %last, i64 4
  store i64 %end, ptr %end_at
  %count = load i64, ptr %count_at
  %more = add i64 %count, %blocks
  store i64 %more, ptr %count_at
  ret void
add:
  %room_at = getelementptr i64, ptr %ring, i64 1
  %room = load i64, ptr %room_at
  %full = icmp sge i64 %written, %room
  br i1 %full, label %lose, label %write
lose:
  %lost_at = getelementptr i64, ptr %ring, i64 2
  %lost = load i64, ptr %lost_at
  %lost1 = add i64 %lost, 1
  store i64 %lost1, ptr %lost_at
  ret void
write:
  %new1 = getelementptr i64, ptr %new, i64 1
  %new2 = getelementptr i64, ptr %new, i64 2
  %new3 = getelementptr i64, ptr %new, i64 3
  %new4 = getelementptr i64, ptr %new, i64 4
  store i64 %call, ptr %new
  store i64 %number, ptr %new1
  store i64 %start, ptr %new2
  store i64 %end, ptr %new3
  store i64 %blocks, ptr %new4
  %written1 = add i64 %written, 1
  store i64 %written1, ptr %ring
  ret void
}}}}
"""

# A block of one or several entries; %open: rings, launch, number and row of the first entry.
RECORDED = """
define internal void @recorded(ptr %bases, ptr %open, i64 %block, i64 %tid) nounwind {{
entry:
  %rings = load ptr, ptr %open
  %open1 = getelementptr i64, ptr %open, i64 1
  %open2 = getelementptr i64, ptr %open, i64 2
  %open3 = getelementptr i64, ptr %open, i64 3
  %call = load i64, ptr %open1
  %first = load i64, ptr %open2
  %row = load ptr, ptr %open3
  br label %look
look:
  %e = phi ptr [ %row, %entry ], [ %e4, %past ]
  %b = phi i64 [ %block, %entry ], [ %b1, %past ]
  %number = phi i64 [ %first, %entry ], [ %number1, %past ]
  %e2 = getelementptr i64, ptr %e, i64 2
  %blocks = load i64, ptr %e2
  %here = icmp slt i64 %b, %blocks
  br i1 %here, label %run, label %past
past:
  %b1 = sub i64 %b, %blocks
  %number1 = add i64 %number, 1
  %e4 = getelementptr i64, ptr %e, i64 4
  br label %look
run:
  %fn = load ptr, ptr %e
  %e1 = getelementptr i64, ptr %e, i64 1
  %params = load ptr, ptr %e1
  %start = call i64 @now()
  call void %fn(ptr %bases, ptr %params, i64 %b, i64 %tid)
  %end = call i64 @now()
  call void @mark(
    ptr %rings, i64 %tid, i64 %call, i64 %number, i64 %start, i64 %end, i64 1
  )
  ret void
}}
"""

# What the launch is recorded as: rings, number, number of its first entry, how long, where in a
# loop it is. The number of entries run.
LAUNCH_RECORDED = f"""
define i64 @launch_recorded(ptr %words, ptr %record) nounwind {{{{
entry:
{GIVEN}  %r1 = getelementptr i64, ptr %record, i64 1
  %r2 = getelementptr i64, ptr %record, i64 2
  %r3 = getelementptr i64, ptr %record, i64 3
  %resume = getelementptr i64, ptr %record, i64 4
  %rings = load ptr, ptr %record
  %call = load i64, ptr %r1
  %first = load i64, ptr %r2
  %long = load i64, ptr %r3
  %now = call i64 @now()
  %until = add i64 %now, %long
  %ran = call i64 @run_recorded(
    ptr %pool, ptr %table, i64 %count, ptr %bases, i64 %until, ptr %resume, ptr %rings,
    i64 %call, i64 %first
  )
  ret i64 %ran
}}}}

define i64 @native_clock() nounwind {{{{
entry:
  %now = call i64 @now()
  ret i64 %now
}}}}
"""

LEFT = """\
  ; A loop that is left goes on in the next part: the same launch and entry, so the same record.
  %left_at = call i64 @now()
  %left_number = add i64 %first, %i
  call void @mark(
    ptr %rings, i64 0, i64 %call, i64 %left_number, i64 %start, i64 %left_at, i64 1
  )
"""
RUN_RECORDED = PART | {
    "name": "run_recorded",
    "argument": PART["argument"] + ", ptr %rings, i64 %call, i64 %first",
    "enter": """\
  %open = alloca [4 x i64]
  %open1 = getelementptr i64, ptr %open, i64 1
  %open2 = getelementptr i64, ptr %open, i64 2
  %open3 = getelementptr i64, ptr %open, i64 3
""" + PART["enter"],
    "before": "%start = call i64 @now()",
    "inside": INSIDE.replace("within:\n", f"within:\n{LEFT}"),
    "together_run": OPEN.format(blocks="%total1"),
    "spread_run": OPEN.format(blocks="%blocks").replace("entry_number", "entry_alone"),
    "after": """%alone_blocks = phi i64
    [ 0, %spread ], [ %blocks, %alone ], [ 1, %bodies ], [ 0, %beside ]
  %clock = call i64 @now()
  %late = icmp sgt i64 %clock, %until
  %newest = add i64 %i, %skipped
  %own_number = add i64 %first, %newest
  call void @mark(
    ptr %rings, i64 0, i64 %call, i64 %own_number, i64 %start, i64 %clock, i64 %alone_blocks
  )""",
}  # fmt: skip
