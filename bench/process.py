"""deputy as the benches start it: its words, its folders, its environment, and what the kernel tells of it."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARIES = ROOT / "build/release/bin"


def words(children=64, live=80, delegations=100):
    """How many children may run, each a number or "none"."""
    return [str(BINARIES / "deputy"), "--model", "anthropic/claude-sonnet-4-5", "--yes", "--max-children", str(children),
            "--max-live", str(live), "--max-delegations", str(delegations)]


def words_to_resume():
    """A tree that is resumed keeps its model."""
    return [str(BINARIES / "deputy"), "--yes", "--max-children", "64", "--max-live", "80", "--max-delegations", "100", "resume"]


def make_folders(folder):
    """A home, with an agent that hands work on, and a workspace with notes to read."""
    home, work = folder / "home", folder / "work"
    agents = home / ".config/deputy/agents"
    for made in (agents, work):
        made.mkdir(parents=True, exist_ok=True)
    (agents / "lead.md").write_text("---\nname: lead\ndescription: hands its task out\ntools: [Read]\nsubagents: ['*']\n"
                                    "timeout: none\n---\nYou hand your task out.\n")
    for i in range(8):
        (work / f"note_{i}.txt").write_text(f"note {i} line one\nnote {i} line two: the quick brown fox\n")
    return home, work


def start(command, folder, base_url, more=None):
    """What it says goes to the file `said` in the folder."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "ANTHROPIC_API_KEY": "dummy", "LANG": "C.UTF-8",
                   "ANTHROPIC_BASE_URL": base_url, **(more or {})}
    with open(folder / "said", "wb") as said:
        return subprocess.Popen(command, cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL, stdout=said,
                                stderr=said)


def what_it_said(folder):
    return (folder / "said").read_text(errors="replace")[-4000:]


def pss_kb(pid):
    """Memory, with what is shared by several processes counted in parts; 0 once it is gone."""
    try:
        for line in open(f"/proc/{pid}/smaps_rollup"):
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


def cpu_ms(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
