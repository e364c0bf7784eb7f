"""Commands on a cluster: the option that names one, and documents in partitions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from textbayes import scale, store
from textbayes.cli.inputs import Inputs
from textbayes.cli.terminal import reporting
from textbayes.core.types import Document
from textbayes.scale import make_executor, make_partitions, using
from textbayes.scale.partitions import names_partitions

if TYPE_CHECKING:
    from textbayes.categorizer import TextCategorizer
    from textbayes.cli.labels import LabelledTexts
    from textbayes.core.executor import Executor
    from textbayes.core.progress import Progress
    from textbayes.scale.documents import PartitionedDocuments

cluster_option = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Distribute the work: local:2 for two Dask workers here, tcp://host:port for a scheduler that you trust.",
)


@contextlib.contextmanager
def on_cluster(address: str | None) -> Iterator[Executor | None]:
    """The executor of an address, in use in the block; None without one."""
    if address is None:
        yield None
        return

    with make_executor(address) as executor, using(executor):
        yield executor


def open_partitions(inputs: Inputs) -> list[Any]:
    """The partitions that patterns or addresses name."""

    return make_partitions(inputs.paths, inputs.format, inputs.layout.expected, **dict(inputs.options))


@dataclass(frozen=True)
class PartitionedInputs(Inputs):
    """Documents that workers hold: here they have labels and no texts, and are called by their numbers from 0 on."""

    partitions: PartitionedDocuments | None = None

    def documents(self, count: bool = True) -> Iterator[Document]:
        assert self.partitions is not None
        return iter(self.partitions.labelled())

    def whereabouts(self, number: int, document: Document) -> str:
        return f"document {number:,} of {self.name}"

    def train(self, model: TextCategorizer, given: LabelledTexts, progress: Progress) -> None:
        """Fit a model to the documents that are left, where they are."""

        assert self.partitions is not None
        rows = np.zeros(len(self.partitions.labelled()), dtype=np.bool_)
        rows[[int(document.id) for document in given.documents]] = True
        scale.fit_documents(model, self.partitions, given.labels, rows, progress)


def partitioned_inputs(
    inputs: Inputs, executor: Executor, report: str | None, group_field: str | None
) -> PartitionedInputs | None:
    """Inputs that workers read, where files are named by patterns or addresses; None where they are read here."""

    if inputs.corpus is not None or not names_partitions(inputs.paths):
        return None
    for option, value in (("--report", report), ("--group-field", group_field)):
        if value is not None:
            raise click.UsageError(f"{option} needs all documents in one place; name files instead of a pattern.")

    return PartitionedInputs(**vars(inputs), partitions=scale.PartitionedDocuments(executor, open_partitions(inputs)))


def score_on_cluster(model: str, inputs: Inputs, folder: str | None, cluster: str, guess: bool) -> dict[str, Any]:
    """Score partitions into a folder, and tell what was done."""
    if folder is None or inputs.corpus is not None or "-" in inputs.paths:
        raise click.UsageError("--cluster scores files into a folder: name both, as in 'parts/*.parquet' -o scores.")

    inputs = inputs.of_model(store.load_scorer(model))
    with on_cluster(cluster) as executor, reporting() as progress:
        assert executor is not None
        done = scale.score_partitions(model, open_partitions(inputs), folder, executor, guess, progress)
    return {"folder": folder, **done._asdict()}
