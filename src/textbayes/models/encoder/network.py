"""A pretrained encoder with an output for each label: fine-tuned, scored and explained in PyTorch.

Nothing but torch, NumPy, SciPy and, to read a folder, transformers is needed here, so that a machine with a graphics
card can do without the rest (``benchmarks/bench_encoder.py``).
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.progress import Progress, silent
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.models.encoder.body import empty_body
from textbayes.models.encoder.schedule import SMALL, Schedule
from textbayes.text.subwords import NONE, Special

_RATE, _HEAD_RATE = 8e-5, 1e-3  # the largest of each: of the encoder's weights, and of the new ones
_PAIR_RATE, _PAIR_STEPS = 2e-5, 75
_WARM, _DECAY, _LONGEST_STEP, _DROPOUT = 0.1, 0.01, 1.0, 0.1
_SORTED = 20  # batches among which texts of like length are put together
_TOKENS = 32_768  # of a batch to score
_PENALTY = 0.05  # of the squares of weights on vectors of length one: C = 10
_NODES, _MOST_NODES, _PATH_TOKENS = 16, 512, 4_096
_UNUSED = "body.pooler."  # of BERT, which reads the first token
COMPLETE = 1e-3  # of the log-odds, or of one: what parts may miss


class Network(nn.Module):
    """An encoder and a linear map of the mean of what it says of the tokens of a text.

    Parameters
    ----------
    body : transformers model
    special : Special
    n_outputs : int
    exclusive : bool
        Whether the outputs are of classes that exclude each other.
    unit : bool
        Whether the mean is brought to length one, as it was where the encoder itself stays as it is.
    """

    def __init__(self, body: Any, special: Special, n_outputs: int, exclusive: bool, unit: bool = False) -> None:
        super().__init__()
        self.body, self.special, self.exclusive, self.unit = body, special, exclusive, unit
        self.head = nn.Linear(int(body.config.hidden_size), n_outputs)

    def vectors(self, ids: Any, mask: Any, embedded: Any = None) -> Any:
        """The mean of what the encoder says of each token, (n_texts, width)."""
        given = {"input_ids": ids} if embedded is None else {"inputs_embeds": embedded}
        told = self.body(attention_mask=mask.long(), **given).last_hidden_state
        shown = mask.unsqueeze(-1).to(told.dtype)
        mean = (told * shown).sum(1) / shown.sum(1)
        return functional.normalize(mean.float(), dim=1) if self.unit else mean

    def forward(self, ids: Any, mask: Any, embedded: Any = None) -> Any:
        """Outputs (n_texts, n_outputs)."""
        return self.head(functional.dropout(self.vectors(ids, mask, embedded), _DROPOUT, self.training))

    def loss(self, outputs: Any, target: Any) -> Any:
        """−log p of the labels of each text, (n_texts,)."""
        if self.exclusive:
            return functional.cross_entropy(outputs, target, reduction="none")
        return functional.binary_cross_entropy_with_logits(outputs, target, reduction="none").sum(1)

    @property
    def device(self) -> Any:
        """Where its weights are."""
        return self.head.weight.device


class Tokens:
    """Texts as rows of token numbers on a device, special tokens in place.

    Parameters
    ----------
    ids : array (n_texts, longest)
        As ``Subwords`` gives them.
    special : Special
    device : torch device
    """

    def __init__(self, ids: AnyArray, special: Special, device: Any) -> None:
        before, after = len(special.before), len(special.after)
        own = (ids != NONE).sum(axis=1)
        rows = np.full((len(ids), before + int(own.max(initial=0)) + after), special.pad, dtype=np.int64)
        rows[:, :before] = special.before
        places = np.arange(rows.shape[1] - before)
        inside = places[None] < own[:, None]
        rows[:, before:][inside] = ids[:, : inside.shape[1]][inside[:, : ids.shape[1]]]
        for offset, token in enumerate(special.after):
            rows[np.arange(len(ids)), before + own + offset] = token
        self.lengths = own + before + after
        self._rows, self._lengths = torch.from_numpy(rows).to(device), torch.from_numpy(self.lengths).to(device)

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, texts: IntArray) -> tuple[Any, Any]:
        """Token numbers of some texts, as long as the longest of them, and which are there."""
        longest = int(self.lengths[texts].max())
        which = torch.from_numpy(texts).to(self._rows.device, non_blocking=True)
        mask = torch.arange(longest, device=self._rows.device) < self._lengths[which, None]
        return self._rows[:, :longest].index_select(0, which), mask


def saved(network: Network) -> dict[str, AnyArray]:
    """The weights that answers depend on, in half precision, by name."""
    return {name: weight.cpu().half().numpy() for name, weight in _weights(network).items()}


def _weights(network: Network) -> dict[str, Any]:
    """The weights that answers depend on, by name."""
    return {
        name: weight.detach()
        for name, weight in network.state_dict().items()
        if weight.is_floating_point() and _UNUSED not in name
    }


def _check_shapes(network: Network, arrays: Mapping[str, AnyArray]) -> None:
    wanted = {name: tuple(weight.shape) for name, weight in _weights(network).items()}
    if wanted != {name: array.shape for name, array in arrays.items()}:
        raise ModelFileError("the weights of the model's encoder are not those of its network; was the file altered?")


def load(network: Network, arrays: Mapping[str, AnyArray]) -> None:
    """Give a network the weights that :func:`saved` gave, in place; others are refused."""
    _check_shapes(network, arrays)
    given = {name: torch.from_numpy(np.ascontiguousarray(array)).float() for name, array in arrays.items()}
    network.load_state_dict(given, strict=False)


def restored(
    config: dict[str, Any],
    arrays: Mapping[str, AnyArray],
    special: Special,
    n_outputs: int,
    exclusive: bool,
    unit: bool,
    device: str,
) -> Network:
    """The network of a model file; no code but that of transformers is run.

    Parameters
    ----------
    config : dict
        Of the encoder, as transformers has it.
    arrays : mapping
        As :func:`saved` gave them.
    special, n_outputs, exclusive, unit
        As for ``Network``.
    device : str
    """
    try:
        with torch.random.fork_rng(devices=[]):
            for place in ("meta", "cpu"):  # on the first nothing takes memory, whatever the file claims
                with torch.device(place):
                    network = Network(empty_body(config, len(arrays)), special, n_outputs, exclusive, unit)
                _check_shapes(network, arrays)
    except ModelFileError:
        raise
    except Exception as error:  # transformers raises nothing more exact
        raise ModelFileError(f"the model's encoder cannot be made: {error}") from error
    load(network, arrays)
    return network.to(torch.device(device)).eval().requires_grad_(False)


def fitted(
    body: Any,
    special: Special,
    ids: AnyArray,
    target: AnyArray,
    *,
    n_outputs: int,
    exclusive: bool,
    way: str = "all",
    weight: FloatArray | None = None,
    seed: int = 0,
    device: str = "cpu",
    report: Progress = silent,
) -> Network:
    """A network that has learnt from labelled texts; the body that is given stays as it is.

    Parameters
    ----------
    body : transformers model
        See :func:`~textbayes.models.encoder.body.read_body`.
    special : Special
    ids : array (n_texts, longest)
        As ``Subwords`` gives them.
    target : array
        The class of each text where classes are exclusive, else an indicator (n_texts, n_outputs).
    n_outputs : int
    exclusive : bool
    way : {"all", "pairs", "head"}
        Fine-tune all weights; or, of texts of few, the encoder by pairs and then the head; or the head alone.
    weight : array (n_texts,) or None
        How much each text counts.
    seed : int
    device : str
    report : Progress
        Is told how many steps are done.
    """
    place = torch.device(device)
    with _drawing(place, seed):
        network = Network(copy.deepcopy(body), special, n_outputs, exclusive).to(place)
    if way == "all":
        tune(network, ids, target, weight, seed, report)
        return network.requires_grad_(False)
    if way == "pairs":
        codes = target if exclusive else np.unique(target, axis=0, return_inverse=True)[1].ravel()
        tune_by_pairs(network, ids, codes, seed, report)
    fit_head(network, ids, target, weight)
    return network.requires_grad_(False)


def tune(
    network: Network, ids: AnyArray, target: AnyArray, weight: FloatArray | None, seed: int, report: Progress = silent
) -> None:
    """Fine-tune all weights of a network, in place; out of memory, batches are read in halves.

    Parameters
    ----------
    network : Network
    ids : array (n_texts, longest)
    target : array
        The class of each text where classes are exclusive, else an indicator (n_texts, n_outputs).
    weight : array (n_texts,) or None
        How much each text counts.
    seed : int
    report : Progress
        Is told how many steps are done.
    """
    device, schedule = network.device, Schedule.of(len(ids))
    texts, labels, counts = _on_device(network, ids, target, weight)
    groups = [
        {"params": list(network.body.parameters()), "lr": _RATE},
        {"params": list(network.head.parameters()), "lr": _HEAD_RATE},
    ]
    total = schedule.n_steps(len(ids))
    optimiser = torch.optim.AdamW(groups, weight_decay=_DECAY, fused=True)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimiser, [_RATE, _HEAD_RATE], total_steps=total + 1, pct_start=_WARM)
    rng, halves, done = np.random.default_rng(seed), 1, 0
    with _drawing(device, seed):
        network.train()
        for _ in range(schedule.epochs):
            for rows in _batches(texts.lengths, schedule.batch, rng):
                halves = _backward(network, texts, labels, counts, rows, halves)
                nn.utils.clip_grad_norm_(network.parameters(), _LONGEST_STEP)
                optimiser.step()
                rates.step()
                optimiser.zero_grad(set_to_none=True)
                done += 1
                report("tuning the encoder", done, total)
    network.eval()


def tune_by_pairs(network: Network, ids: AnyArray, classes: IntArray, seed: int, report: Progress = silent) -> None:
    """Bring vectors of texts of one class together, and those of others apart, in place; then fit the head (SetFit).

    Parameters
    ----------
    network : Network
    ids : array (n_texts, longest)
    classes : array (n_texts,)
    seed : int
    report : Progress

    References
    ----------
    Tunstall, Reimers, Jo, Bates, Korat, Wasserblat & Pereg (2022), Efficient few-shot learning without prompts.
    """
    device, rng = network.device, np.random.default_rng(seed)
    texts = Tokens(ids, network.special, device)
    members = [np.flatnonzero(classes == one) for one in np.unique(classes)]
    optimiser = torch.optim.AdamW(network.body.parameters(), lr=_PAIR_RATE, weight_decay=_DECAY, fused=True)
    with _drawing(device, seed):
        network.train()
        for step in range(_PAIR_STEPS if len(members) > 1 else 0):
            pairs = [_pair(members, rng) for _ in range(SMALL)]
            rows = np.array([pair[:2] for pair in pairs]).T
            wanted = torch.tensor([pair[2] for pair in pairs], device=device)
            with _half_precision(device):
                one, other = (network.vectors(*texts.batch(np.ascontiguousarray(side))).float() for side in rows)
            loss = ((torch.cosine_similarity(one, other) - wanted) ** 2).mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            report("tuning the encoder by pairs", step + 1, _PAIR_STEPS)
    network.eval()


def fit_head(network: Network, ids: AnyArray, target: AnyArray, weight: FloatArray | None) -> None:
    """Fit the linear map to the vectors of texts, brought to length one, in place; the encoder stays as it is.

    Parameters
    ----------
    network, ids, target, weight
        As for :func:`tune`.
    """
    network.unit = True
    network.eval()
    vectors = _outputs(network, ids, vectors=True).to(network.device)
    _, labels, counts = _on_device(network, ids, target, weight)
    with torch.no_grad():
        network.head.weight.zero_()
        network.head.bias.zero_()
    search = torch.optim.LBFGS(network.head.parameters(), max_iter=200, line_search_fn="strong_wolfe")

    def objective() -> Any:
        search.zero_grad()
        losses = (network.loss(network.head(vectors), labels) * counts).sum()
        total = losses + _PENALTY * (network.head.weight**2).sum()
        total.backward()
        return total

    search.step(objective)


def log_odds(network: Network, ids: AnyArray) -> FloatArray:
    """Log-odds of every output for texts, (n_texts, n_outputs); of exclusive classes those against all others."""
    return np.asarray(_odds(network, _outputs(network, ids)).numpy())


class Shares(NamedTuple):
    """Parts of tokens in the log-odds of one text, (n_outputs, n_tokens), those of the text without them, and steps."""

    base: FloatArray
    parts: FloatArray
    n_steps: int


def shares(network: Network, ids: AnyArray) -> Shares:
    """Integrated gradients of one text's log-odds, along the straight path from the text with every token masked.

    They are complete: ``base`` and the parts add up to the log-odds, to 1e-3 of these by the number of steps, which is
    doubled until then, and exactly by what remains, which the base has.

    Parameters
    ----------
    network : Network
    ids : array (longest,)
        Its tokens, as ``Subwords`` gives them.

    References
    ----------
    Sundararajan, Taly & Yan (2017), Axiomatic attribution for deep networks, ICML.
    """
    network.eval()
    first, n = len(network.special.before), int((ids != NONE).sum())
    row, mask = Tokens(ids[None], network.special, network.device).batch(np.zeros(1, dtype=np.int64))
    hidden = row.clone()
    hidden[:, first : first + n] = network.special.mask
    look_up = network.body.get_input_embeddings()
    with torch.no_grad():
        start = look_up(hidden)
        way = look_up(row) - start
        ends = _odds(network, network(row.repeat(2, 1), mask.repeat(2, 1), torch.cat([start, start + way]))).numpy()
    base, total = ends
    n_nodes = _NODES
    while True:
        slopes = _slopes(network, mask, start, way, n_nodes)
        parts = (slopes * way.double().cpu()).sum(-1).numpy()[:, first : first + n]
        missed = np.abs(total - base - parts.sum(axis=1))
        if (missed <= COMPLETE * np.maximum(np.abs(total), 1.0)).all() or n_nodes >= _MOST_NODES:
            return Shares(total - parts.sum(axis=1), parts, n_nodes)
        n_nodes *= 2


def _slopes(network: Network, mask: Any, start: Any, way: Any, n_nodes: int) -> Any:
    """Mean derivative of each output's log-odds by the embeddings along the path, (n_outputs, n_tokens, width)."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    at = torch.from_numpy(0.5 + 0.5 * nodes).to(start)
    share = torch.from_numpy(0.5 * weights)
    n_outputs, total = network.head.out_features, 0.0
    for part in torch.arange(n_nodes).split(max(_PATH_TOKENS // start.shape[1], 1)):
        place = (start + at[part.to(start.device), None, None] * way).requires_grad_()
        odds = _odds(network, network(None, mask.expand(len(part), -1), place))
        summed = (share[part, None] * odds).sum(0)
        found = [
            torch.autograd.grad(summed[column], place, retain_graph=column + 1 < n_outputs)[0].double().sum(0)
            for column in range(n_outputs)
        ]
        total = total + torch.stack(found).cpu()
    return total


def _odds(network: Network, outputs: Any) -> Any:
    """Log-odds of every output, in double precision on the CPU; of exclusive classes against all others."""
    outputs = outputs.double().cpu()
    if not network.exclusive:
        return outputs
    others = torch.eye(outputs.shape[1], dtype=torch.bool)
    columns = [
        outputs[:, column] - outputs.masked_fill(others[column], -torch.inf).logsumexp(1)
        for column in range(outputs.shape[1])
    ]
    return torch.stack(columns, dim=1)


def _outputs(network: Network, ids: AnyArray, vectors: bool = False) -> Any:
    """Outputs of texts, or the vectors before the head, on the CPU; texts of like length are read together."""
    texts = Tokens(ids, network.special, network.device)
    width = network.head.in_features if vectors else network.head.out_features
    found, order, at_once = torch.empty((len(texts), width)), np.argsort(-texts.lengths, kind="stable"), _TOKENS
    done = 0
    read = network.vectors if vectors else network
    with torch.no_grad():
        while done < len(order):
            rows = order[done : done + max(at_once // int(texts.lengths[order[done]]), 1)]
            try:
                with _half_precision(network.device):
                    found[torch.from_numpy(rows)] = read(*texts.batch(rows)).float().cpu()
            except torch.cuda.OutOfMemoryError:
                at_once = _halved(at_once, len(rows))
                continue
            done += len(rows)
    return found


def _backward(network: Network, texts: Tokens, labels: Any, counts: Any, rows: IntArray, halves: int) -> int:
    """Gradients of the mean loss of a batch, read in so many parts; more of them where memory runs out."""
    while True:
        try:
            for part in np.array_split(rows, min(halves, len(rows))):
                with _half_precision(network.device):
                    outputs = network(*texts.batch(part)).float()
                which = torch.from_numpy(part).to(labels.device, non_blocking=True)
                ((network.loss(outputs, labels[which]) * counts[which]).sum() / len(rows)).backward()
            return halves
        except torch.cuda.OutOfMemoryError:
            network.zero_grad(set_to_none=True)
            _halved(len(rows) // halves, len(rows) // halves)
            halves *= 2


def _halved(at_once: int, n_texts: int) -> int:
    """Half as much at once; refused where that is less than one text."""
    if n_texts <= 1:
        raise InputError(
            "the graphics card has too little memory free for one text; end what else uses it, or train with "
            "--device cpu (device='cpu')"
        )
    torch.cuda.empty_cache()
    return at_once // 2


def _on_device(network: Network, ids: AnyArray, target: AnyArray, weight: FloatArray | None) -> tuple[Tokens, Any, Any]:
    """Texts, labels, and how much each text counts, one on the average, where the network is."""
    device = network.device
    counts = np.ones(len(ids)) if weight is None else weight / weight.mean()
    labels = torch.from_numpy(np.asarray(target, dtype=np.int64 if network.exclusive else np.float32))
    counted = torch.from_numpy(counts.astype(np.float32))
    return Tokens(ids, network.special, device), labels.to(device), counted.to(device)


def _batches(lengths: IntArray, size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """All texts once, in an order drawn, those of like length in one batch."""
    order, found = rng.permutation(len(lengths)), []
    for start in range(0, len(order), size * _SORTED):
        some = order[start : start + size * _SORTED]
        some = some[np.argsort(lengths[some], kind="stable")]
        found += [some[place : place + size] for place in range(0, len(some), size)]
    return (found[place] for place in rng.permutation(len(found)))


def _pair(members: list[IntArray], rng: np.random.Generator) -> tuple[int, int, float]:
    """Two texts, and whether they are of one class: every second time."""
    one, other = rng.choice(len(members), 2, replace=False)
    if rng.random() < 0.5:
        return int(rng.choice(members[one])), int(rng.choice(members[one])), 1.0
    return int(rng.choice(members[one])), int(rng.choice(members[other])), 0.0


@contextlib.contextmanager
def _drawing(device: Any, seed: int) -> Iterator[None]:
    """Have torch draw by a seed in the block, and go on afterwards as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _half_precision(device: Any) -> Any:
    """Products in bfloat16 on a card."""
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else contextlib.nullcontext()
