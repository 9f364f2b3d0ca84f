"""Runs deputy and its peers on the same scripted work and prints one table. bench/run has built what this needs.

With the harness of the peers at hand (--harness, or ../shared/bench beside the clone) all of them are measured by it, in one
run; it needs root, for a network that ends at loopback. Without it deputy alone is measured, with the server of server.py,
and what is told beside it is the ideal: the model's own time."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import process
import scale
from process import ROOT
from server import Server

DEPUTY = process.words()
CLI_PEERS = ("codex", "claude", "gemini", "opencode", "pi", "qwen")
PARTS = ("table", "kill", *scale.PARTS)
READS_BEFORE_COMMAND = 2  # of a child in the harness's runs with faults
QUIET = 0.35  # cores that others may use during a run that counts


def options():
    read = argparse.ArgumentParser(prog="bench/run", description="what deputy adds to the model's own time")
    read.add_argument("--children", default="1,8,64", help="how many at once (1,8,64)")
    read.add_argument("--reads", type=int, default=4, help="files that each child reads (4)")
    read.add_argument("--rounds", type=int, default=5, help="runs of each (5)")
    read.add_argument("--first-byte", type=float, default=20, help="milliseconds that the model takes (20)")
    read.add_argument("--quiet-wait", type=float, default=20, help="seconds to wait for a quiet machine before a run (20)")
    read.add_argument("--parts", default=",".join(PARTS), help="which: " + ", ".join(PARTS))
    read.add_argument("--peers", help="which of the installed (all)")
    read.add_argument("--harness", default=str(ROOT / "../shared/bench"), help="its folder; 'none' for our own server")
    return read.parse_args()


def peers_there(harness, asked, ours):
    """Which can be measured; `ours` are the words that deputy is started with."""
    os.environ["BENCH_OURS"] = " ".join(ours + ["run", "{prompt}"])
    os.environ["BENCH_OURS_RESUME"] = " ".join(process.words_to_resume())
    os.environ["BENCH_OURS_MARKER"] = "agent=general"
    sys.path.insert(0, str(harness))
    from peers import PEERS, PEERS_DIR
    there = [name for name, peer in PEERS.items() if not peer["install"] or (PEERS_DIR / peer["install"]).is_dir()]
    return [name for name in there if not asked.peers or name in ("ours", "floor", *asked.peers.split(","))]


def run_harness(harness, mode, more, out):
    subprocess.run([sys.executable, "-B", str(harness / "run.py"), mode, *more, "--out", str(out)], check=True)
    return map(json.loads, out.read_text().splitlines())


def measure_with_harness(harness, asked, results):
    """One record a run, as the harness writes them: times, then memory, whose sampling would disturb the times."""
    chosen = peers_there(harness, asked, DEPUTY)
    print("measured:", ", ".join(chosen), flush=True)
    common = ["--peers", ",".join(chosen), "--k", str(asked.reads), "--ttft", str(asked.first_byte), "--timeout", "300",
              "--quiet-wait", str(asked.quiet_wait)]
    for name, more in (("times", ["--n", asked.children, "--rounds", str(asked.rounds)]),
                       ("memory", ["--n", "1,8", "--rounds", "3", "--pss"])):
        yield from run_harness(harness, "measure", common + more, results / f"{name}.jsonl")


def shared(a, b):
    """How many bytes at their beginning are the same."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low


def cached(parent, children):
    """The share of bytes with which an earlier request began too: of a session's further requests, the one before; of a
    child's first, a sibling's."""
    of_own = of_siblings = own = siblings = 0
    for session in (parent, *children):
        for before, after in zip(session, session[1:]):
            own, of_own = own + len(after), of_own + shared(before, after)
    for before, after in zip(children, children[1:]):
        siblings, of_siblings = siblings + len(after[0]), of_siblings + shared(before[0], after[0])
    return of_own / max(1, own), of_siblings / max(1, siblings)


def busy_ms():
    """CPU time that the whole machine has used, and this process of it."""
    user, nice, system, _, _, irq, softirq, steal = map(int, open("/proc/stat").readline().split()[1:9])
    ticks = user + nice + system + irq + softirq + steal
    return 1000 * ticks / os.sysconf("SC_CLK_TCK"), 1000 * time.process_time()


def measure_one(server, children, asked, folder):
    """One run of deputy, as a record of the harness would have it."""
    _, work = process.make_folders(folder)
    server.log.clear()
    prompt = f"BENCHMAIN n={children} k={asked.reads} dir={work}"
    busy_before, own_before = busy_ms()
    began = time.monotonic() * 1000
    started = process.start(DEPUTY + ["run", prompt], folder, f"http://127.0.0.1:{server.port}")
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() * 1000 - began
    busy, own = busy_ms()
    cpu_ms = 1000 * (used.ru_utime + used.ru_stime)
    foreign = max(0, busy - busy_before - (own - own_before) - cpu_ms) / took
    log = sorted(server.log, key=lambda one: one["came"])
    main = [one for one in log if one["kind"] == "MAIN"]
    of_child = {}
    for one in log:
        if one["kind"] == "CHILD":
            of_child.setdefault(one["id"], []).append(one)
    is_whole = started.returncode == 0 and len(main) == 2 and len(of_child) == children
    if not is_whole:
        print(process.what_it_said(folder), file=sys.stderr)
        return {"peer": "ours", "n": children, "ok": False}
    requests = [[one["body"] for one in each] for each in of_child.values()]
    known_own, known_siblings = cached([one["body"] for one in main], requests)
    return {"peer": "ours", "n": children, "ok": all(each[-1]["is_last"] for each in of_child.values()), "pss_mode": False,
            "evict": False, "foreign": foreign, "first_main": main[0]["came"] - began,
            "spawn": [each[0]["came"] - main[0]["sent"] for each in of_child.values()],
            "steps": [b["came"] - a["sent"] for each in of_child.values() for a, b in zip(each, each[1:])],
            "span": main[1]["sent"] - main[0]["came"], "ideal": (asked.reads + 3) * asked.first_byte,
            "cpu_ms": cpu_ms, "rss_kb": used.ru_maxrss,
            "child_bytes": len(requests[0][0]), "turns_per_child": asked.reads + 1,
            "cached_own": known_own, "cached_siblings": known_siblings}


def measure_alone(asked, results):
    server = Server(asked.first_byte)
    counts = [int(n) for n in asked.children.split(",")]
    measure_one(server, 1, asked, results)  # the first start in a home finds out what the machine can do
    for _ in range(asked.rounds):
        for children in counts:
            yield measure_one(server, children, asked, results)


class Figures:
    """Medians of the runs that went well; of the quiet ones where there are three."""

    def __init__(self, records):
        self.records = [one for one in records if one["ok"]]
        self.bad = [one for one in records if not one["ok"]]

    def runs(self, peer, children, with_pss=False):
        runs = [one for one in self.records
                if (one["peer"], one["n"], one["pss_mode"]) == (peer, children, with_pss) and not one["evict"]]
        quiet = [one for one in runs if one["foreign"] <= QUIET]
        return quiet if len(quiet) >= 3 else runs

    def median(self, peer, children, key, with_pss=False):
        values = []
        for run in self.runs(peer, children, with_pss):
            value = run.get(key)
            values += value if isinstance(value, list) else [] if value is None else [value]
        return statistics.median(values) if values else None

    def per_extra(self, peer, key, with_pss=False):
        """What each child beyond the first comes to, of eight."""
        one, eight = self.median(peer, 1, key, with_pss), self.median(peer, 8, key, with_pss)
        return None if one is None or eight is None else (eight - one) / 7

    def cpu_per_step(self, peer):
        child, turns = self.per_extra(peer, "cpu_ms"), self.median(peer, 8, "turns_per_child")
        return None if child is None or not turns else child / turns


def rows(figures, counts):
    """What is told: a name, how it is found of a peer, how many digits it has, what ours is to be at most, and whether that
    is a multiple of the floor's."""
    def goal(goals, n):
        return goals.get(n)

    def of(key, n, scale=1, with_pss=False):
        def find(peer):
            value = figures.median(peer, n, key, with_pss)
            return None if value is None else value / scale
        return find

    for n in counts:
        yield f"start → first request, ms, N={n}", of("first_main", n), 0, 25, False
    for n in counts:
        yield f"spawn → a child's first request, ms, N={n}", of("spawn", n), 1, goal({8: 5, 64: 30}, n), False
    for n in counts:
        yield f"own time of a child's step, ms, N={n}", of("steps", n), 1, goal({1: 1.5, 8: 3}, n), False
    for n in counts:
        yield f"whole delegation, ms, N={n}", of("span", n), 0, goal({1: 1.08, 8: 1.15, 64: 1.35}, n), True
    yield "CPU of a further child step, ms", figures.cpu_per_step, 2, 0.5, False
    yield "memory (PSS), MB, N=8", of("pss_kb", 8, 1024, True), 1, 25, False
    yield ("memory (PSS) of a further child, MB",
           lambda peer: (lambda kb: None if kb is None else kb / 1024)(figures.per_extra(peer, "pss_kb", True)), 2, 0.2, False)
    yield "memory (RSS), MB, N=8", of("rss_kb", 8, 1024), 1, None, False
    yield "child's first request, bytes", of("child_bytes", 8), 0, 7000, False
    yield "bytes of a request known from the session's last, %", of("cached_own", 8, 0.01), 1, None, False
    yield "bytes of a first request known from a sibling's, %", of("cached_siblings", 8, 0.01), 1, None, False


def table(figures, counts):
    peers = [name for name in CLI_PEERS if any(one["peer"] == name for one in figures.records)]
    has_floor = any(one["peer"] == "floor" for one in figures.records)

    def ratio(a, b):
        return f"{a / b:.2f}" if b else "–"

    head = ["", "ours", "floor" if has_floor else "ideal", "ours ÷ it", "best peer", "ours ÷ it", *peers, "to be", "is met"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name, find, digits, most, of_floor in rows(figures, counts):
        ours = find("ours")
        if ours is None:
            continue
        floor = find("floor") if has_floor else None
        if not has_floor and of_floor:
            floor = figures.records[0]["ideal"]
        theirs = {peer: value for peer in peers if (value := find(peer)) is not None}
        best = min(theirs, key=theirs.get) if theirs else None
        told = [name, f"{ours:.{digits}f}", "–" if floor is None else f"{floor:.{digits}f}", ratio(ours, floor),
                f"{theirs[best]:.{digits}f} ({best})" if best else "–", ratio(ours, theirs.get(best))]
        told += [f"{theirs[peer]:.{digits}f}" if peer in theirs else "–" for peer in peers]
        limit = most * floor if of_floor and most and floor else None if of_floor else most
        told.append("–" if limit is None else f"{limit:.{digits}f}" + (f" ({most} × {head[2]})" if of_floor else ""))
        told.append("–" if limit is None else "yes" if ours <= limit else "no")
        print("| " + " | ".join(told) + " |")
    loud = [one for one in figures.records if one["foreign"] > QUIET]
    if loud:
        print(f"{len(loud)} of {len(figures.records)} runs were not quiet: others used up to "
              f"{max(one['foreign'] for one in loud):.1f} cores meanwhile. Where there were no three quiet ones of a kind, "
              "its times tell little.")
    for one in figures.bad:
        print(f"left out: a run of {one['peer']} with {one['n']} children that did not come to its end")


def measure_table(asked):
    """Whether the screen keeps to its limits; the table has none."""
    harness = pathlib.Path(asked.harness)
    results = pathlib.Path(tempfile.mkdtemp(prefix="deputy-bench-run-"))
    try:
        has_harness = asked.harness != "none" and (harness / "run.py").is_file()
        if not has_harness:
            print("measured: ours alone, with the server of bench/server.py", flush=True)
        records = list(measure_with_harness(harness.resolve(), asked, results) if has_harness
                       else measure_alone(asked, results))
    finally:
        shutil.rmtree(results, ignore_errors=True)
    figures = Figures(records)
    if not any(one["peer"] == "ours" for one in figures.records):
        sys.exit("bench/run: no run of deputy came to its end; what it said stands above")
    table(figures, [int(n) for n in asked.children.split(",")])
    print(flush=True)
    return subprocess.run([str(ROOT / "build/release/bin/screen_bench")]).returncode == 0


def measure_kill(asked, folder):
    """What SIGKILL leaves of eight children whose commands run, and how many of them go on when they are resumed."""
    harness, children = pathlib.Path(asked.harness).resolve(), 8
    if not (harness / "run.py").is_file():
        print("what SIGKILL leaves: told with the harness of the peers alone", flush=True)
        return
    # What its children run lies beside the folder that they work in.
    there = peers_there(harness, asked, DEPUTY + ["--cwd", "{wd}/.."])
    chosen = [name for name in there if name in ("ours", *CLI_PEERS)]
    more = ["--peers", ",".join(chosen), "--n", str(children), "--faults", "kill", "--nap", "15"]
    found = {}
    for one in run_harness(harness, "faults", more, folder / "kill.jsonl"):
        begun_at = {}
        for conversation, step, *_ in one.get("resume_convs", []):
            begun_at.setdefault(conversation, step or 0)
        went_on = [name for name, step in begun_at.items() if name.startswith("child") and step > READS_BEFORE_COMMAND]
        found[one["peer"]] = one["n_orphans"], len(went_on)
        if one["sleeping_before"] < children:
            print(f"{one['peer']} had {one['sleeping_before']} commands running when it was killed", flush=True)
            found[one["peer"]] = None
    for peer, (left, went_on) in ((peer, each) for peer, each in found.items() if each):
        print(f"{peer} killed with {children} commands running: {left} processes left, {went_on} children went on", flush=True)
    if not found.get("ours"):
        return print(f"killed with {children} commands running: not measured", file=sys.stderr, flush=True)
    left, went_on = found["ours"]
    scale.tell(f"killed with {children} commands running, processes left", left, most=0, digits=0)
    scale.tell(f"killed with {children} commands running, children that went on", went_on, least=children, digits=0)


def measure_cache(folder):
    """What a prompt cache can know of a request, with eight children that read four files each."""
    asked = argparse.Namespace(reads=4, first_byte=20)
    record = measure_one(Server(asked.first_byte), 8, asked, folder)
    if record["ok"]:
        scale.tell("bytes of a request known from the session's last, %", 100 * record["cached_own"], least=95)
        scale.tell("bytes of a first request known from a sibling's, %", 100 * record["cached_siblings"], least=80)


def main():
    asked = options()
    unknown = set(asked.parts.split(",")) - set(PARTS)
    if unknown:
        sys.exit(f"bench/run: there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    is_screen_quick = True
    for part in asked.parts.split(","):
        if part == "table":
            is_screen_quick = measure_table(asked)
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="d-"))  # its paths, as long as the harness's, stand in requests
        try:
            if part == "kill":
                measure_kill(asked, folder)
            else:
                (measure_cache if part == "cache" else getattr(scale, f"measure_{part}"))(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if not is_screen_quick:
        sys.exit("bench/run: the chat's screen is not what it is to be; how far it is from it stands above")


if __name__ == "__main__":
    main()
