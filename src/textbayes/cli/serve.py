"""``textbayes serve``: a model behind a REST interface."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

import click
import cloup

from textbayes.cli.inputs import model_argument
from textbayes.cli.output import Output, output_options
from textbayes.cli.settings import common_options
from textbayes.cli.terminal import echo


@cloup.command()
@model_argument
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on; 8765, or the next free one.")
@click.option("--origin", metavar="URL", help="What others call it, such as https://model.example.org.")
@click.option("--max-upload", default=64, show_default=True, type=click.IntRange(1), metavar="MB", help="Of a request.")
@output_options
@common_options
def serve(model: str, host: str, port: int | None, origin: str | None, max_upload: int, output: Output) -> None:
    """Serve a model to other programs, by a REST interface.

    \b
    textbayes serve model.tb
    curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" \\
         -d '{"texts": ["corn rises"]}' http://127.0.0.1:8765/api/v1/classify

    Every request carries a token: that of TEXTBAYES_TOKEN, or else one that is made and shown at the start. Models that
    `update` can teach learn from judgements too (/api/v1/learn); the file has them when the answer comes.
    /api/v1/openapi.json describes it all.
    """
    from textbayes.app.settings import AppSettings, check_app_extra

    check_app_extra("serving a model")
    from textbayes.app.run import listen
    from textbayes.app.run import serve as serve_app
    from textbayes.app.served_model import check_token, create_model_app

    with contextlib.closing(listen(host, port)) as listening:
        address = origin or f"http://{host}:{listening.getsockname()[1]}"
        given = check_token(os.environ.get("TEXTBAYES_TOKEN", ""))
        token = given or secrets.token_urlsafe(24)
        settings = AppSettings(database="", origin=address, largest_upload=max_upload << 20)
        app = create_model_app(Path(model), settings, token)
        told = {"url": f"{address}/api/v1", "token": None if given else token}
        if output.is_table:
            echo(f"{model} is served at {told['url']}")
            echo(f"token: {told['token'] or 'that of TEXTBAYES_TOKEN'}")
        else:
            output.write([told], list(told))
        serve_app(app, listening)
