"""The sockets of ``serve`` and ``app``: small answers are sent at once, clients that send nothing are not kept."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import threading

import pytest
import uvicorn

from textbayes.app import access, run
from textbayes.app.run import listen, serve
from textbayes.app.settings import AppSettings
from textbayes.core.errors import InputError


async def answer(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextlib.contextmanager
def served(app, monkeypatch, host="127.0.0.1"):
    """The port at which an application is served."""
    servers, begin = [], uvicorn.Server.run
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, **given: (servers.append(server), begin(server, **given)))
    with contextlib.closing(listen(host, None)) as listening:
        thread = threading.Thread(target=serve, args=(app, listening))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            while not servers:
                thread.join(0.01)
            servers[0].should_exit = True
            thread.join(30)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_accepted_connections_do_not_wait_to_fill_a_packet(monkeypatch, host):
    """Without TCP_NODELAY an answer in two parts waits for the client's delayed acknowledgement, some 40 ms."""
    config = uvicorn.Config(answer)
    config.load()
    made, delays = config.http_protocol_class.connection_made, []

    def connection_made(protocol, transport):
        found = transport.get_extra_info("socket")
        delays.append(found.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        made(protocol, transport)

    monkeypatch.setattr(config.http_protocol_class, "connection_made", connection_made)
    try:
        listen(host, None).close()
    except InputError:
        if host == "::1":
            pytest.skip("this machine has no IPv6")
        raise
    with served(answer, monkeypatch, host) as port:
        connection = http.client.HTTPConnection(host, port, timeout=30)
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"ok"
        connection.close()
    assert delays == [1]


def told(port, *parts):
    """All that a server sends on a connection until it closes it, after what was sent to it."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for part in parts:
            connection.sendall(part)
        return b"".join(iter(lambda: connection.recv(1 << 16), b""))


def test_connections_that_send_no_whole_head_are_closed(monkeypatch):
    """A thousand of them, held for ever, would be all that a server may have open."""
    monkeypatch.setattr(run, "PATIENCE", 0.3)
    with served(answer, monkeypatch) as port:
        assert told(port) == b""
        assert told(port, b"GET / HTTP/1.1\r\nHost: x\r\n") == b""
        whole = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(whole)
            assert b"200 OK" in connection.recv(1 << 16)
            connection.sendall(whole[:-2])
            assert b"".join(iter(lambda: connection.recv(1 << 16), b"")) in (b"", b"ok")


def test_a_long_answer_is_not_cut(monkeypatch):
    async def slow(scope, receive, send):
        await asyncio.sleep(1)
        await answer(scope, receive, send)

    monkeypatch.setattr(run, "PATIENCE", 0.3)
    with served(slow, monkeypatch) as port:
        assert b"200 OK" in told(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")


def test_a_body_that_stops_coming_is_refused(monkeypatch, tmp_path):
    async def reads(scope, receive, send):
        while (await receive()).get("more_body"):
            pass
        await answer(scope, receive, send)

    monkeypatch.setattr(access, "PATIENCE", 0.3)
    settings = AppSettings(database=f"sqlite:///{tmp_path / 'room.sqlite3'}", origin="http://x")
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100\r\n\r\n"
    with served(access.Guards(reads, settings), monkeypatch) as port:
        said = told(port, head, b"a" * 99)
        assert said.startswith(b"HTTP/1.1 408")
        assert b"the request stopped coming; send it again" in said
        assert told(port, head, b"a" * 100).startswith(b"HTTP/1.1 200")
