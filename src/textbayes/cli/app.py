"""``textbayes app``: the review room in the browser, for one person or a team."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import cloup
from click.core import ParameterSource

from textbayes.app.settings import check_app_extra, default_database
from textbayes.cli.options import FloatRange, option
from textbayes.cli.output import Output, check_output, output_options
from textbayes.cli.terminal import common_options, note, reporting
from textbayes.core.errors import plural

if TYPE_CHECKING:
    from textbayes.app.database import Store

_database = click.option(
    "--database",
    envvar="TEXTBAYES_DATABASE",
    metavar="URL",
    help="sqlite:///path or postgresql://…; a file in your data folder if not given.",
)
_password_stdin = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input; else it is asked for."
)


@cloup.group(invoke_without_command=True)
@_database
@click.option("--team", is_flag=True, help="People log in by name and password; else you alone, on this machine.")
@option("--host", default="127.0.0.1", envvar="TEXTBAYES_HOST", help="Address to listen on, with --team.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on; 8765, or the next free one.")
@click.option(
    "--origin",
    metavar="URL",
    envvar="TEXTBAYES_ORIGIN",
    help="What people type in the browser, such as https://review.example.org.",
)
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    envvar="TEXTBAYES_PROXY",
    help="Address or network of a gateway whose X-Forwarded-For is believed; no other's is.",
)
@option("--max-upload", default=256, type=click.IntRange(1), metavar="MB", help="Of a file.")
@click.option("--sample", is_flag=True, help="Make a sample project of BBC news, if there is no project yet.")
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
    proxies: tuple[str, ...],
    max_upload: int,
    sample: bool,
    no_browser: bool,
) -> None:
    """Screen records and manage reviews in the browser.

    \b
    textbayes app
    export TEXTBAYES_DATABASE=postgresql://room@localhost/room
    textbayes app user anna --administrator
    textbayes app --team --origin https://review.example.org

    Without --team only you can open it: it listens on this machine only, and the link that opens it works once.
    Everything is in the database when the page says so; end it at any moment, by Ctrl-C or even by kill -9.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    if not team and (host != "127.0.0.1" or origin is not None or proxies):
        raise click.UsageError("--host, --origin and --proxy are for --team; alone, the room is on this machine only.")

    check_app_extra()
    from textbayes.app.run import Served, serve_room

    def show_link(served: Served) -> None:
        output.write_summary(served._asdict(), f"The room is open: {served.link}", "Ctrl-C ends it.")

    browser = not no_browser and not team
    serve_room(database, team, host, port, origin, max_upload << 20, sample, browser, show_link, proxies)


def _chosen(database: str | None) -> str | None:
    """The database of a command below ``app``: its own, or the one named before the command."""
    context = click.get_current_context()
    group = context.parent
    if group is None or group.get_parameter_source("database") is not ParameterSource.COMMANDLINE:
        return database
    above: str | None = group.params["database"]
    if context.get_parameter_source("database") is ParameterSource.COMMANDLINE and database != above:
        raise click.UsageError(f"--database was given twice, with {above!r} and {database!r}; give it once.")
    return above


def _store(database: str | None) -> Store:
    from textbayes.app.database import Store

    return Store(_chosen(database) or default_database())


@app.command("user")
@click.argument("name")
@click.option("--administrator", is_flag=True, help="May make accounts, and sees the audit log.")
@_password_stdin
@_database
@common_options
def user(name: str, administrator: bool, password_stdin: bool, database: str | None) -> None:
    """Make an account for a room with --team."""

    check_app_extra()
    from textbayes.app import accounts

    password, store = _password(password_stdin), _store(database)
    made = accounts.create_user(store, name, password, administrator, by="command line")
    note(f"{made.name} can log in")


@app.command("reset-password")
@click.argument("name")
@_password_stdin
@_database
@common_options
def reset_password(name: str, password_stdin: bool, database: str | None) -> None:
    """Give a person a new password, also the only administrator.

    It needs the database, nothing else. Sessions and tokens of the person end, and the audit log has a line.
    """

    check_app_extra()
    from textbayes.app import accounts

    user = accounts.reset_password(_store(database), name, _password(password_stdin), by="command line")
    locked = "" if user.active else ", once an administrator has opened the account again"
    note(f"{user.name} can log in with the new password{locked}")


@app.command("invite")
@click.argument("project")
@option("--role", default="reviewer", type=click.Choice(["reader", "reviewer", "owner"]), help="In the project.")
@option("--days", default=7.0, type=FloatRange(0, 90, min_open=True), help="Until the link expires.")
@option("--uses", default=1, type=click.IntRange(1, 1000), help="How many people may use it.")
@click.option("--withdraw", is_flag=True, help="Let all links to the project open nothing any more.")
@option("--origin", default="http://127.0.0.1:8765", metavar="URL", envvar="TEXTBAYES_ORIGIN", help="Of the room.")
@_database
@output_options
@common_options
def invite(
    output: Output,
    project: str,
    role: str,
    days: float,
    uses: int,
    withdraw: bool,
    origin: str,
    database: str | None,
) -> None:
    """Make a link by which people without an account make one and join a project.

    PROJECT is its name or its id.
    """

    check_app_extra()
    from textbayes.app import invites

    store = _store(database)
    id = invites.project_called(store, project)
    if withdraw:
        gone = invites.withdraw(store, None, id)
        note(f"{plural(gone, 'link')} withdrawn")
        return
    link = origin.rstrip("/") + invites.make_invite(store, None, id, role, days, uses)
    output.write_summary({"link": link}, link)


def _password(password_stdin: bool) -> str:
    if password_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    asked: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return asked


@app.command("move")
@click.argument("target", metavar="URL")
@_database
@output_options
@common_options
def move(output: Output, target: str, database: str | None) -> None:
    """Copy everything to another database: from SQLite to PostgreSQL, or back.

    \b
    createdb --owner room room
    textbayes app move postgresql:///room --database sqlite:///room.sqlite3

    End the room first: what is answered meanwhile is not copied. The target must be empty, and stays so if anything
    goes wrong. People, passwords, projects, answers and the log are as they were; the source stays as it is.
    """

    check_app_extra()
    from textbayes.app.move import move_room

    with reporting("steps") as report:
        done = move_room(_chosen(database) or default_database(), target, report)
    counted = ", ".join(f"{name} {n:,}" for name, n in done.items() if n)
    output.write_summary(done, f"Copied and counted, rows of each table: {counted or 'nothing, it was empty'}.")


@app.command("backup")
@click.argument("target", metavar="FILE")
@_database
@common_options
def backup(target: str, database: str | None) -> None:
    """Copy everything to a file, also while the room is open.

    Of SQLite it is a database like the original: put it in its place. Of PostgreSQL it is what pg_dump writes, for
    pg_restore.
    """

    check_app_extra()
    from textbayes.app.database import back_up

    path = check_output(target)
    back_up(_chosen(database) or default_database(), path)
    note(f"{path}: {path.stat().st_size:,} bytes")
