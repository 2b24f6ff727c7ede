"""What walks the table of a program, as LLVM IR text: plainly, with a clock, or for a while.

The walk that writes down who ran what is in recorded.py.
"""

from __future__ import annotations

from treadle.backends.cpu.nesting import NEVER

BESIDE = 8
"""Flags above these bits: how many of the next entries may run at the same time as an entry."""
STATE_BYTES = 256
LAYOUT = {  # of the pool, in bytes; what different threads write lies in different cache lines
    "WORK": 64,  # kernel, params, bases, blocks of the open entry
    "DONE": 128,  # blocks that workers have finished, ever
    "WAKE": 192,  # changes when sleepers shall wake
    "ASLEEP": 196,
    "QUIT": 200,
    "LOCK": 204,
    "THREADS": 208,
}

# A block of one of several entries; %row is the first of them.
GROUP = """
define internal void @group(ptr %bases, ptr %row, i64 %block, i64 %tid) nounwind {{
entry:
  br label %look
look:
  %e = phi ptr [ %row, %entry ], [ %e4, %past ]
  %b = phi i64 [ %block, %entry ], [ %b1, %past ]
  %e2 = getelementptr i64, ptr %e, i64 2
  %blocks = load i64, ptr %e2
  %here = icmp slt i64 %b, %blocks
  br i1 %here, label %run, label %past
past:
  %b1 = sub i64 %b, %blocks
  %e4 = getelementptr i64, ptr %e, i64 4
  br label %look
run:
  %fn = load ptr, ptr %e
  %e1 = getelementptr i64, ptr %e, i64 1
  %params = load ptr, ptr %e1
  call void %fn(ptr %bases, ptr %params, i64 %b, i64 %tid)
  ret void
}}
"""

RUN = """
define {result} @{name}(ptr %pool, ptr %table, i64 %count, ptr %bases{argument}) nounwind {{
entry:
{enter}
begin:
{begun}  br label %head
head:
  %i = phi i64 [ 0, %begin ], [ %i1, %next ]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %end
body:
  {before}
  %at = mul i64 %i, 4
  %e = getelementptr i64, ptr %table, i64 %at
  %fn = load ptr, ptr %e
  %e1 = getelementptr i64, ptr %e, i64 1
  %params = load ptr, ptr %e1
  %e2 = getelementptr i64, ptr %e, i64 2
  %blocks = load i64, ptr %e2
  %e3 = getelementptr i64, ptr %e, i64 3
  %flags = load i64, ptr %e3
  %others = {others}
  %several_rows = icmp ne i64 %others, 0
  %together = and i1 %several_rows, %mine
  br i1 %together, label %sum, label %single
sum:
  %k = phi i64 [ 0, %body ], [ %k1, %sum ]
  %total = phi i64 [ %blocks, %body ], [ %total1, %sum ]
  %k1 = add i64 %k, 1
  %row = mul i64 %k1, 4
  %row2 = add i64 %row, 2
  %ep = getelementptr i64, ptr %e, i64 %row2
  %more_blocks = load i64, ptr %ep
  %total1 = add i64 %total, %more_blocks
  %all = icmp eq i64 %k1, %others
  br i1 %all, label %beside, label %sum
beside:
  {together_run}
  br label %next
single:
  %inside = and i64 %flags, {REGION}
  %nested = icmp ne i64 %inside, 0
  br i1 %nested, label %bodies, label %plain
bodies:
{inside}
plain:
  %bit = and i64 %flags, {SERIAL}
  %free = icmp eq i64 %bit, 0
  %many = icmp sgt i64 %blocks, 1
  %fits = icmp sle i64 %blocks, {MAX_BLOCKS}
  %p1 = and i1 %free, %many
  %p2 = and i1 %p1, %fits
  %p3 = and i1 %p2, %mine
  br i1 %p3, label %spread, label %alone
spread:
  {spread_run}
  br label %next
alone:
  %b = phi i64 [ 0, %plain ], [ %b1, %block ]
  %left = icmp slt i64 %b, %blocks
  br i1 %left, label %block, label %next
block:
  call void %fn(ptr %bases, ptr %params, i64 %b, i64 0)
  %b1 = add i64 %b, 1
  br label %alone
next:
  %skipped = phi i64 [ 0, %spread ], [ 0, %alone ], [ 0, %bodies ], [ %others, %beside ]
  {after}
  %done_rows = add i64 %skipped, 1
  %i1 = add i64 %i, %done_rows
  {onward}
end:
  {reached}
  {leave}
out:
  {ret}
}}
"""

# One argument instead of four: Python pays for each. The word after them says that it is done.
GIVEN = """\
  %p1 = getelementptr i64, ptr %words, i64 1
  %p2 = getelementptr i64, ptr %words, i64 2
  %p3 = getelementptr i64, ptr %words, i64 3
  %pool = load ptr, ptr %words
  %table = load ptr, ptr %p1
  %count = load i64, ptr %p2
  %bases = load ptr, ptr %p3
"""
LAUNCH = f"""
define void @launch(ptr %words) nounwind {{{{
entry:
{GIVEN}  call void @run(ptr %pool, ptr %table, i64 %count, ptr %bases)
  %p4 = getelementptr i64, ptr %words, i64 4
  store i64 1, ptr %p4
  ret void
}}}}

; The same for a while; the number of entries run. The word after says where in a loop it is.
define i64 @launch_part(ptr %words) nounwind {{{{
entry:
{GIVEN}  %now = call i64 @now()
  %until = add i64 %now, {{PART_NANOSECONDS}}
  %p4 = getelementptr i64, ptr %words, i64 4
  %ran = call i64 @run_part(
    ptr %pool, ptr %table, i64 %count, ptr %bases, i64 %until, ptr %p4
  )
  ret i64 %ran
}}}}
"""

BEFORE = "%start = call i64 @now()"
AFTER = """%finish = call i64 @now()
  %ra = mul i64 %i, 4
  %r0 = getelementptr i64, ptr %records, i64 %ra
  %r1 = getelementptr i64, ptr %r0, i64 1
  %r2 = getelementptr i64, ptr %r0, i64 2
  %r3 = getelementptr i64, ptr %r0, i64 3
  store i64 %i, ptr %r0
  store i64 %start, ptr %r1
  store i64 %finish, ptr %r2
  store i64 0, ptr %r3"""
INSIDE = """\
  ; A loop that was left begins where it was left; only the first entry can be one.
  %from = load i64, ptr %resume
  %stopped = call i64 @region(
    ptr %pool, ptr %params, ptr %bases, i1 %mine, i64 %until, i64 %from
  )
  store i64 %stopped, ptr %resume
  %unfinished = icmp ne i64 %stopped, 0
  br i1 %unfinished, label %within, label %next
within:
  br label %end"""
LATE = """%clock = call i64 @now()
  %late = icmp sgt i64 %clock, %until"""
ENTER = f"""\
  %lock = getelementptr i8, ptr %pool, i64 {LAYOUT["LOCK"]}
  %tp = getelementptr i8, ptr %pool, i64 {LAYOUT["THREADS"]}
  %threads = load i64, ptr %tp
  %several = icmp sgt i64 %threads, 1
  br i1 %several, label %try, label %begin
try:
  ; Somebody else runs a program on this pool: run ours alone. The results are the same.
  %held = atomicrmw xchg ptr %lock, i32 1 acquire, align 4
  %got = icmp eq i32 %held, 0
  br label %begin"""
LEAVE = """br i1 %mine, label %release, label %out
release:
  store atomic i32 0, ptr %lock release, align 4
  br label %out"""
PLAIN = {
    "name": "run", "argument": "", "before": "", "after": "",
    "inside": f"""\
  %stopped = call i64 @region(ptr %pool, ptr %params, ptr %bases, i1 %mine, i64 {NEVER}, i64 0)
  br label %next""",
    "enter": ENTER, "begun": "  %mine = phi i1 [ false, %entry ], [ %got, %try ]\n",
    "leave": LEAVE,
    "result": "void", "onward": "br label %head", "reached": "", "ret": "ret void",
    "others": f"lshr i64 %flags, {BESIDE}",
    "together_run": "call void @fork(ptr %pool, ptr @group, ptr %e, i64 %total1, ptr %bases)",
    "spread_run": "call void @fork(ptr %pool, ptr %fn, ptr %params, i64 %blocks, ptr %bases)",
}  # fmt: skip
WALK = PLAIN | {  # the table of a body, for whoever runs the program
    "name": "walk", "argument": ", i1 %mine", "enter": "  br label %begin", "begun": "",
    "leave": "br label %out",
}  # fmt: skip
TRACED = PLAIN | {
    "name": "run_traced", "argument": ", ptr %records", "before": BEFORE, "after": AFTER,
    "others": "and i64 %flags, 0",  # one by one, to be timed
}  # fmt: skip
PART = PLAIN | {
    "name": "run_part", "argument": ", i64 %until, ptr %resume", "after": LATE,
    "inside": INSIDE,
    "onward": "br i1 %late, label %end, label %head",
    "result": "i64",
    "reached": "%reached = phi i64 [ %i, %head ], [ %i, %within ], [ %i1, %next ]",
    "ret": "ret i64 %reached",
}  # fmt: skip
