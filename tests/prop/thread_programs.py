"""Random per-thread statements: points and runs that single threads read and write, race free by construction.

An element that one thread writes is met by another one only behind a `barrier()`: a `Touched` remembers what single
threads have met since the last one, and a group that clashes with it gets a barrier in front. A tile or uniform
statement in between orders nothing here, though the compiler must order it. In NumPy a group runs thread by thread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import numpy as np

from tests.prop.subscripts import FLOATS, SUMS, Cta, Made, Meaning, Piece, Scope, convert
from tests.prop.thread_values import BYTES, COMPARES, ExitError, Group, Spot, ThreadValues, Touched, number


class Threads(ThreadValues):
    """Makes the per-thread statements of one program."""

    def __init__(self, seed: int, host: bool = False) -> None:
        super().__init__(seed, host)
        self.with_threads = not host and self.rng.random() < 0.6
        self.touched = Touched()

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """Statements that run any number of times: what ran before and after any of them is not known."""
        self.touched.unknown = True
        try:
            yield
        finally:
            self.touched.unknown = True

    def per_thread(self, scope: Scope) -> tuple[list[str], Meaning]:
        """A group of per-thread statements, with a barrier in front where it needs one."""
        r = self.rng
        if r.random() < 0.15:
            return self.exchange(scope)
        make = r.choice((self.points, self.points, self.choice, self.strided, self.row_sums, self.runs, self.runs,
                         self.run_sum, self.row_sums, self.once_per_warp))  # fmt: skip
        group = Group(self.thread_number())
        lines, do = make(scope, group)
        return self.finished(lines, do, group)

    def finished(self, lines: list[str], do: Meaning, group: Group) -> tuple[list[str], Meaning]:
        if len(group.touched.spots) > 1 and group.touched.clashes(group.touched):
            raise LookupError
        head: list[str] = []
        if self.touched.clashes(group.touched) or self.rng.random() < 0.05:
            head, self.touched = ["barrier()"], Touched()
            self.note("barrier")
        self.touched.spots += group.touched.spots
        if self.rng.random() < 0.4 and (group.index.text[0] == "(" or "ctx.thread" in lines[0]):
            name = self.name("i")
            head.append(f"let {name} = {group.index.text}")
            lines = [re.sub(re.escape(group.index.text) + r"(?!\w)", name, line) for line in lines]

        def run(c: Cta) -> None:
            for thread in range(self.threads):
                c.values["thread"] = thread
                with suppress(ExitError):
                    do(c)

        return [*head, *lines], run

    # ---- groups -----------------------------------------------------------------------------------------------------

    def points(self, scope: Scope, group: Group) -> tuple[list[str], Meaning]:
        """A point for each thread, from points and numbers of its own."""
        target = self.spot(scope, group, True)
        read = self.sources(scope, group)
        value = self.lane_value(target.made.elem, read, self.rng.choice((0, 1, 2)))
        op = "+=" if self.rng.random() < 0.2 else "="
        self.note(f"thread point {op}")

        def do(c: Cta) -> None:
            new = value.do(c)
            target.write(c, c.rounded(target.read(c) + new, target.made.elem) if op == "+=" else new)

        return group.guarded([f"{target.text} {op} {value.text}"], do)

    def sources(self, scope: Scope, group: Group) -> list[Spot]:
        """Up to two spots of tensors that the group does not write."""
        written = {s.made.name for s, w in group.touched.spots if w}
        free = [m for m in self.candidates(scope, False) if m.name not in written]
        return [self.spot(scope, group, False, self.rng.choice(free)) for _ in range(self.rng.randint(0, 2)) if free]

    def choice(self, scope: Scope, group: Group) -> tuple[list[str], Meaning]:
        """An `if` that parts the threads by what they read."""
        r = self.rng
        target, read = self.spot(scope, group, True), self.sources(scope, group)
        elem = r.choice(self.kinds)
        a, b, op = self.lane_value(elem, read, 1), self.lane_value(elem, read, 0), r.choice(sorted(COMPARES))
        yes, no = (self.lane_value(target.made.elem, read, 1) for _ in range(2))
        lines = [f"if {a.text} {op} {b.text} {{", f"  {target.text} = {yes.text}", "}"]
        both = r.random() < 0.6
        if both:
            lines[-1:] = ["} else {", f"  {target.text} = {no.text}", "}"]
        self.note("if of a thread")

        def do(c: Cta) -> None:
            if COMPARES[op](a.do(c), b.do(c)):
                target.write(c, yes.do(c))
            elif both:
                target.write(c, no.do(c))

        return group.guarded(lines, do)

    def strided(self, scope: Scope, group: Group) -> tuple[list[str], Meaning]:
        """Every element of an axis, at a stride of all threads."""
        r = self.rng
        made = r.choice(self.candidates(scope, True) or self.nothing())
        axis = r.randrange(len(made.dims))
        v = self.name("i")
        here = Piece(v, lambda c: c.values[v])
        at = [self.point_in(d, e) for d, e in zip(made.dims, made.shape, strict=True)]
        at[axis] = here
        target = Spot(made, tuple(at), True)
        group.touched.spots.append((target, True))
        start, stop = group.index, self.extent(made, axis)
        by, step = "ctx.threads", lambda c: self.threads
        if start.text.startswith("(ctx.block"):
            letter = start.text[len("(ctx.block.")]
            by, step = f"ctx.grid.{letter} * ctx.threads", lambda c: c.values[f"g{letter}"] * self.threads
        inner = Group(here, group.touched)
        value = self.lane_value(made.elem, self.sources(scope, inner), 1)
        body, do_one = inner.guarded([f"{target.text} = {value.text}"], lambda c: target.write(c, value.do(c)))
        leave, left = self.leaving(here)
        self.note("loop at a stride of the threads")
        lines = [f"for {v} in range({start.text}, {stop.text}, {by}) {{", *leave, *("  " + b for b in body), "}"]
        return lines, self.loop_of(v, start.do, stop.do, step, left, do_one)

    def leaving(self, here: Piece) -> tuple[list[str], Meaning]:
        """Perhaps a `break` or `continue` at the head of a loop, each thread at its own time."""
        r = self.rng
        if r.random() < 0.4:
            return [], lambda c: None
        how, at = r.choice(("break", "continue")), r.choice((3, 16, 33))
        self.note(f"{how} of a thread")

        def do(c: Cta) -> None:
            if here.do(c) % at == 2:
                raise ExitError(how)

        return [f"  if {here.text} % {at} == 2 {{ {how} }}"], do

    def loop_of(self, v: str, start: Meaning, stop: Meaning, step: Meaning, head: Meaning, body: Meaning) -> Meaning:
        def run(c: Cta) -> None:
            for i in range(int(start(c)), int(stop(c)), int(step(c))):
                c.values[v] = i
                try:
                    head(c)
                    body(c)
                except ExitError as left:
                    if left.how == "break":
                        break
                    if left.how != "continue":
                        raise

        return run

    def row_sums(self, scope: Scope, group: Group) -> tuple[list[str], Meaning]:
        """A row for each warp, a part of its sum in each lane, kept in a point of the thread."""
        r = self.rng
        target = self.spot(scope, group, True)
        wide = [m for m in self.candidates(scope, False) if len(m.dims) > 1 and m.name != target.made.name]
        made = r.choice(wide or self.nothing())
        row_axis, axis = r.sample(range(len(made.dims)), 2)
        v, s = self.name("k"), self.name("s")
        row = Piece("ctx.warp", lambda c: c.values["thread"] // 32)
        lane = Piece("ctx.lane", lambda c: c.values["thread"] % 32)
        at = [self.point_in(d, e) for d, e in zip(made.dims, made.shape, strict=True)]
        at[row_axis], at[axis] = row, Piece(v, lambda c: c.values[v])
        spot = Spot(made, tuple(at), True)
        group.touched.spots.append((spot, False))
        elem = SUMS[target.made.elem]
        value = self.lane_value(elem, [spot], r.choice((0, 0, 1)))
        group.guards.append((row, self.extent(made, row_axis)))
        leave, left = self.leaving(at[axis])
        stop = self.extent(made, axis)
        self.note("loop at a stride of the lanes")
        lines = [
            f"var {s}: {elem} = {'0.0' if elem in FLOATS else '0'}",
            f"for {v} in range(ctx.lane, {stop.text}, ctx.lanes) {{",
            *leave,
            f"  {s} += {value.text}",
            "}",
            f"{target.text} = {s}",
        ]

        def add(c: Cta) -> None:
            c.values[s] = c.rounded(c.values[s] + value.do(c), elem)

        walk = self.loop_of(v, lane.do, stop.do, lambda c: 32, left, add)

        def do(c: Cta) -> None:
            c.values[s] = np.int64(0)
            walk(c)
            target.write(c, convert(c, c.values[s], elem, target.made.elem))

        return group.guarded(lines, do)

    # ---- runs -------------------------------------------------------------------------------------------------------

    def run_spot(self, scope: Scope, group: Group, n: int, written: bool, made: Made | None = None) -> Spot:
        """A run of n for each thread."""
        r = self.rng
        fitting = [m for m in self.candidates(scope, written) if max(m.shape) >= n]
        if made is None:
            made = r.choice(fitting or self.nothing())
        axes = [a for a, e in enumerate(made.shape) if e >= n]
        axis = axes[-1] if r.random() < 0.8 else r.choice(axes)
        at = [self.point_in(d, e) for d, e in zip(made.dims, made.shape, strict=True)]
        rest = [a for a in range(len(at)) if a != axis]
        i, own = group.index, True
        if rest and r.random() < 0.4:  # a row for each thread, runs at one place of it
            a, start = r.choice(rest), r.choice((0, 0, 1, 4, 8))
            at[a], at[axis] = i, number(start)
            group.guards += [(i, self.extent(made, a)), (number(start + n - 1), self.extent(made, axis))]
            self.note("run: a row for each thread")
        else:
            off = r.choice((0, 0, 0, 1, 2, 4))
            text = f"{i.text} * {n}" + (f" + {off}" if off else "")
            at[axis] = Piece(text, lambda c: i.do(c) * n + off)
            last = Piece(f"{text} + {n - 1}", lambda c: i.do(c) * n + off + n - 1)
            group.guards.append((last, self.extent(made, axis)))
            self.note("run: one behind the other")
        if axis != len(at) - 1:
            self.note("run: across rows")
        if made not in self.tensors:
            self.note("tile run")
        found = Spot(made, tuple(at), own, axis, n)
        group.touched.spots.append((found, written))
        return found

    def align(self, spot: Spot) -> str:
        """An `align` that is true: of one element, or of the run where it starts at a multiple of its own size."""
        r = self.rng
        size = BYTES[spot.made.elem]
        if r.random() < 0.7:
            return ""
        whole = size * spot.n
        self.note("align")
        multiple = len(spot.at) == 1 and spot.at[0].text.endswith(f"* {spot.n}")
        if multiple and whole in (2, 4, 8, 16) and r.random() < 0.7:
            return f", align = {whole}"
        return f", align = {size}"

    def runs(self, scope: Scope, group: Group) -> tuple[list[str], Meaning]:
        """A run for each thread, from a run of another tensor."""
        r = self.rng
        n = r.choice((2, 4, 4, 4, 8, 8, 16, 3, 6))
        target = self.run_spot(scope, group, n, True)
        elem = target.made.elem
        free = [m for m in self.candidates(scope, False) if m.name != target.made.name and max(m.shape) >= n]
        if free and r.random() < 0.85:
            source = self.run_spot(scope, group, n, False, r.choice(free))
            have, v = source.made.elem, self.name("v")
            read = f"elem({source.text}{self.align(source)})"
            head = [f"let {v} = {read if have == elem else f'{elem}({read})'}"]
            held = Piece(v, lambda c: c.values[v])
            value = held
            for _ in range(r.choice((0, 1, 1, 2))):
                other = held if r.random() < 0.3 else self.lane_value(elem, [], 0)
                value = self.combined(elem, value, other)

            def first(c: Cta) -> None:
                c.values[v] = convert(c, source.read(c), have, elem)
        else:
            head, value, first = [], self.lane_value(elem, [], 1), lambda c: None
        self.note("store of a run")

        def do(c: Cta) -> None:
            first(c)
            target.write(c, value.do(c))

        return group.guarded([*head, f"store({target.text}, {value.text}{self.align(target)})"], do)

    def run_sum(self, scope: Scope, group: Group) -> tuple[list[str], Meaning]:
        """The sum of a run, or of the products of two, in a point of the thread."""
        r = self.rng
        n = r.choice((2, 4, 4, 8, 16, 3))
        target = self.spot(scope, group, True)
        free = [m for m in self.candidates(scope, False) if m.name != target.made.name and max(m.shape) >= n]
        a = self.run_spot(scope, group, n, False, r.choice(free or self.nothing()))
        same = [m for m in free if m.elem == a.made.elem]
        b = self.run_spot(scope, group, n, False, r.choice(same)) if r.random() < 0.5 else None
        elem = SUMS[a.made.elem]
        text = f"{a.text} * {b.text}" if b is not None else a.text
        to = target.made.elem
        self.note("sum of a run")

        def do(c: Cta) -> None:
            x = a.read(c)
            if b is not None:
                y = b.read(c)
                c.rounded(x * y, a.made.elem)
                if np.any(np.abs(np.asarray(x * y)) > 127) and BYTES[a.made.elem] == 1:
                    c.exact = False  # whether a byte wraps here is another test's
                x = x * y
            c.rounded(np.sum(np.abs(x)), elem)
            target.write(c, convert(c, c.rounded(np.sum(x), elem), elem, to))

        value = f"sum({text}{self.align(a) if b is None else ''})"
        return group.guarded([f"{target.text} = {value if elem == to else f'{to}({value})'}"], do)

    # ---- others -----------------------------------------------------------------------------------------------------

    def once_per_warp(self, scope: Scope, group: Group) -> tuple[list[str], Meaning]:
        """A point that a warp writes once, read by nobody before a barrier."""
        warps = self.threads // 32
        fitting = [m for m in self.candidates(scope, True) if max(m.shape) >= warps]
        made = self.rng.choice(fitting or self.nothing())
        axis = max(range(len(made.dims)), key=lambda a: made.shape[a])
        at = [self.point_in(d, e) for d, e in zip(made.dims, made.shape, strict=True)]
        at[axis] = Piece("ctx.warp", lambda c: c.values["thread"] // 32)
        spot = Spot(made, tuple(at), False)
        group.touched.spots.append((spot, True))
        n = self.literal(made.elem)
        add = self.rng.random() < 0.5
        self.note("once per warp")

        def do(c: Cta) -> None:
            if c.values["thread"] % 32 == 0:
                spot.write(c, c.rounded((spot.read(c) if add else 0) + n.do(c), made.elem))

        return [f"{spot.text} {'+=' if add else '='} {n.text}"], do

    def exchange(self, scope: Scope) -> tuple[list[str], Meaning]:
        """What one thread writes another one reads, with the kernel's barrier between."""
        r = self.rng
        made = r.choice([m for m in self.candidates(scope, True) if len(self.tensors) > 1] or self.nothing())
        first, second = (Group(Piece("ctx.thread", lambda c: c.values["thread"])) for _ in range(2))
        axis = max(range(len(made.dims)), key=lambda a: made.shape[a])
        extent = self.extent(made, axis)
        at = [self.point_in(d, e) for d, e in zip(made.dims, made.shape, strict=True)]
        back = list(at)
        at[axis] = first.index
        last = Piece(f"min({extent.text}, ctx.threads) - 1 - ctx.thread",
                     lambda c: min(extent.do(c), self.threads) - 1 - c.values["thread"])  # fmt: skip
        back[axis] = last
        wrote, met = Spot(made, tuple(at), True), Spot(made, tuple(back), True)
        first.touched.spots.append((wrote, True))
        first.guards.append((first.index, extent))
        value = self.lane_value(made.elem, [], 1)
        head, do_first = first.guarded([f"{wrote.text} = {value.text}"], lambda c: wrote.write(c, value.do(c)))
        others = [m for m in self.candidates(scope, True) if m.name != made.name]
        target = self.spot(scope, second, True, r.choice(others or self.nothing()))
        second.touched.spots.append((met, False))
        second.guards.append((second.index, extent))
        to = target.made.elem
        text = met.text if made.elem == to else f"{to}({met.text})"
        tail, do_second = second.guarded(
            [f"{target.text} = {text}"], lambda c: target.write(c, convert(c, met.read(c), made.elem, to))
        )
        if second.touched.clashes(second.touched):
            raise LookupError
        lines, run = self.finished(head, do_first, first)
        more, then = self.finished(tail, do_second, second)
        assert "barrier()" in more
        self.note("exchange")

        def both(c: Cta) -> None:
            run(c)
            then(c)

        return [*lines, *more], both

    def last_words(self, scope: Scope) -> tuple[list[str], Meaning]:
        """Threads that leave; the others do a little more."""
        group = Group(self.thread_number())
        target = self.spot(scope, group, True)
        guards = list(group.guards)
        value = self.lane_value(target.made.elem, [], 1)
        self.note("return of a thread")
        outside = " || ".join(f"{a.text} >= {b.text}" for a, b in guards)

        def do(c: Cta) -> None:
            if all(a.do(c) < b.do(c) for a, b in guards):
                target.write(c, value.do(c))

        return self.finished([f"if {outside} {{ return }}", f"{target.text} = {value.text}"], do, group)
