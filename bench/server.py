"""A scripted model on loopback that speaks Anthropic's Messages: a parent hands N tasks out, by itself or through leads, each
child reads K files; or it makes one call several times.

It keeps no state: what it says follows from the request. Each request is logged with when it came and when its answer had
gone out. Its own time counts as the client's, so it does little: a request is looked through, not parsed, and an answer that
was said before is not made anew."""
import asyncio
import functools
import json
import re
import threading
import time

# As deputy writes it: JSON without white space. Within a string there is no bare quote, so these are found in none; and no
# tool that is called here has a member that is called role.
MESSAGES = b'"messages":['
ASSISTANT = b'"role":"assistant"'
TASK = re.compile(rb'BENCH(MAIN|LEAD|CHILD|CALL) ([^"\\]*)')
HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
EXPECTS = re.compile(rb"expect: *100-continue", re.IGNORECASE)


def now():
    return time.monotonic() * 1000


class Asked:
    """What a request is for, the words of its task, and how often the model has answered before."""

    def __init__(self, body):
        begin = body.index(MESSAGES)
        found = TASK.search(body, begin)
        self.kind = found[1].decode() if found else ""
        words = found[2].decode().split() if found else []
        self.words = dict(word.split("=", 1) for word in words if "=" in word)
        self.id = self.words.get("id", "")
        self.step = body.count(ASSISTANT, begin)


def children_of(words):
    """The tasks that a parent hands out; where it has leads, each of them gets its part."""
    count, leads = int(words["n"]), int(words.get("leads", 0))
    if leads:
        prompt = "BENCHLEAD id={} n={} k={k} dir={dir}"
        return [{"agent": "lead", "prompt": prompt.format(i, count // leads, **without_id(words))} for i in range(leads)]
    above = words["id"] + "." if "id" in words else ""
    prompt = "BENCHCHILD id={} k={k} dir={dir} Read the notes one at a time, then answer."
    return [{"agent": "general", "prompt": prompt.format(f"{above}{i}", **without_id(words))} for i in range(count)]


def without_id(words):
    return {name: value for name, value in words.items() if name not in ("id", "n", "leads")}


def calls_for(asked):
    """The tool that the model calls, and with what each time; none where it answers."""
    kind, words, step = asked.kind, asked.words, asked.step
    if kind in ("MAIN", "LEAD") and step == 0:
        return "task", children_of(words)
    if kind == "CALL" and step < int(words["times"]):
        return words["tool"], [{"pattern": words["pattern"]}]
    if kind == "CHILD" and step < int(words["k"]):
        return "Read", [{"file_path": f"{words['dir']}/note_{step % 8}.txt"}]
    return "", []


def answer_to(asked):
    """What the model says, and whether that is the last of it."""
    tool, calls = calls_for(asked)
    return stream_of(tool, tuple(map(json.dumps, calls))), not calls


@functools.cache
def stream_of(tool, calls):
    def event(kind, **fields):
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "bench", "content": [], "stop_reason": None,
               "usage": {"input_tokens": 1000, "output_tokens": 1}}
    parts = [event("message_start", message=message)]
    blocks = [({"type": "tool_use", "id": f"toolu_{i}", "name": tool, "input": {}},
               {"type": "input_json_delta", "partial_json": call}) for i, call in enumerate(calls)]
    for i, (start, delta) in enumerate(blocks or [({"type": "text", "text": ""}, {"type": "text_delta", "text": "DONE"})]):
        parts += [event("content_block_start", index=i, content_block=start),
                  event("content_block_delta", index=i, delta=delta), event("content_block_stop", index=i)]
    reason = "tool_use" if calls else "end_turn"
    parts += [event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 50}),
              event("message_stop")]
    return "".join(parts).encode()


class Connection(asyncio.Protocol):
    """One request after the other."""

    def __init__(self, server):
        self.server, self.unread, self.body_at = server, bytearray(), 0

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.unread += data
        if not self.body_at:
            end = self.unread.find(HEAD_END)
            if end < 0:
                return
            self.came, self.body_at = now(), end + len(HEAD_END)
            self.request_size = self.body_at + int(LENGTH.search(self.unread, 0, end)[1])
            if EXPECTS.search(self.unread, 0, end):
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if len(self.unread) < self.request_size:
            return
        body = bytes(self.unread[self.body_at:self.request_size])
        del self.unread[:self.request_size]
        self.body_at = 0
        self.take(body)

    def take(self, body):
        due = asyncio.get_running_loop().time() + self.server.first_byte_ms / 1000
        asked = Asked(body)
        if not self.server.lets_in(asked, self.came):
            return  # it waits until the client is gone
        stream, is_last = answer_to(asked)
        entry = {"kind": asked.kind, "id": asked.id, "came": self.came, "body": body, "is_last": is_last}
        asyncio.get_running_loop().call_at(due, self.answer, stream, entry)

    def answer(self, stream, entry):
        self.server.in_flight -= 1
        if self.transport.is_closing():
            return
        self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b"
                             % (len(stream), stream))
        self.server.log.append({**entry, "sent": now()})


class Server:
    """Listens from when it is made, on a thread of its own."""

    def __init__(self, first_byte_ms):
        self.first_byte_ms = first_byte_ms
        self.log = []
        self.arrivals = []  # of every request, answered or not: when, for what, and its step
        self.in_flight = self.most_in_flight = 0
        self.held_from = None  # children that have come to this step get no answer
        self.held = 0
        listening = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._listen(listening)), daemon=True).start()
        listening.wait()

    async def _listen(self, listening):
        server = await asyncio.get_running_loop().create_server(lambda: Connection(self), "127.0.0.1", 0, backlog=4096)
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        await server.serve_forever()

    def lets_in(self, asked, came):
        self.arrivals.append((came, asked.kind, asked.id, asked.step))
        if asked.kind == "CHILD" and self.held_from is not None and asked.step >= self.held_from:
            self.held += 1
            return False
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        return True
