"""The scripted model of server.py over HTTP/2 with TLS, as little of HTTP/2 as that needs. Children get an answer that never
ends: an event a second, each in a record of its own, spread over the second.

Usage: h2_server.py CERTIFICATE KEY. Says a line of JSON each second: its port, how many children hang on it, how many
events were sent, and the bytes that are the children's own: their requests, and the words of the events."""
import asyncio
import json
import ssl
import struct
import sys
import time

from server import Asked, answer_to

DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
ACK = END_STREAM = 1
END_HEADERS, PADDED = 4, 8
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
STREAMS_AT_ONCE, STREAM_WINDOW = 100, 1 << 24
MOST_PAYLOAD = 16384
# `:status: 200` by its number in the static table, and content-type by its name's.
HEAD = b"\x88\x0f\x10\x11text/event-stream"
BEGINNING = (b'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant",'
             b'"model":"bench","content":[],"stop_reason":null,"usage":{"input_tokens":1000,"output_tokens":1}}}\n\n'
             b'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text",'
             b'"text":""}}\n\n')
WORD = b"word "
EVENT = (b'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta",'
         b'"text":"' + WORD + b'"}}\n\n')
TICKS = 100  # of a second


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class Held:
    """The children that wait, by the moment of the second at which each gets its event, and the bytes of each that are its
    own."""

    def __init__(self):
        self.by_tick = [{} for _ in range(TICKS)]
        self.began = self.events = 0

    def count(self):
        return sum(map(len, self.by_tick))

    def own_bytes(self):
        return sum(sum(waiting.values()) for waiting in self.by_tick)

    def add(self, connection, stream, request_bytes):
        self.by_tick[self.began % TICKS][connection, stream] = request_bytes
        self.began += 1

    def drop(self, connection, stream=None):
        for waiting in self.by_tick:
            for gone in [one for one in waiting if one[0] is connection and stream in (None, one[1])]:
                del waiting[gone]

    async def send(self):
        due = time.monotonic()
        for tick in range(1 << 62):
            waiting = self.by_tick[tick % TICKS]
            for connection, stream in waiting:
                connection.send(frame(DATA, 0, stream, EVENT))
                waiting[connection, stream] += len(WORD)
            self.events += len(waiting)
            due += 1 / TICKS
            await asyncio.sleep(max(0, due - time.monotonic()))


class Connection(asyncio.Protocol):
    def __init__(self, held):
        self.held, self.unread, self.bodies, self.is_greeted = held, bytearray(), {}, False

    def connection_made(self, transport):
        self.send = transport.write
        settings = struct.pack(">HIHI", 3, STREAMS_AT_ONCE, 4, STREAM_WINDOW)
        self.send(frame(SETTINGS, 0, 0, settings) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", (1 << 31) - 1 - 65535)))

    def connection_lost(self, _):
        self.held.drop(self)

    def data_received(self, data):
        self.unread += data
        if not self.is_greeted:
            if len(self.unread) < len(GREETING):
                return
            del self.unread[:len(GREETING)]
            self.is_greeted = True
        at = 0
        while len(self.unread) - at >= 9:
            size = int.from_bytes(self.unread[at:at + 3], "big")
            if len(self.unread) - at < 9 + size:
                break
            kind, flags, stream = struct.unpack(">BBI", self.unread[at + 3:at + 9])
            self.take(kind, flags, stream & 0x7fffffff, bytes(self.unread[at + 9:at + 9 + size]))
            at += 9 + size
        del self.unread[:at]

    def take(self, kind, flags, stream, payload):
        if kind in (SETTINGS, PING) and not flags & ACK:
            self.send(frame(kind, ACK, 0, payload if kind == PING else b""))
        elif kind == RST_STREAM:
            self.bodies.pop(stream, None)
            self.held.drop(self, stream)
        elif kind == HEADERS:
            self.bodies[stream] = bytearray()
        elif kind == DATA:
            body = self.bodies.setdefault(stream, bytearray())
            body += payload[1:len(payload) - payload[0]] if flags & PADDED else payload
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            self.answer(stream, self.bodies.pop(stream, b""))

    def answer(self, stream, body):
        asked = Asked(body)
        self.send(frame(HEADERS, END_HEADERS, stream, HEAD))
        if asked.kind == "CHILD":
            self.send(frame(DATA, 0, stream, BEGINNING))
            return self.held.add(self, stream, len(body))
        said, _ = answer_to(asked)
        parts = [said[at:at + MOST_PAYLOAD] for at in range(0, len(said), MOST_PAYLOAD)]
        for part in parts[:-1]:
            self.send(frame(DATA, 0, stream, part))
        self.send(frame(DATA, END_STREAM, stream, parts[-1]))


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.set_alpn_protocols(["h2"])
    held = Held()
    server = await asyncio.get_running_loop().create_server(lambda: Connection(held), "127.0.0.1", 0, ssl=context, backlog=1024)
    sending = asyncio.create_task(held.send())
    while not sending.done():
        print(json.dumps({"port": server.sockets[0].getsockname()[1], "children": held.count(),
                          "events": held.events, "own_bytes": held.own_bytes()}), flush=True)
        await asyncio.sleep(1)
    sending.result()


if __name__ == "__main__":
    asyncio.run(main())
