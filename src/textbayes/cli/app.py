"""``textbayes app``: the review room in the browser, for one person or a team."""

from __future__ import annotations

import sys

import click
import cloup

from textbayes.cli.output import Output, output_options
from textbayes.cli.settings import common_options, note
from textbayes.cli.terminal import echo

_database = click.option(
    "--database",
    envvar="TEXTBAYES_DATABASE",
    metavar="URL",
    help="sqlite:///path or postgresql://…; a file in your data folder if not given.",
)


@cloup.group(invoke_without_command=True)
@_database
@click.option("--team", is_flag=True, help="People log in by name and password; else you alone, on this machine.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    envvar="TEXTBAYES_HOST",
    help="Address to listen on, with --team.",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on; 8765, or the next free one.")
@click.option(
    "--origin",
    metavar="URL",
    envvar="TEXTBAYES_ORIGIN",
    help="What people type in the browser, such as https://review.example.org.",
)
@click.option("--max-upload", default=256, show_default=True, type=click.IntRange(1), metavar="MB", help="Of a file.")
@click.option("--sample", is_flag=True, help="Make a project of the embedded news, if there is no project yet.")
@click.option("--no-browser", is_flag=True, help="Do not open the browser.")
@output_options
@common_options
def app(
    output: Output,
    database: str | None,
    team: bool,
    host: str,
    port: int | None,
    origin: str | None,
    max_upload: int,
    sample: bool,
    no_browser: bool,
) -> None:
    """Screen, judge and see how things stand, in the browser.

    \b
    textbayes app
    textbayes app user anna --administrator --database postgresql://room@localhost/room
    textbayes app --team --database postgresql://room@localhost/room --origin https://review.example.org

    Without --team nobody but you gets in: it listens on this machine only, and the link that opens it holds a secret.
    Everything is in the database when the page says so; end it at any moment, by Ctrl-C or even by kill -9.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    if not team and (host != "127.0.0.1" or origin is not None):
        raise click.UsageError("--host and --origin are for --team; alone, the room is on this machine only.")
    from textbayes.app.settings import check_app_extra

    check_app_extra()
    from textbayes.app.run import Served, serve_room

    def tell(served: Served) -> None:
        if output.is_table:
            echo(f"The room is open: {served.link}")
            echo("Ctrl-C ends it.")
        else:
            output.write([served._asdict()], list(served._fields))

    serve_room(database, team, host, port, origin, max_upload << 20, sample, not no_browser and not team, tell)


@app.command("user")
@click.argument("name")
@click.option("--administrator", is_flag=True, help="May make accounts, and sees the audit log.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input; else it is asked for.")
@_database
@common_options
def user(name: str, administrator: bool, password_stdin: bool, database: str | None) -> None:
    """Make an account for a room with --team."""
    from textbayes.app.settings import check_app_extra, default_database

    check_app_extra()
    from textbayes.app.accounts import create_user
    from textbayes.app.store import Store

    if password_stdin:
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    made = create_user(Store(database or default_database()), name, password, administrator, by="command line")
    note(f"{made.name} can log in")


@app.command("backup")
@click.argument("target", metavar="FILE")
@_database
@common_options
def backup(target: str, database: str | None) -> None:
    """Copy everything to a file, also while the room is open.

    Of SQLite it is a database like the original: put it in its place. Of PostgreSQL it is what pg_dump writes, for
    pg_restore.
    """
    from textbayes.app.settings import check_app_extra, default_database
    from textbayes.cli.files import check_output

    check_app_extra()
    from textbayes.app.backup import back_up

    path = check_output(target)
    back_up(database or default_database(), path)
    note(f"{path}: {path.stat().st_size:,} bytes")
