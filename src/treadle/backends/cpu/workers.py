"""The workers and the runners of programs as LLVM IR text.

Kernels are `void kernel(ptr bases, ptr params, i64 block, i64 tid)`; an entry of a program is four
words: kernel, params, number of blocks, flags. Blocks are handed out through one word, the ticket:
a number of the entry above the count of blocks not yet taken. Taking one is a compare-exchange of
the whole ticket, so a thread that woke late can never take a block of an entry it did not look at,
and the caller waits for blocks that were taken, never for threads.
"""

from __future__ import annotations

from treadle.backends.cpu.host import MAX_THREADS
from treadle.backends.cpu.nesting import NESTED
from treadle.backends.cpu.recorded import LAUNCH_RECORDED, MARK, RECORDED, RUN_RECORDED
from treadle.backends.cpu.runners import GROUP, LAUNCH, LAYOUT, PART, PLAIN, RUN, TRACED, WALK
from treadle.base.target import Target

SERIAL, REGION = 1, 2
"""Flags of an entry whose blocks all run on the caller, in order; of one that has bodies."""
MAX_BLOCKS = (1 << 24) - 1  # the ticket's low bits; entries with more run on the caller
SPIN_NANOSECONDS = 100_000  # then a worker sleeps
PART_NANOSECONDS = 50_000_000  # then a long program comes back to Python between two entries

SHARED = """
define internal i64 @now() nounwind {{
entry:
  %time = alloca [2 x i64]
  %rc = call i32 @clock_gettime(i32 {CLOCK_MONOTONIC}, ptr %time)
  %s = load i64, ptr %time
  %np = getelementptr i64, ptr %time, i64 1
  %n = load i64, ptr %np
  %t = mul i64 %s, 1000000000
  %r = add i64 %t, %n
  ret i64 %r
}}

; Take blocks of whatever entry is open and run them; the number of blocks run.
define internal i64 @take(ptr %pool, i64 %tid) nounwind {{
entry:
  %work = getelementptr i8, ptr %pool, i64 {WORK}
  %pp = getelementptr i8, ptr %work, i64 8
  %bp = getelementptr i8, ptr %work, i64 16
  %np = getelementptr i8, ptr %work, i64 24
  br label %look
look:
  %ran = phi i64 [ 0, %entry ], [ %ran, %try ], [ %ran1, %run ]
  %ticket = load atomic i64, ptr %pool acquire, align 8
  %left = and i64 %ticket, {MAX_BLOCKS}
  %none = icmp eq i64 %left, 0
  br i1 %none, label %out, label %try
try:
  ; These may already belong to a later entry. Acquire: then the exchange below must fail.
  %fn = load atomic ptr, ptr %work acquire, align 8
  %params = load atomic ptr, ptr %pp acquire, align 8
  %bases = load atomic ptr, ptr %bp acquire, align 8
  %blocks = load atomic i64, ptr %np acquire, align 8
  %less = sub i64 %ticket, 1
  %pair = cmpxchg ptr %pool, i64 %ticket, i64 %less acq_rel monotonic, align 8
  %won = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %won, label %run, label %look
run:
  %block = sub i64 %blocks, %left
  call void %fn(ptr %bases, ptr %params, i64 %block, i64 %tid)
  %ran1 = add i64 %ran, 1
  br label %look
out:
  ret i64 %ran
}}
"""

WORKER = """
define void @worker(ptr %pool, i64 %tid) nounwind {{
entry:
  %done = getelementptr i8, ptr %pool, i64 {DONE}
  %wake = getelementptr i8, ptr %pool, i64 {WAKE}
  %asleep = getelementptr i8, ptr %pool, i64 {ASLEEP}
  %quit = getelementptr i8, ptr %pool, i64 {QUIT}
  br label %work
work:
  %ran = call i64 @take(ptr %pool, i64 %tid)
  %useful = icmp ne i64 %ran, 0
  br i1 %useful, label %report, label %rest
report:
  %sum = atomicrmw add ptr %done, i64 %ran acq_rel, align 8
  br label %rest
rest:
  %start = call i64 @now()
  br label %spin
spin:
  %n = phi i64 [ 0, %rest ], [ %n1, %pause ], [ 0, %time ]
  %ticket = load atomic i64, ptr %pool monotonic, align 8
  %left = and i64 %ticket, {MAX_BLOCKS}
  %some = icmp ne i64 %left, 0
  br i1 %some, label %work, label %pause
pause:
  {pause}
  %n1 = add i64 %n, 1
  %check = icmp eq i64 %n1, 64
  br i1 %check, label %time, label %spin
time:
  %t = call i64 @now()
  %spent = sub i64 %t, %start
  %long = icmp sgt i64 %spent, {SPIN_NANOSECONDS}
  br i1 %long, label %drowsy, label %spin
drowsy:
  ; Order matters: read the wake word, announce the sleep, look once more. The caller opens an
  ; entry, then looks for sleepers, so one of us sees the other.
  %seen = load atomic i32, ptr %wake seq_cst, align 4
  store atomic i32 1, ptr %asleep seq_cst, align 4
  %again = load atomic i64, ptr %pool seq_cst, align 8
  %left2 = and i64 %again, {MAX_BLOCKS}
  %some2 = icmp ne i64 %left2, 0
  br i1 %some2, label %work, label %last
last:
  %stop = load atomic i32, ptr %quit seq_cst, align 4
  %leave = icmp ne i32 %stop, 0
  br i1 %leave, label %out, label %sleep
sleep:
  {sleep}
  br label %work
out:
  ret void
}}

define void @dismiss(ptr %pool) nounwind {{
entry:
  %wake = getelementptr i8, ptr %pool, i64 {WAKE}
  %quit = getelementptr i8, ptr %pool, i64 {QUIT}
  store atomic i32 1, ptr %quit seq_cst, align 4
  %w = atomicrmw add ptr %wake, i32 1 seq_cst, align 4
  {rouse}
  ret void
}}
"""

FORK = """
; Run one entry on all threads. Only the holder of the lock comes here.
define internal void @fork(ptr %pool, ptr %fn, ptr %params, i64 %blocks, ptr %bases) nounwind {{
entry:
  %done = getelementptr i8, ptr %pool, i64 {DONE}
  %wake = getelementptr i8, ptr %pool, i64 {WAKE}
  %asleep = getelementptr i8, ptr %pool, i64 {ASLEEP}
  %work = getelementptr i8, ptr %pool, i64 {WORK}
  %pp = getelementptr i8, ptr %work, i64 8
  %bp = getelementptr i8, ptr %work, i64 16
  %np = getelementptr i8, ptr %work, i64 24
  %before = load atomic i64, ptr %done monotonic, align 8
  store atomic ptr %fn, ptr %work release, align 8
  store atomic ptr %params, ptr %pp release, align 8
  store atomic ptr %bases, ptr %bp release, align 8
  store atomic i64 %blocks, ptr %np release, align 8
  %old = load atomic i64, ptr %pool monotonic, align 8
  %number = add i64 %old, {ENTRY}
  %ticket = or i64 %number, %blocks
  store atomic i64 %ticket, ptr %pool seq_cst, align 8
  %any = load atomic i32, ptr %asleep seq_cst, align 4
  %sleeping = icmp ne i32 %any, 0
  br i1 %sleeping, label %call, label %mine
call:
  ; Cleared before the wake word changes: whoever falls asleep after that sets it again.
  store atomic i32 0, ptr %asleep seq_cst, align 4
  %w = atomicrmw add ptr %wake, i32 1 seq_cst, align 4
  {rouse}
  br label %mine
mine:
  %ran = call i64 @take(ptr %pool, i64 0)
  %others = sub i64 %blocks, %ran
  %until = add i64 %before, %others
  br label %join
join:
  %n = phi i64 [ 0, %mine ], [ %n1, %wait ], [ %n1, %yield ]
  %now = load atomic i64, ptr %done acquire, align 8
  %ok = icmp eq i64 %now, %until
  br i1 %ok, label %out, label %wait
wait:
  {pause}
  %n1 = add i64 %n, 1
  %long = icmp sgt i64 %n1, 4000
  br i1 %long, label %yield, label %join
yield:
  ; A worker that was preempted inside a block may need this core.
  %rc = call i32 @sched_yield()
  br label %join
out:
  ret void
}}
"""

PARTS = (SHARED, WORKER, FORK, GROUP, NESTED, LAUNCH, MARK, RECORDED, LAUNCH_RECORDED)
WALKS = (WALK, PLAIN, TRACED, PART, RUN_RECORDED)
FUTEX = {"x86_64": 202, "aarch64": 98, "riscv64": 98}  # numbers of the Linux call


def runtime_text(target: Target) -> str:
    """The workers and the runners as LLVM IR for a processor and its system."""
    pause, pause_declarations = _pause(target)
    sleep, rouse, sleep_declarations = _sleeping(target)
    apple = "apple" in target.triple
    values = LAYOUT | {
        "MAX_BLOCKS": MAX_BLOCKS,
        "ENTRY": MAX_BLOCKS + 1,
        "SERIAL": SERIAL,
        "REGION": REGION,
        "SPIN_NANOSECONDS": SPIN_NANOSECONDS,
        "PART_NANOSECONDS": PART_NANOSECONDS,
        "CLOCK_MONOTONIC": 6 if apple else 1,
    }
    code = {"pause": pause, "sleep": sleep, "rouse": rouse}
    return "\n".join(
        [
            *pause_declarations,
            *sleep_declarations,
            "declare i32 @clock_gettime(i32, ptr)",
            "declare i32 @sched_yield()",
            *(part.format(**values, **code) for part in PARTS),
            *(RUN.format(**values, **options) for options in WALKS),
        ]
    )


def _pause(target: Target) -> tuple[str, list[str]]:
    """An instruction that tells the core we are only waiting, and its declaration."""
    if target.is_x86:
        return "call void @llvm.x86.sse2.pause()", ["declare void @llvm.x86.sse2.pause()"]
    if target.triple.startswith(("aarch64", "arm64")):
        return "call void @llvm.aarch64.isb(i32 15)", ["declare void @llvm.aarch64.isb(i32)"]
    return "", []


def _sleeping(target: Target) -> tuple[str, str, list[str]]:
    """How a worker sleeps until the wake word changes, how all are woken, and declarations."""
    number = FUTEX.get(target.triple.split("-")[0])
    if number is None or "linux" not in target.triple:  # look again every millisecond
        return "%rc = call i32 @usleep(i32 1000)", "", ["declare i32 @usleep(i32)"]
    call = f"call i64 (i64, ...) @syscall(i64 {number}, ptr %wake, i64"
    sleep = f"%word = zext i32 %seen to i64\n  %rc = {call} 128, i64 %word, ptr null)"
    rouse = f"%woken = {call} 129, i64 {MAX_THREADS})"
    return sleep, rouse, ["declare i64 @syscall(i64, ...)"]
