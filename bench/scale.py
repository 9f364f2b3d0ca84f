"""What no peer is measured by: each part runs deputy as people do, and prints a line with what it found, what that is to be,
and whether it is. bench/run calls them by name, each with a folder of its own that is gone after it."""
import json
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

import process
from server import Server, now

PARTS = ("history", "cache", "thousand", "streams", "search", "resume", "size")
LONGEST_S = 300  # that a part waits for what it is about to measure


def tell(what, value, most=None, least=None, digits=2):
    limit = f"at most {most}" if least is None else f"at least {least}"
    is_met = value <= most if least is None else value >= least
    print(f"{what}: {value:.{digits}f} (to be {limit}): {'met' if is_met else 'NOT MET'}", flush=True)


def give_up(what, folder):
    print(f"{what}: not measured, for deputy did not come so far. What it said last:\n{process.what_it_said(folder)}",
          file=sys.stderr, flush=True)


def raise_open_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def wait_for(started):
    """Its exit status; one that takes too long is killed."""
    try:
        return started.wait(LONGEST_S)
    except subprocess.TimeoutExpired:
        started.kill()
        return started.wait()


class Watched:
    """A process, the most memory it had, and when it ended."""

    def __init__(self, started):
        self.started, self.most_pss_kb = started, 0
        self._watching = threading.Thread(target=self._watch, daemon=True)
        self._watching.start()

    def _watch(self):
        while self.started.poll() is None:
            self.most_pss_kb = max(self.most_pss_kb, process.pss_kb(self.started.pid))
            time.sleep(0.2)

    def wait(self):
        status = wait_for(self.started)
        self._watching.join()
        return status


def measure_history(_folder):
    """CPU of a step by how long its conversation is; a program of its own prints it."""
    subprocess.run([process.BINARIES / "history_bench"], check=False)


def measure_thousand(folder):
    """A parent, eight leads, 125 children each, all at once."""
    raise_open_files()
    children, leads, reads, first_byte = 1000, 8, 4, 500
    server = Server(first_byte)
    _, work = process.make_folders(folder)
    prompt = f"BENCHMAIN n={children} leads={leads} k={reads} dir={work}"
    command = process.words("none", "none", "none") + ["run", prompt]
    watched = Watched(process.start(command, folder, f"http://127.0.0.1:{server.port}"))
    status = watched.wait()
    main = sorted((one for one in server.log if one["kind"] == "MAIN"), key=lambda one: one["came"])
    if status != 0 or len(main) != 2:
        return give_up("1,000 children at once", folder)
    # Parent and lead before them, their own turns, lead and parent after them.
    ideal = (reads + 1 + 4) * first_byte
    tell("1,000 children in one tree, requests in flight at once", server.most_in_flight, least=children, digits=0)
    tell("1,000 children in one tree, whole ÷ ideal", (main[1]["sent"] - main[0]["came"]) / ideal, most=1.5)
    tell("1,000 children in one tree, memory (PSS), MB", watched.most_pss_kb / 1024, most=150, digits=0)


def make_certificate(folder):
    """One that signs itself, for 127.0.0.1."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                    "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
                    certificate], check=True, capture_output=True)
    return certificate, key


class H2Server:
    """h2_server.py as a process of its own, and what it said last."""

    def __init__(self, certificate, key):
        self._process = subprocess.Popen([sys.executable, "-B", process.ROOT / "bench/h2_server.py", certificate, key],
                                         stdout=subprocess.PIPE, text=True)
        self.said = json.loads(self._process.stdout.readline())
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self._process.stdout:
            self.said = json.loads(line)

    def end(self):
        self._process.kill()
        self._process.wait()


def measure_streams(folder):
    """10,000 children, each of which waits for the next event of an answer that comes slowly."""
    raise_open_files()
    children, leads, seconds = 10_000, 80, 10
    certificate, key = make_certificate(folder)
    server = H2Server(certificate, key)
    _, work = process.make_folders(folder)
    command = process.words("none", "none", "none") + ["run", f"BENCHMAIN n={children} leads={leads} k=0 dir={work}"]
    started = process.start(command, folder, f"https://127.0.0.1:{server.said['port']}", {"SSL_CERT_FILE": str(certificate)})
    try:
        until = time.monotonic() + LONGEST_S
        while server.said["children"] < children and started.poll() is None and time.monotonic() < until:
            time.sleep(0.5)
        if server.said["children"] < children:
            print(f"children that asked their model: {server.said['children']} of {children}", file=sys.stderr)
            return give_up("10,000 slow streams", folder)
        time.sleep(5)  # what starting them took is over
        cpu, events, began = process.cpu_ms(started.pid), server.said["events"], time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        share = (process.cpu_ms(started.pid) - cpu) / (took * 10)
        said = server.said
        own_kb = said["own_bytes"] / children / 1024
        held_kb = process.pss_kb(started.pid) / children
        print(f"10,000 slow streams: {(said['events'] - events) / took:.0f} events a second; a child has {held_kb:.1f} KB of "
              f"the process's memory (PSS), of which {own_kb:.1f} KB are its request and the words that it has heard", flush=True)
        tell("10,000 slow streams, memory of each beside its own bytes, KB", held_kb - own_kb, most=40, digits=1)
        tell("10,000 slow streams, CPU, % of a core", share, most=15, digits=1)
    finally:
        started.kill()
        started.wait()
        server.end()


def make_tree(folder):
    """300 MB of words in 30,000 files."""
    chosen = random.Random(1)
    words = ["".join(chosen.choices("abcdefghijklmnopqrstuvwxyz", k=chosen.randint(2, 9))) for _ in range(2000)]
    pages = ["\n".join(" ".join(chosen.choices(words, k=12)) for _ in range(200)) for _ in range(64)]
    for number in range(30_000):
        place = folder / f"part_{number // 1000}" / f"section_{number // 30}"
        place.mkdir(parents=True, exist_ok=True)
        text = pages[number % len(pages)][:10_000]
        mark = f"\nTheNeedle lies in {number}\n" if number % 3000 == 0 else "\n"
        (place / f"file_{number}.txt").write_text(text + mark)


def median_ms(command, folder, times):
    """Of the program alone, with what it prints taken in."""
    taken = []
    for _ in range(times):
        began = now()
        subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        taken.append(now() - began)
    return taken


def measure_search(folder):
    """Grep and Glob from the model's reply to the next request, against ripgrep with the same words."""
    _, work = process.make_folders(folder)
    make_tree(work)
    ripgrep = ["rg", "--no-config", "--color", "never", "--no-ignore-messages", "--no-require-git"]
    server = Server(1)
    for tool, pattern, own in (("Grep", "TheNeedle", ["--json", "--context", "0", "-e", "TheNeedle"]),
                               ("Glob", "**/*_9.txt", ["--type-add", "meant:*_9.txt", "--type", "meant", "--files", "--null"])):
        alone, ours = [], []
        median_ms([*ripgrep, *own, "--", "./"], work, 2)  # it is all in memory then
        for _ in range(4):
            alone += median_ms([*ripgrep, *own, "--", "./"], work, 3)
            server.log.clear()
            prompt = f"BENCHCALL tool={tool} times=4 pattern={pattern}"
            started = process.start(process.words() + ["run", prompt], folder, f"http://127.0.0.1:{server.port}")
            wait_for(started)
            log = sorted(server.log, key=lambda one: one["came"])
            steps = [after["came"] - before["sent"] for before, after in zip(log, log[1:])]
            ours += steps[1:]  # the first finds out what the machine can do
        if len(ours) < 9:
            give_up(f"{tool} on 300 MB", folder)
            continue
        ours_ms, alone_ms = statistics.median(ours), statistics.median(alone)
        print(f"{tool} on 300 MB: {ours_ms:.0f} ms, ripgrep alone {alone_ms:.0f} ms", flush=True)
        tell(f"{tool} on 300 MB ÷ ripgrep's own time", ours_ms / alone_ms, most=1.15)


def measure_resume(folder):
    """A tree of 64 children is killed in the middle and taken up again."""
    children, rounds, taken, continued = 64, 5, [], []
    server = Server(20)
    for number in range(rounds):
        place = folder / str(number)
        _, work = process.make_folders(place)
        url = f"http://127.0.0.1:{server.port}"
        server.held_from, server.held = 2, 0
        started = process.start(process.words() + ["run", f"BENCHMAIN n={children} k=4 dir={work}"], place, url)
        until = time.monotonic() + LONGEST_S
        while server.held < children and started.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        started.send_signal(signal.SIGKILL)
        started.wait()
        if server.held < children:
            return give_up("resume of a killed tree", place)
        server.held_from = None
        server.arrivals.clear()
        began = now()
        wait_for(process.start(process.words_to_resume(), place, url))
        if not server.arrivals:
            return give_up("resume of a killed tree", place)
        taken.append(min(came for came, *_ in server.arrivals) - began)
        continued.append(len({child for _, kind, child, step in server.arrivals if kind == "CHILD" and step >= 2}))
    tell("resume of a killed tree of 64, time to its first request, ms", statistics.median(taken), most=50, digits=0)
    tell("resume of a killed tree of 64, children that went on where they were", min(continued), least=children, digits=0)


def measure_size(folder):
    subprocess.run(["cmake", "--install", process.ROOT / "build/release", "--prefix", folder / "installed"], check=True,
                   stdout=subprocess.DEVNULL)
    size = sum(path.stat().st_size for path in (folder / "installed").rglob("*") if path.is_file())
    tell("installed size, MB", size / 1e6, most=30, digits=1)
    shutil.rmtree(folder / "installed")
