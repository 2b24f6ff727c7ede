"""What runs loops and branches of a program, as LLVM IR text: bodies are walked by the same pool.

A region's parameters are a head of twelve words:

    0  how many branches; 0: a loop            1      most steps
    2  base, 3 offset of the flag or index     4      number of the body's base of the flag
    5  base, 6 offset of the bodies' bases     7      records, one for each body
    8  how many copies go before all, 9 they   10     how many copies go after all, 11 they

A record is nine words: table, entries, bases, rules, copies before a step and after it, and how
many entries only the first step runs. A rule
says where a base of the body is at a step: (base, offset) at the first, at even and at odd ones,
and how far it moves with each step.
"""

from __future__ import annotations

HEAD, RECORD, RULE = 12, 9, 7
NEVER = (1 << 63) - 1  # a time that does not come


def _loads(record: str, names: str, first: int = 0) -> str:
    """Words of a record by name, with a type where one is no number: `ptr:table`."""
    lines = []
    for k, word in enumerate(names.split(), first):
        type_, _, name = word.rpartition(":")
        lines.append(f"  %{name}_at = getelementptr i64, ptr %{record}, i64 {k}")
        lines.append(f"  %{name} = load {type_ or 'i64'}, ptr %{name}_at")
    return "\n".join(lines)


NESTED = f"""
declare ptr @memmove(ptr, ptr, i64)

; The address of a base of a body at a step.
define internal i64 @aimed(ptr %rule, ptr %bases, i64 %step) nounwind {{{{
entry:
  %begins = icmp eq i64 %step, 0
  %odd = and i64 %step, 1
  %twice = mul i64 %odd, 2
  %later = add i64 %twice, 2
  %which = select i1 %begins, i64 0, i64 %later
  %pair = getelementptr i64, ptr %rule, i64 %which
{_loads("pair", "number offset")}
  %stride_at = getelementptr i64, ptr %rule, i64 6
  %stride = load i64, ptr %stride_at
  %base_at = getelementptr i64, ptr %bases, i64 %number
  %base = load i64, ptr %base_at
  %start = add i64 %base, %offset
  %moved = mul i64 %stride, %step
  %found = add i64 %start, %moved
  ret i64 %found
}}}}

; Copies between bases of a body: from, to, bytes.
define internal void @moves(ptr %list, i64 %count, ptr %inner) nounwind {{{{
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %copy ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %copy, label %out
copy:
  %at = mul i64 %k, 3
  %move = getelementptr i64, ptr %list, i64 %at
{_loads("move", "from to bytes")}
  %source_at = getelementptr i64, ptr %inner, i64 %from
  %target_at = getelementptr i64, ptr %inner, i64 %to
  %source = load ptr, ptr %source_at
  %target = load ptr, ptr %target_at
  %rc = call ptr @memmove(ptr %target, ptr %source, i64 %bytes)
  %k1 = add i64 %k, 1
  br label %head
out:
  ret void
}}}}

; Copies from outside to outside before a loop: from base and offset, to base and offset, bytes.
define internal void @begin(ptr %list, i64 %count, ptr %bases) nounwind {{{{
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %copy ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %copy, label %out
copy:
  %at = mul i64 %k, 5
  %move = getelementptr i64, ptr %list, i64 %at
{_loads("move", "from from_offset to to_offset bytes")}
  %source_at = getelementptr i64, ptr %bases, i64 %from
  %target_at = getelementptr i64, ptr %bases, i64 %to
  %source_base = load ptr, ptr %source_at
  %target_base = load ptr, ptr %target_at
  %source = getelementptr i8, ptr %source_base, i64 %from_offset
  %target = getelementptr i8, ptr %target_base, i64 %to_offset
  %rc = call ptr @memmove(ptr %target, ptr %source, i64 %bytes)
  %k1 = add i64 %k, 1
  br label %head
out:
  ret void
}}}}

; Copies from where the next step would read to outside: rule, to base and offset, bytes.
define internal void @finish(ptr %list, i64 %count, ptr %rules, ptr %bases, i64 %step) nounwind {{{{
entry:
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %next ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %out
look:
  %at = mul i64 %k, 4
  %move = getelementptr i64, ptr %list, i64 %at
{_loads("move", "from to to_offset bytes")}
  %rule_at = mul i64 %from, {RULE}
  %rule = getelementptr i64, ptr %rules, i64 %rule_at
  %address = call i64 @aimed(ptr %rule, ptr %bases, i64 %step)
  %target_at = getelementptr i64, ptr %bases, i64 %to
  %target_base = load i64, ptr %target_at
  %target_address = add i64 %target_base, %to_offset
  %there = icmp eq i64 %address, %target_address
  br i1 %there, label %next, label %copy
copy:
  %source = inttoptr i64 %address to ptr
  %target = inttoptr i64 %target_address to ptr
  %rc = call ptr @memmove(ptr %target, ptr %source, i64 %bytes)
  br label %next
next:
  %k1 = add i64 %k, 1
  br label %head
out:
  ret void
}}}}

; One step of a body: its bases are set, then its table is walked.
define internal void @step(
  ptr %pool, ptr %record, ptr %bases, ptr %inner, i64 %step, i1 %mine
) nounwind {{{{
entry:
{_loads("record", "ptr:table entries count ptr:rules before ptr:first after ptr:last once")}
  %begins = icmp eq i64 %step, 0
  %past = select i1 %begins, i64 0, i64 %once
  %past_words = mul i64 %past, 4
  %rest = getelementptr i64, ptr %table, i64 %past_words
  %left = sub i64 %entries, %past
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %aim ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %aim, label %run
aim:
  %at = mul i64 %k, {RULE}
  %rule = getelementptr i64, ptr %rules, i64 %at
  %address = call i64 @aimed(ptr %rule, ptr %bases, i64 %step)
  %place = getelementptr i64, ptr %inner, i64 %k
  store i64 %address, ptr %place
  %k1 = add i64 %k, 1
  br label %head
run:
  call void @moves(ptr %first, i64 %before, ptr %inner)
  call void @walk(ptr %pool, ptr %rest, i64 %left, ptr %inner, i1 %mine)
  call void @moves(ptr %last, i64 %after, ptr %inner)
  ret void
}}}}

; A loop or a branch; the step to go on from if it is too late for more, 0 once all is done.
define internal i64 @region(
  ptr %pool, ptr %head, ptr %bases, i1 %mine, i64 %until, i64 %from
) nounwind {{{{
entry:
{_loads("head", "branches limit number offset flag_base inner_number inner_offset ptr:records")}
{_loads("head", "before ptr:first after ptr:last", 8)}
  %inner_base_at = getelementptr i64, ptr %bases, i64 %inner_number
  %inner_base = load ptr, ptr %inner_base_at
  %inner = getelementptr i8, ptr %inner_base, i64 %inner_offset
  %is_loop = icmp eq i64 %branches, 0
  %flagged = icmp sge i64 %number, 0
  br i1 %flagged, label %decide, label %loop
decide:
  %given_at = getelementptr i64, ptr %bases, i64 %number
  %given_base = load ptr, ptr %given_at
  %given = getelementptr i8, ptr %given_base, i64 %offset
  br i1 %is_loop, label %flag, label %branch
branch:
  %index = load i64, ptr %given, align 1
  %negative = icmp slt i64 %index, 0
  %low = select i1 %negative, i64 0, i64 %index
  %greatest = sub i64 %branches, 1
  %high = icmp sgt i64 %low, %greatest
  %chosen = select i1 %high, i64 %greatest, i64 %low
  %chosen_at = mul i64 %chosen, {RECORD}
  %body = getelementptr i64, ptr %records, i64 %chosen_at
  call void @step(ptr %pool, ptr %body, ptr %bases, ptr %inner, i64 0, i1 %mine)
  ret i64 0
flag:
  %begins = load i8, ptr %given
  %going = icmp ne i8 %begins, 0
  br label %loop
loop:
  %some = phi i1 [ true, %entry ], [ %going, %flag ]
  %timed = icmp ne i64 %until, {NEVER}
  %again = icmp ne i64 %from, 0
  br i1 %again, label %head1, label %new
new:
  call void @begin(ptr %first, i64 %before, ptr %bases)
  br label %head1
head1:
  %t = phi i64 [ 0, %new ], [ %from, %loop ], [ %t1, %ask ]
  %wanted = phi i1 [ %some, %new ], [ true, %loop ], [ %still, %ask ]
  %within = icmp slt i64 %t, %limit
  %go = and i1 %wanted, %within
  br i1 %go, label %look, label %done
look:
  br i1 %timed, label %watch, label %run
watch:
  %clock = call i64 @now()
  %late = icmp sgt i64 %clock, %until
  %begun = icmp sgt i64 %t, %from
  %leave = and i1 %late, %begun
  br i1 %leave, label %pause, label %run
pause:
  ret i64 %t
run:
  call void @step(ptr %pool, ptr %records, ptr %bases, ptr %inner, i64 %t, i1 %mine)
  br i1 %flagged, label %read, label %ask
read:
  %told_at = getelementptr i64, ptr %inner, i64 %flag_base
  %told = load ptr, ptr %told_at
  %answer = load i8, ptr %told
  %yes = icmp ne i8 %answer, 0
  br label %ask
ask:
  %still = phi i1 [ true, %run ], [ %yes, %read ]
  %t1 = add i64 %t, 1
  br label %head1
done:
  %rules_at = getelementptr i64, ptr %records, i64 3
  %rules = load ptr, ptr %rules_at
  call void @finish(ptr %last, i64 %after, ptr %rules, ptr %bases, i64 %t)
  ret i64 0
}}}}
"""
