"""A scripted model on loopback that speaks Anthropic's Messages: a parent hands N tasks out, by itself or through leads, each
child reads K files; or it makes one call several times.

It keeps no state: what it says follows from the request. Each request is logged with when it came and when its answer had
gone out."""
import asyncio
import json
import re
import threading
import time

TASK = re.compile(r"BENCH(MAIN|LEAD|CHILD|CALL) ([^\n]*)")


def now():
    return time.monotonic() * 1000


def said_in(message):
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)


def task_of(messages):
    """What the conversation is for, and the words of its task."""
    found = TASK.search(said_in(messages[0]))
    return (found[1], dict(word.split("=", 1) for word in found[2].split() if "=" in word)) if found else ("", {})


def step_of(messages):
    return sum(message["role"] == "assistant" for message in messages)


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


def answer_to(messages):
    """What the model says: a text, or calls of one tool."""
    kind, words = task_of(messages)
    step = step_of(messages)
    if kind in ("MAIN", "LEAD") and step == 0:
        return "task", children_of(words)
    if kind == "CALL" and step < int(words["times"]):
        return words["tool"], [{"pattern": words["pattern"]}]
    if kind == "CHILD" and step < int(words["k"]):
        return "Read", [{"file_path": f"{words['dir']}/note_{step % 8}.txt"}]
    return "", []


def stream_of(tool, calls):
    def event(kind, **fields):
        return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "bench", "content": [], "stop_reason": None,
               "usage": {"input_tokens": 1000, "output_tokens": 1}}
    parts = [event("message_start", message=message)]
    blocks = [({"type": "tool_use", "id": f"toolu_{i}", "name": tool, "input": {}},
               {"type": "input_json_delta", "partial_json": json.dumps(call)}) for i, call in enumerate(calls)]
    for i, (start, delta) in enumerate(blocks or [({"type": "text", "text": ""}, {"type": "text_delta", "text": "DONE"})]):
        parts += [event("content_block_start", index=i, content_block=start),
                  event("content_block_delta", index=i, delta=delta), event("content_block_stop", index=i)]
    reason = "tool_use" if calls else "end_turn"
    parts += [event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 50}),
              event("message_stop")]
    return "".join(parts).encode()


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
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 26, backlog=4096)
        self.port = server.sockets[0].getsockname()[1]
        listening.set()
        await server.serve_forever()

    async def _serve(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                came = now()
                if "expect: 100-continue" in head:
                    writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                body = await reader.readexactly(int(re.search(r"content-length: *(\d+)", head)[1]))
                due = now() + self.first_byte_ms
                messages = json.loads(body)["messages"]
                kind, words = task_of(messages)
                self.arrivals.append((came, kind, words.get("id", ""), step_of(messages)))
                if kind == "CHILD" and self.held_from is not None and step_of(messages) >= self.held_from:
                    self.held += 1
                    await reader.read()  # until the client is gone
                    return
                tool, calls = answer_to(messages)
                stream = stream_of(tool, calls)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                await asyncio.sleep(max(0, due - now()) / 1000)
                self.in_flight -= 1
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: %d\r\n\r\n%b"
                             % (len(stream), stream))
                sent = now()
                await writer.drain()
                self.log.append({"kind": kind, "id": words.get("id", ""), "came": came, "sent": sent, "body": body,
                                 "is_last": not calls})
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
