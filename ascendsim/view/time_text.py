"""A timeline as text for a terminal: pipes, where they wait, bytes, what limits the launch."""

from __future__ import annotations

import sys
from typing import Any

from ascendsim.observe.timeline import Timeline
from ascendsim.observe.timeline.cost import LOW
from ascendsim.observe.timeline.steps import WRITE
from ascendsim.view import text

BAR = 30
HBM_FACTS = {"read": "hbm_read", "write": "hbm_write"}


def time_text(title: str, document: dict[str, Any], timeline: Timeline) -> str:
    """Return what `ascendsim time` prints of its document."""
    return text.joined(
        text.facts(title, _head(document, timeline)),
        text.table(
            "pipes of the slowest core, in the order of the data",
            ("pipe", "busy cycles", "us", "ratio", ""),
            [_pipe_row(name, pipe, timeline) for name, pipe in document["pipes"].items()],
        ),
        text.table("stalls", ("pipe", "waits for", "cycles", "ratio"), _stall_rows(document)),
        text.table(
            "memory, all cores",
            ("", "bytes", "of them HBM", "GB/s", "HBM GB/s", "HBM can do"),
            _byte_rows(document, timeline),
        ),
        text.facts("bound by " + document["bound"], _verdict(document, timeline)),
    )


def low_costs(timeline: Timeline) -> list[tuple[str, float]]:
    """Return (what, share of the slowest block's busy cycles) of the low-confidence costs."""
    time = timeline.launch.blocks[timeline.launch.slowest]
    total, found = 0.0, dict[str, float]()
    for kind, index in zip(time.stream.recorder.kinds, time.index, strict=True):
        work = time.works[index]
        if kind > WRITE:
            continue
        total += work.busy
        if work.low:
            found[work.name] = found.get(work.name, 0.0) + work.busy
    order = sorted(found, key=lambda name: -found[name])
    return [(name, found[name] / total) for name in order]


def _head(document: dict[str, Any], timeline: Timeline) -> dict[str, Any]:
    blocks = sum(len(time.stream.blocks) for time in timeline.launch.blocks)
    return {
        "aiv time": f"{document['aiv_us']:.2f} us, {document['cycles']:.0f} cycles",
        "task time": f"{document['task_us']:.2f} us with {document['launch_us']:.2f} us of launch",
        "blocks": f"{blocks} on {document['cores']} core{'s' * (document['cores'] != 1)}",
        "UB used": f"{document['ub']['used']} of {document['ub']['capacity']} bytes, "
        f"{document['ub']['used'] / document['ub']['capacity']:.0%}",
    }


def _pipe_row(name: str, pipe: dict[str, float], timeline: Timeline) -> tuple[str, ...]:
    cycles, ratio = pipe["busy_cycles"], pipe["ratio"]
    microseconds = cycles / timeline.launch.soc.clock_mhz
    return name, f"{cycles:.0f}", f"{microseconds:.2f}", f"{ratio:.3f}", _bar(ratio)


def _bar(ratio: float) -> str:
    full, empty = ("█", "·") if "utf" in (sys.stdout.encoding or "").lower() else ("#", ".")
    length = min(BAR, round(ratio * BAR))
    return full * length + empty * (BAR - length)


def _stall_rows(document: dict[str, Any]) -> list[tuple[str, ...]]:
    total = document["cycles"] or 1.0
    rows = [
        (pipe, cause, cycles)
        for pipe, causes in document["stalls"].items()
        for cause, cycles in causes.items()
    ]
    rows.sort(key=lambda row: -row[2])
    return [(pipe, why, f"{cycles:.0f}", f"{cycles / total:.3f}") for pipe, why, cycles in rows]


def _byte_rows(document: dict[str, Any], timeline: Timeline) -> list[tuple[Any, ...]]:
    moved, rates, seconds = document["bytes"], document["gb_per_s"], document["aiv_us"] * 1e-6
    rows = []
    for way, fact in HBM_FACTS.items():
        from_hbm = moved[f"hbm_{way}"]
        peak = timeline.launch.soc.get(fact)
        rate = from_hbm / seconds / 1e9 if seconds else 0.0
        can = f"{peak / 1e9:.0f}" if peak else None
        rows.append((way, moved[way], from_hbm, f"{rates[way]:.1f}", f"{rate:.1f}", can))
    return rows


def _verdict(document: dict[str, Any], timeline: Timeline) -> dict[str, str]:
    lost, exposed = document["conflict_cycles"], document["exposed_latency_cycles"]
    share = document["confidence"]["low_share"]
    busiest, pipe = max(document["pipes"].items(), key=lambda item: item[1]["ratio"])
    low = ", ".join(f"{name} {part:.0%}" for name, part in low_costs(timeline)[:5])
    return {
        "advice": document["advice"],
        "busiest pipe": f"{busiest}, {pipe['ratio']:.0%} of the time, with HBM shared",
        "exposed latency": f"{exposed:.0f} cycles of reads that V waited for",
        "bank conflicts": f"{lost:.0f} cycles, {lost / (document['cycles'] or 1.0):.1%}",
        "confidence": f"{share:.0%} of the busy cycles rest on {' or '.join(LOW)} costs"
        + (f": {low}" if low else ""),
        "more": "ascendsim explain bound stall hbm bank-conflict",
    }
