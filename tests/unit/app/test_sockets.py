"""The sockets of ``serve`` and ``app``: small answers are sent at once."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading

import pytest
import uvicorn

from textbayes.app.run import listen, serve
from textbayes.core.errors import InputError


async def answer(scope, receive, send):
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


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
    servers, run = [], uvicorn.Server.run
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, **given: (servers.append(server), run(server, **given)))
    try:
        listening = listen(host, None)
    except InputError:
        if host == "::1":
            pytest.skip("this machine has no IPv6")
        raise
    with contextlib.closing(listening):
        thread = threading.Thread(target=serve, args=(answer, listening))
        thread.start()
        try:
            connection = http.client.HTTPConnection(host, listening.getsockname()[1], timeout=30)
            connection.request("GET", "/")
            assert connection.getresponse().read() == b"ok"
            connection.close()
        finally:
            servers[0].should_exit = True
            thread.join(30)
    assert delays == [1]
