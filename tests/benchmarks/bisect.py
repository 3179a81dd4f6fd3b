"""How many builds the bisection takes, beside other tools: ``python -m tests.benchmarks.bisect --help``.

Builds are simulated, so this counts and does not time. It exits with 1 if anything that is required is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import dataclass, field
from functools import partial
from math import comb, log2
from statistics import fmean
from typing import TYPE_CHECKING

from tests.benchmarks.bisect_oracles import Builds, NoisyBuilds, RefusingBuilds, coupled_blocks, disjoint_sets
from tests.benchmarks.bisect_peers import PEERS, AssumptionError
from trtforensics.bisection.search import Item, Search, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tests.benchmarks.bisect_oracles import Sets
    from trtforensics.bisection.search import Ask

CELLS = {
    "one culprit": [1],
    "2 independent": [1, 1],
    "5 independent": [1] * 5,
    "a pair": [2],
    "pair + single": [2, 1],
    "a triple": [3],
}
_HOT = 10
_HOT_SHARE = 0.8
_CONFIDENCE = 0.99
_MAJORITY = 5
_ENDS_AND_CERTIFICATE = 6
"""Builds of an outlook that are no step of a search: both endpoints; the culprits alone and the rest, each twice."""


@dataclass
class Report:
    """Prints tables, and remembers what is missed."""

    missed: list[str] = field(default_factory=list)

    def require(self, holds: bool, what: str) -> None:  # noqa: FBT001 - reads as an assertion
        """Note a requirement that does not hold."""
        if not holds:
            self.missed.append(what)

    def table(self, title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a table."""
        cells = [
            list(heads),
            *([f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows),
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        print(f"\n{title}\n")
        for row in cells:
            print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
        sys.stdout.flush()


def main() -> int:
    """Run the parts asked for."""
    parts = {"exact": exact, "prior": prior, "weights": weights, "many": many, "jobs": jobs}
    parts |= {"refused": refused, "noise": noise}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="seeds for each cell (default 100)")
    parser.add_argument("--noise-seeds", type=int, default=1000, help="seeds for each cell with noise (default 1000)")
    parser.add_argument("--items", type=int, nargs="*", default=[100, 276, 1000, 10_000], help="numbers of items")
    parser.add_argument("--part", choices=parts, action="append", help="only this part; may be repeated")
    arguments = parser.parse_args()
    report = Report()
    for part in arguments.part or parts:
        parts[part](report, arguments)
    print("\nmissed:", *report.missed or ["nothing"], sep="\n  ")
    return bool(report.missed)


def answered(search: Search, verdict: Callable[[Ask], Verdict], room: int = 1) -> int:
    """Run a search to its end; return the number of rounds of at most ``room`` probes."""
    rounds = 0
    while not search.done:
        rounds += 1
        for ask in search.asks(room):
            search.tell(ask, verdict(ask))
    return rounds


def items(count: int) -> list[Item]:
    """Return items of equal suspicion."""
    return [Item(str(index)) for index in range(count)]


def ours(builds: Builds) -> Sets:
    """Answer with our search; an answer without a certificate does not count."""
    search = Search(items(builds.items))
    answered(search, builds.verdict)
    result = search.result()
    return result.culprits if result.status is Status.CERTIFIED else ()


def exact(report: Report, arguments: argparse.Namespace) -> None:
    """Deterministic outcomes: mean and maximum builds of every tool in every cell."""
    heads = ["", "log2 C(N,k)", "promised", "trtforensics", *PEERS]
    for count in arguments.items:
        rows = [_exact_row(report, count, name, arguments.seeds) for name in CELLS]
        report.table(f"Builds, mean/max, N = {count:,}, {arguments.seeds} seeds ('-': the tool stops)", heads, rows)


def _exact_row(report: Report, count: int, cell: str, seeds: int) -> list[object]:
    sizes = CELLS[cell]
    depth = (count - 1).bit_length()
    promised = 2 + len(sizes) + sum(sizes) * (depth + 1) + sum(sizes) - len(sizes)
    tools = {"trtforensics": ours, **PEERS}
    taken = {name: [_builds(find, seed, count, sizes) for seed in range(seeds)] for name, find in tools.items()}
    mine = [builds or 0 for builds in taken["trtforensics"]]
    where = f"N = {count}, {cell}"
    report.require(None not in taken["trtforensics"], f"{where}: wrong")
    report.require(max(mine) <= promised, f"{where}: {max(mine)} builds, promised {promised}")
    shown = []
    for name, builds in taken.items():
        complete = [number for number in builds if number is not None]
        right = len(complete) == seeds
        shown.append(f"{fmean(complete):.2f}/{max(complete)}" if right else "-")
        report.require(not right or fmean(mine) <= fmean(complete), f"{where}: {name} takes fewer builds on average")
    return [cell, f"{log2(comb(count, sum(sizes))):.1f}", promised, *shown]


def _builds(find: Callable[[Builds], Sets], seed: int, count: int, sizes: list[int]) -> int | None:
    """Return how many builds a tool takes, None if its answer is not right and complete."""
    builds = Builds(count, disjoint_sets(seed, count, sizes))
    try:
        found = find(builds)
    except AssumptionError:
        return None
    return len(builds.built) if set(found) == set(builds.sets) else None


def prior(report: Report, arguments: argparse.Namespace) -> None:
    """Suspicion: the exact expectation of builds to name one culprit, over every item it may be."""
    del arguments
    count = 1000
    hot = sorted(next(iter(disjoint_sets(0, count, [_HOT]))))
    share = [_HOT_SHARE / _HOT if index in hot else (1 - _HOT_SHARE) / (count - _HOT) for index in range(count)]
    suspicious = [Item(str(index), share[index]) for index in range(count)]
    informed = [_builds_to_name(suspicious, culprit) for culprit in range(count)]
    uniform = fmean(_builds_to_name(items(count), culprit) for culprit in range(count))
    expected = sum(map(float.__mul__, share, map(float, informed)))
    wrong = fmean(builds for index, builds in enumerate(informed) if index not in hot)
    bound = -sum(part * log2(part) for part in share) + 2
    rows = [
        ("true", f"{expected:.2f}", f"{bound:.2f}", max(informed)),
        ("none", f"{uniform:.2f}", f"{log2(count) + 2:.2f}", 2 + (count - 1).bit_length()),
        ("wrong (none of the suspects is it)", f"{wrong:.2f}", "", max(informed)),
    ]
    title = f"Builds to name one of {count:,}, {_HOT_SHARE:.0%} of the prior on {_HOT}; exact expectation"
    report.table(title, ["prior", "builds", "bound", "max"], rows)
    report.require(expected <= 7.7, f"true prior: {expected:.2f} builds")
    report.require(wrong - uniform <= 1.2, f"wrong prior: {wrong - uniform:.2f} builds more")


def _builds_to_name(suspicious: list[Item], culprit: int) -> int:
    search = Search(suspicious)
    builds = 0
    while len(search.outlook().suspects) > 1:
        for ask in search.asks():
            builds += 1
            search.tell(ask, Verdict.BAD if culprit in ask.active else Verdict.GOOD)
    return builds


def weights(report: Report, arguments: argparse.Namespace) -> None:
    """Suspicions of 1 to 64, drawn: most builds beside what the outlook promises before the first."""
    rows = []
    for count in arguments.items:
        for cell, sizes in CELLS.items():
            over, spare, taken = 0, [], []
            for seed in range(arguments.seeds):
                draw = random.Random(f"weights {seed}")
                search = Search([Item(str(index), float(draw.randint(1, 64))) for index in range(count)])
                a_member = search.outlook().worst - _ENDS_AND_CERTIFICATE + 1
                promised = 2 + len(sizes) + sum(sizes) * a_member + sum(sizes) - len(sizes)
                taken.append(_taken(report, search, Builds(count, disjoint_sets(seed, count, sizes))))
                over += taken[-1] > promised
                spare.append(promised - taken[-1])
            rows.append((f"{count:,}", cell, fmean(taken), max(taken), min(spare), over))
            report.require(not over, f"weights, N = {count}, {cell}: {over} searches over the promise")
    heads = ["N", "", "mean builds", "max", "least left of the promise", "over it"]
    report.table(f"Suspicions of 1 to 64, {arguments.seeds} seeds", heads, rows)


def many(report: Report, arguments: argparse.Namespace) -> None:
    """A share of all items are culprits, each by itself: at most N + 2 + s builds beyond the promise."""
    count, rows = 200, []
    for culprits in (20, 50, 100, 150, 200):
        found = [disjoint_sets(seed, count, [1] * culprits) for seed in range(arguments.seeds)]
        taken = [_taken(report, Search(items(count)), Builds(count, sets)) for sets in found]
        one_by_one = count + 2 + culprits
        promised = 2 + culprits + culprits * ((count - 1).bit_length() + 1)
        rows.append((culprits, fmean(taken), max(taken), promised, one_by_one))
        report.require(max(taken) <= promised + one_by_one, f"{culprits} of {count}: {max(taken)} builds")
        report.require(culprits < count or max(taken) <= one_by_one, f"all {count}: {max(taken)} builds")
    heads = ["culprits", "mean builds", "max", "promised", "N + 2 + s"]
    report.table(f"Many culprits, N = {count}, {arguments.seeds} seeds", heads, rows)


def _taken(report: Report, search: Search, builds: Builds) -> int:
    """Return the builds of a search to its end; a wrong or uncertified answer is missed."""
    answered(search, builds.verdict)
    result = search.result()
    right = result.status is Status.CERTIFIED and set(result.culprits) == set(builds.sets)
    report.require(right, f"N = {builds.items}, sets {builds.sets}: {result.status}")
    return len(builds.built)


def jobs(report: Report, arguments: argparse.Namespace) -> None:
    """Several builds at once: rounds to the certificate of one culprit."""
    rows = []
    for count in arguments.items:
        for room in (1, 2, 4, 8):
            rounds = []
            for seed in range(arguments.seeds):
                builds = Builds(count, disjoint_sets(seed, count, [1]))
                search = Search(items(count))
                rounds.append(answered(search, builds.verdict, room))
                report.require(search.result().culprits == builds.sets, f"N = {count}, {room} jobs: wrong")
            cuts = next(cuts for cuts in range(count) if (room + 1) ** cuts >= count)
            promised = cuts + (6 if room == 1 else 3)
            rows.append((f"{count:,}", room, fmean(rounds), max(rounds), promised))
            report.require(
                max(rounds) <= promised, f"N = {count}, {room} jobs: {max(rounds)} rounds, {promised} promised"
            )
    heads = ["N", "jobs", "mean rounds", "max", "log_(P+1) N + endpoints + certificate"]
    report.table(f"Rounds of builds at once, one culprit, {arguments.seeds} seeds", heads, rows)


def refused(report: Report, arguments: argparse.Namespace) -> None:
    """Mixes that cannot be built: one culprit, a share of all mixes refused, coupled neighbours."""
    count = 1000
    plain = fmean(_builds(ours, seed, count, [1]) or 0 for seed in range(arguments.seeds))
    rows = []
    for title, chance, share in (("20 % of mixes", 0.2, 0.0), ("20 % of mixes, coupled blocks", 0.2, 0.06)):
        runs = [partial(_refused_run, seed, count, chance, share)() for seed in range(arguments.seeds)]
        right = sum(kind == "exact" for kind, _ in runs)
        wrong = sum(kind == "wrong" for kind, _ in runs)
        mean = fmean(builds for _, builds in runs)
        rows.append((title, right, sum(kind == "block" for kind, _ in runs), wrong, mean, mean / plain))
        report.require(right >= 0.9 * arguments.seeds, f"{title}: {right} exact")
        report.require(wrong == 0, f"{title}: {wrong} wrong")
        report.require(mean <= 1.5 * plain, f"{title}: {mean:.1f} builds, {plain:.1f} where nothing is refused")
    heads = ["refused", "exact", "list no longer than the block", "wrong", "mean builds", "to nothing refused"]
    report.table(f"Refused mixes, N = {count:,}, {arguments.seeds} seeds", heads, rows)


def _refused_run(seed: int, count: int, chance: float, share: float) -> tuple[str, int]:
    (culprit,) = next(iter(disjoint_sets(seed, count, [1])))
    builds = RefusingBuilds(seed, count, culprit, chance, coupled_blocks(seed, count, share))
    search = Search(items(count))
    answered(search, builds.verdict)
    result = search.result()
    if result.culprits:
        return ("exact" if result.culprits == (frozenset({culprit}),) else "wrong"), builds.builds
    listed = culprit in result.suspects and len(result.suspects) <= len(builds.block)
    return ("block" if listed else "wrong"), builds.builds


def noise(report: Report, arguments: argparse.Namespace) -> None:
    """Outcomes that may be wrong: how often the answer is right, and its builds, beside two ways to live with noise."""
    count, rows = 1000, []
    for flip in (0.05, 0.1):
        for shown in (0.9, 0.5):
            runs = [_noisy_runs(seed, count, flip, shown) for seed in range(arguments.noise_seeds)]
            row: list[object] = [f"{flip:.0%}", shown]
            for way in range(3):
                row += [sum(run[way][0] for run in runs), fmean(run[way][1] for run in runs)]
            rows.append([*row, fmean(run[0][2] for run in runs)])
            right = sum(run[0][0] for run in runs)
            report.require(right >= 0.98 * arguments.noise_seeds, f"flip {flip}, shown {shown}: {right} right")
    heads = [
        "flips",
        "shown",
        "right",
        "builds",
        "plain: right",
        "builds",
        "majority of 5: right",
        "builds",
        "our checks",
    ]
    title = f"Noise, N = {count:,}, confidence {_CONFIDENCE}, {arguments.noise_seeds} seeds"
    report.table(title, heads, rows)


def _noisy_runs(seed: int, count: int, flip: float, shown: float) -> list[tuple[bool, int, int]]:
    """Return for our search, plain bisection and bisection by majority: right, builds, checks."""
    (culprit,) = next(iter(disjoint_sets(seed, count, [1])))
    builds = NoisyBuilds(seed, culprit, flip, shown)
    search = Search(items(count), confidence=_CONFIDENCE)
    answered(search, builds.verdict)
    runs = [(search.result().culprits == (frozenset({culprit}),), builds.builds, builds.checks)]
    for votes in (1, _MAJORITY):
        builds = NoisyBuilds(seed, culprit, flip, shown)
        right = _plain_bisection(builds, count, votes) == culprit
        runs.append((right, builds.builds, builds.checks))
    return runs


def _plain_bisection(builds: NoisyBuilds, count: int, votes: int) -> int:
    """Halve with so many builds a step, each checked once; endpoints and certificate are built and not looked at."""

    def bad(active: frozenset[int]) -> bool:
        verdicts = [builds.check(active, build, 0) for build in range(votes)]
        return 2 * verdicts.count(Verdict.BAD) > votes

    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bad(frozenset(range(middle))) else (middle, high)
    for end in (frozenset[int](), frozenset(range(count)), frozenset({low}), frozenset(range(count)) - {low}):
        bad(end)
    return low


if __name__ == "__main__":
    sys.exit(main())
