"""Proximal Newton of many labels at once in PyTorch: what ``gpu`` runs, on a graphics card or on a CPU.

Every product with the matrix serves all labels that are not finished: a card multiplies a sparse matrix by a hundred
columns in the time that a few of them take. Gradients, linear predictors and objectives are in double precision. The
quadratic model of a Newton step is solved by accelerated proximal gradient, whose products are in single precision:
relative to the step, so that steps near the optimum are as exact as those at the start.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.lazy import LazyModule
from textbayes.core.types import FloatArray

torch: Any = LazyModule("torch")

_GAIN = 0.02  # times tol: share of the objective that single words may still gain at the end, as in ``_label``
_ARMIJO = 0.01
_SMALLEST_STEP = 1e-10
_ROUNDING = 64.0 * float(np.finfo(float).eps)
_HESSIAN_FLOOR = 1e-8
_REACH = 8.0  # see ``_label``
_SUB_GOAL = 0.1  # a model is solved until its violation has fallen to this share
_MOST_STEPS = 400
_LOOK = 8  # steps between two looks at who is done: a look waits for the card
_FEWER = 0.75  # share of the labels from which on those that are done are left out of the products
_TOLD = 1e-8  # of the squared length: the curvature of a shorter move is rounding


class Block(NamedTuple):
    """Some rows of the matrix, and the same transposed: pointers, indices, values."""

    first: int
    last: int
    rows: tuple[Any, Any, Any]
    columns: tuple[Any, Any, Any]


class DocumentMatrix:
    """The matrix in blocks of rows: on the device where they are few enough, else moved there when they are read.

    Parameters
    ----------
    blocks : list of Block
    n_docs, n_words : int
    device : torch.device
    """

    def __init__(self, blocks: list[Block], n_docs: int, n_words: int, device: Any) -> None:
        self.blocks, self.n_docs, self.n_words, self.device = blocks, n_docs, n_words, device

    @classmethod
    def of(cls, X: Any, device: Any, most: int) -> DocumentMatrix:
        """The matrix X in CSC, with no more than ``most`` non-zeros on the device."""
        n_docs, n_words = X.shape
        n_blocks = max(1, -(-int(X.nnz) // max(most, 1)))
        if n_blocks == 1:
            indptr, indices, data = (torch.as_tensor(part, device=device) for part in (X.indptr, X.indices, X.data))
            return cls.of_columns(indptr, indices, data, n_docs)
        by_rows, blocks = X.tocsr(), []
        ends = np.unique(np.searchsorted(by_rows.indptr, np.linspace(0, X.nnz, n_blocks + 1)[1:]).clip(1, n_docs))
        ends[-1] = n_docs
        pinned = device.type == "cuda"
        for first, last in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            part = by_rows[first:last]
            turned = part.tocsc()
            held = [torch.as_tensor(a) for m in (part, turned) for a in (m.indptr.astype(np.int32), m.indices, m.data)]
            held = [one.pin_memory() for one in held] if pinned else held
            blocks.append(Block(first, last, tuple(held[:3]), tuple(held[3:])))
        return cls(blocks, n_docs, n_words, device)

    @classmethod
    def of_columns(cls, indptr: Any, indices: Any, values: Any, n_docs: int) -> DocumentMatrix:
        """The matrix in one block, of arrays in CSC that lie on the device."""
        n_words = len(indptr) - 1
        columns = indptr.int(), indices.int(), values.double()
        return cls([Block(0, n_docs, _turned(*columns, n_docs), columns)], n_docs, n_words, values.device)

    def times(self, weights: Any) -> Any:
        """X V of V (n_words, k)."""
        out = torch.empty((self.n_docs, weights.shape[1]), dtype=weights.dtype, device=self.device)
        for block in self.blocks:
            indptr, indices, values = self._moved(block.rows)
            matrix = _csr(indptr, indices, values, self.n_words, weights.dtype)
            out[block.first : block.last] = matrix @ weights
        return out

    def transpose_times(self, scores: Any, squared: bool = False) -> Any:
        """Xᵀ R of R (n_docs, k), or the same with the squares of the values."""
        out = None
        for block in self.blocks:
            indptr, indices, values = self._moved(block.columns)
            values = values.to(scores.dtype)
            values = values * values if squared else values
            matrix = _csr(indptr, indices, values, block.last - block.first, scores.dtype)
            part = matrix @ scores[block.first : block.last]
            out = part if out is None else out.add_(part)
        return out

    def _moved(self, arrays: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(one.to(self.device, non_blocking=True) for one in arrays)


def _csr(indptr: Any, indices: Any, values: Any, n_columns: int, dtype: Any) -> Any:
    shape = (len(indptr) - 1, n_columns)
    with warnings.catch_warnings():  # it tells once that sparse matrices are new
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(indptr, indices, values.to(dtype), size=shape, check_invariants=False)


def _turned(indptr: Any, indices: Any, values: Any, n_minor: int) -> tuple[Any, Any, Any]:
    """The arrays of the transposed matrix: CSC as CSR, or the other way."""
    order = torch.argsort(indices, stable=True)
    major = torch.repeat_interleave(
        torch.arange(len(indptr) - 1, device=indices.device, dtype=torch.int32), indptr.diff()
    )
    return _pointers(torch.bincount(indices, minlength=n_minor)), major[order], values[order]


def _pointers(counts: Any) -> Any:
    pointers = torch.zeros(len(counts) + 1, dtype=torch.int64, device=counts.device)
    torch.cumsum(counts, 0, out=pointers[1:])
    return pointers.int()


# -- links ------------------------------------------------------------------------------------------------------------
def _logit(margin: Any) -> tuple[Any, Any, Any]:
    """log p, its slope and curvature in the margin y·eta."""
    e = torch.exp(-margin.abs())
    wide = 1.0 / (1.0 + e)
    narrow = e * wide
    return margin.clamp(max=0.0) - torch.log1p(e), torch.where(margin >= 0.0, narrow, wide), wide * narrow


def _probit(margin: Any) -> tuple[Any, Any, Any]:
    ratio = math.sqrt(2.0 / math.pi) / torch.special.erfcx(margin * -math.sqrt(0.5))
    far = margin < -1e5  # r + m is what is left of two numbers that cancel
    bend = torch.where(far, 1.0, (ratio * (ratio + margin)).clamp(0.0, 1.0))
    return torch.special.log_ndtr(margin), ratio, bend


LINKS = {"logit": _logit, "probit": _probit}


class Labels(NamedTuple):
    """What is asked of k labels, one a column: outcomes (n, k) of ±1, and arrays (p, k) or (p, 1) of their priors.

    ``pinned`` (p, k) or None are words held; the intercept has a Gaussian prior or none (``intercept_l2`` 0). ``w`` and
    ``b``, which is less its prior mean, are where to start.
    """

    link: str
    y: Any
    weight: Any
    center: Any
    l1: Any
    l2: Any
    pinned: Any
    has_intercept: bool
    intercept_mean: Any
    intercept_l2: Any
    w: Any
    b: Any
    cold: bool

    def take(self, kept: Any) -> Labels:
        """Some of the labels, without where they started."""
        names = ("y", "center", "l1", "l2", "pinned")
        given = {name: getattr(self, name) for name in names}
        taken = {name: one if one is None or one.shape[1] == 1 else one[:, kept] for name, one in given.items()}
        return self._replace(
            intercept_mean=self.intercept_mean[kept], intercept_l2=self.intercept_l2[kept], w=None, b=None, **taken
        )


class Fitted(NamedTuple):
    """Weights (k, p), intercepts and the outcome of the fit, as NumPy arrays."""

    w: FloatArray
    b: FloatArray
    objective: FloatArray
    violation: FloatArray
    n_iter: FloatArray


class NewtonOfLabels:
    """The fits of some labels, side by side; those that are finished leave.

    Parameters
    ----------
    X : DocumentMatrix
    labels : Labels
    tol, max_iter : float and int
        As in ``BaseInference``.
    """

    def __init__(self, X: DocumentMatrix, labels: Labels, tol: float, max_iter: int) -> None:
        self.X, self.of, self.tol, self.max_iter = X, labels, tol, max_iter
        k = labels.y.shape[1]
        self.ids = torch.arange(k, device=X.device)
        self.n_iter = torch.zeros(k, dtype=torch.int64, device=X.device)
        self.w, self.b = labels.w, labels.b
        self.reference = torch.zeros(k, dtype=torch.float64, device=X.device)
        self.largest = torch.ones(k, dtype=torch.float64, device=X.device)  # see ``_Model``
        self.stuck = torch.zeros(k, dtype=torch.bool, device=X.device)
        self.out = Fitted(np.zeros((k, X.n_words)), *(np.zeros(k) for _ in range(4)))

    def run(self, step_done: Any = None) -> Fitted:
        """Fit them all; ``step_done(ids, w, intercept)`` is told of the start and of every step."""
        self._begin()
        for round_ in range(self.max_iter + 1):
            if step_done is not None:
                step_done(self.ids, self.w, self.b + self.of.intercept_mean)
            gradient = self.X.transpose_times(self.score)
            curvature = self.X.transpose_times(self.omega.float(), squared=True).double()
            violation = self._violation(gradient)
            if round_ == 0:
                least = (1e-3 * self.score.abs().sum(0)).clamp(min=float(np.finfo(float).tiny))
                self.reference = torch.maximum(gradient.abs().amax(0), least)
            worst = torch.maximum(violation.amax(0), self._intercept_violation())
            done = self._finished(worst, violation, curvature) | self.stuck
            if round_ == self.max_iter:
                done = torch.ones_like(done)
            if bool(done.any()):
                self._write(done, worst)
                going = torch.nonzero(~done)[:, 0]
                if not len(going):
                    break
                self._keep(going)
                gradient, curvature, worst = gradient[:, going], curvature[:, going], worst[going]
            self._line_search(*self._direction(gradient, curvature, worst))
        return self.out

    # -- start and end ------------------------------------------------------------------------------------------------
    def _begin(self) -> None:
        of, X = self.of, self.X
        self.eta = X.times(self.w) if bool((self.w != 0.0).any()) else torch.zeros_like(of.y)
        self.eta += self.b + of.intercept_mean
        weight = torch.ones(X.n_docs, dtype=torch.float64, device=X.device) if of.weight is None else of.weight
        counts = torch.stack([weight @ (of.y > 0.0).double(), weight @ (of.y < 0.0).double()])
        self.one_sided = (counts <= 0.0).any(0) & (of.intercept_l2 == 0.0) & of.has_intercept
        if of.has_intercept and of.cold:
            self._start_intercepts(weight, counts)
        if bool(self.one_sided.any()):
            self._settle_one_sided(counts)
        self.likelihood, self.score, self.omega = self._derivatives(self.eta)

    def _start_intercepts(self, weight: Any, counts: Any) -> None:
        """The best intercept for the prior means, so that the first gradient is informative."""
        flat = self.eta.amax(0) == self.eta.amin(0)  # documents differ only in y
        shift = self._best_shift(self.eta[:1].expand_as(counts), _two_sides(counts), counts)
        if not bool(flat.all()):
            shift = torch.where(flat, shift, self._best_shift(self.eta, self.of.y, weight[:, None]))
        self._move(torch.where(self.one_sided, 0.0, shift))

    def _settle_one_sided(self, counts: Any) -> None:
        """Half a document on either side, and the words at their prior means."""
        self.w = torch.where(self.one_sided, self.of.center, self.w)
        self.b = torch.where(self.one_sided, 0.0, self.b)
        own = self.X.times(self.w) + self.b + self.of.intercept_mean
        self.eta = torch.where(self.one_sided, own, self.eta)
        shift = self._best_shift(torch.zeros_like(counts), _two_sides(counts), counts + 0.5)
        self._move(torch.where(self.one_sided, shift, 0.0))

    def _move(self, shift: Any) -> None:
        self.eta += shift
        self.b = self.b + shift

    def _best_shift(self, eta: Any, y: Any, weight: Any) -> Any:
        """By how much to move each intercept to its optimum, the words held."""
        shift = torch.zeros(eta.shape[1], dtype=torch.float64, device=eta.device)
        l2 = torch.where(self.one_sided, 0.0, self.of.intercept_l2)

        def at(shift: Any) -> tuple[Any, Any, Any]:
            log_p, slope, bend = LINKS[self.of.link](y * (eta + shift))
            b = self.b + shift
            bend = torch.maximum(bend, slope / _REACH).clamp(min=_HESSIAN_FLOOR)
            value = (weight * log_p).sum(0) - 0.5 * l2 * b * b
            return value, (weight * y * slope).sum(0) - l2 * b, ((weight * bend).sum(0) + l2).clamp(min=_HESSIAN_FLOOR)

        value, slope, curvature = at(shift)
        for _ in range(50):
            step = slope / curvature
            there = at(shift + step)
            while bool((worse := (step.abs() > 1e-6) & (there[0] < value)).any()):
                step = torch.where(worse, 0.5 * step, step)
                there = at(shift + step)
            shift = shift + step
            value, slope, curvature = there
            if bool((step.abs() <= 1e-6).all()):
                break
        return shift

    def _keep(self, going: Any) -> None:
        self.of = self.of.take(going)
        for name in ("ids", "n_iter", "b", "reference", "largest", "stuck", "one_sided", "likelihood"):
            setattr(self, name, getattr(self, name)[going])
        for name in ("w", "eta", "score", "omega"):
            setattr(self, name, getattr(self, name)[:, going])

    def _write(self, done: Any, worst: Any) -> None:
        rows, out = self.ids[done].cpu().numpy(), self.out
        out.w[rows] = self.w[:, done].T.cpu().numpy()
        found = (
            self.b + self.of.intercept_mean,
            self._penalty(self.w, self.b) - self.likelihood,
            worst / self.reference,
        )
        for whole, part in zip(out[1:], (*found, self.n_iter), strict=True):
            whole[rows] = part[done].cpu().numpy()

    # -- objective and optimality -------------------------------------------------------------------------------------
    def _derivatives(self, eta: Any) -> tuple[Any, Any, Any]:
        """Log-likelihood of each label; score and curvature of each document, the latter large enough for a step."""
        log_p, slope, bend = LINKS[self.of.link](self.of.y * eta)
        bend = torch.maximum(bend, slope / _REACH).clamp_(min=_HESSIAN_FLOOR)
        score = slope.mul_(self.of.y)
        if self.of.weight is not None:
            weight = self.of.weight[:, None]
            return (log_p * weight).sum(0), score.mul_(weight), bend.mul_(weight)
        return log_p.sum(0), score, bend

    def _penalty(self, w: Any, b: Any) -> Any:
        """−log prior of each label, up to its constant."""
        offset = w - self.of.center
        words = (self.of.l1 * offset.abs() + 0.5 * self.of.l2 * offset * offset).sum(0)
        return words + 0.5 * self.of.intercept_l2 * b * b

    def _violation(self, gradient: Any) -> Any:
        """Per word the distance of zero from the subdifferential of the objective."""
        offset = self.w - self.of.center
        violation = _distance(gradient - self.of.l2 * offset, offset, self.of.l1)
        held = self.one_sided if self.of.pinned is None else self.of.pinned | self.one_sided
        return torch.where(held, 0.0, violation)

    def _intercept_violation(self) -> Any:
        if not self.of.has_intercept:
            return torch.zeros_like(self.b)
        return torch.where(self.one_sided, 0.0, (self.score.sum(0) - self.of.intercept_l2 * self.b).abs())

    def _finished(self, worst: Any, violation: Any, curvature: Any) -> Any:
        """``LabelFit.finished`` of every label."""
        small = worst <= self.tol * self.reference
        gain = (0.5 * violation**2 / (curvature + self.of.l2).clamp(min=1e-300)).sum(0)
        if self.of.has_intercept:
            gain += 0.5 * self._intercept_violation() ** 2 / (self.omega.sum(0) + self.of.intercept_l2)
        done = small & (gain <= _GAIN * self.tol * (self._penalty(self.w, self.b).abs() - self.likelihood))
        self.reference = torch.where(small & ~done, 0.1 * worst / self.tol, self.reference)
        return done

    # -- steps --------------------------------------------------------------------------------------------------------
    def _direction(self, gradient: Any, curvature: Any, worst: Any) -> tuple[Any, Any]:
        """By how much to change weights (p, k) and intercepts (k,), as the quadratic models say."""
        of = self.of
        omega = self.omega.float()
        if of.has_intercept:
            mass = self.X.transpose_times(omega).double()
            total = (self.omega.sum(0) + of.intercept_l2).clamp(min=1e-12)
            pull = self.score.sum(0) - of.intercept_l2 * self.b
        else:
            mass, total, pull = torch.zeros_like(gradient), torch.ones_like(self.b), torch.zeros_like(self.b)
        offset = self.w - of.center
        free = torch.ones_like(offset, dtype=torch.bool) if of.pinned is None else ~of.pinned
        # The best intercept moves along with every step of the words (Schur complement).
        slope = torch.where(free, gradient - mass * (pull / total) - of.l2 * offset, 0.0)
        metric = torch.maximum(curvature - mass * mass / total, 1e-4 * curvature) + of.l2
        model = _Model(self.X, omega, mass, total, of.l1, of.l2, offset, slope, metric.clamp_(min=1e-30), free)
        target = torch.maximum(_SUB_GOAL * worst, 0.3 * self.tol * self.reference)
        step, self.largest = model.solve(target, self.largest)
        return step, (pull - (mass * step).sum(0)) / total

    def _line_search(self, step: Any, shift: Any) -> None:
        """Go as far as the objective of each label falls enough; those that cannot are stuck."""
        eta_step = self.X.times(step)
        eta_step += shift
        self.n_iter += 1
        old = self._penalty(self.w, self.b)
        change = self._penalty(self.w + step, self.b + shift) - old
        slope = change - (self.score * eta_step).sum(0)
        rounding = _ROUNDING * (self.likelihood.abs() + old)
        size = torch.ones_like(self.b)
        while True:
            eta = self.eta + size * eta_step
            likelihood, score, omega = self._derivatives(eta)
            w, b = self.w + size * step, self.b + size * shift
            loss = self._penalty(w, b) - old - likelihood + self.likelihood
            bad = ~(loss <= _ARMIJO * size * slope + rounding) & (size > 0.0)
            if not bool(bad.any()):
                break
            size = torch.where(bad, 0.5 * size, size)
            self.stuck |= size <= _SMALLEST_STEP
            size = torch.where(self.stuck, 0.0, size)
        self.w, self.b, self.eta = w, b, eta
        self.likelihood, self.score, self.omega = likelihood, score, omega


def _two_sides(counts: Any) -> Any:
    return torch.tensor([[1.0], [-1.0]], dtype=torch.float64, device=counts.device).expand_as(counts)


def _distance(smooth: Any, offset: Any, l1: Any) -> Any:
    """Distance of zero from the subdifferential of l1·|offset| − smooth·offset."""
    away = (smooth - l1 * torch.sign(offset)).abs()
    return torch.where(offset == 0.0, (smooth.abs() - l1).clamp(min=0.0), away)


class _Model(NamedTuple):
    """Quadratic models of k labels around their weights, the intercept of each at its optimum.

    A step d adds slope·d − ½ d'Hd − l1·|offset + d| to the log-posterior, with H = X'ΩX − mass·mass'/total + l2, whose
    diagonal is ``metric``.
    """

    X: DocumentMatrix
    omega: Any
    mass: Any
    total: Any
    l1: Any
    l2: Any
    offset: Any
    slope: Any
    metric: Any
    free: Any

    def take(self, kept: Any) -> _Model:
        """Some of the labels."""
        rest = {
            name: one if one.shape[1] == 1 else one[:, kept]
            for name, one in self._asdict().items()
            if name not in ("X", "total")
        }
        return self._replace(total=self.total[kept], **rest)

    def times(self, step: Any) -> Any:
        """H d of steps (p, k), its sparse products in single precision."""
        product = self.X.transpose_times(self.X.times(step.float()).mul_(self.omega)).double()
        product += self.l2 * step - self.mass * ((self.mass * step).sum(0) / self.total)
        return product.mul_(self.free)

    def solve(self, target: Any, largest: Any) -> tuple[Any, Any]:
        """Steps (p, k) that bring the violation of each model to its target, and ``largest`` as it is known then.

        Accelerated proximal gradient (Beck & Teboulle 2009), started anew where momentum leads uphill (O'Donoghue &
        Candès 2015). One product an iteration: that of the extrapolated point is a combination of two. ``largest`` is
        the largest eigenvalue of H in its metric, raised wherever a move meets a larger curvature.
        """
        model, labels = self, torch.arange(len(target), device=target.device)
        found, largest = torch.zeros_like(self.offset), largest.clone()
        rate_of, goal = largest.clone(), target
        step, bent = torch.zeros_like(self.offset), torch.zeros_like(self.offset)
        at, at_bent, momentum = step, bent, torch.ones_like(target)
        done = torch.zeros_like(target, dtype=torch.bool)
        for number in range(1, _MOST_STEPS + 1):
            rate = 1.0 / (rate_of * model.metric)
            there = model.offset + at + rate * (model.slope - at_bent)
            there = torch.sign(there) * (there.abs() - rate * model.l1).clamp_(min=0.0)
            after = torch.where(model.free, there - model.offset, 0.0)
            after_bent = model.times(after)
            violation = torch.where(model.free, _distance(model.slope - after_bent, there, model.l1), 0.0).amax(0)
            moved = after - at
            length = (moved * moved * model.metric).sum(0)
            ratio = (moved * (after_bent - at_bent)).sum(0) / length.clamp(min=1e-300)
            too_long = (ratio > rate_of * 1.001) & (length > _TOLD * (after * after * model.metric).sum(0))
            rate_of = torch.where(too_long, torch.maximum(1.2 * rate_of, ratio), rate_of)
            momentum = torch.where(too_long | ((moved * model.metric * (after - step)).sum(0) < 0.0), 1.0, momentum)
            following = 0.5 + torch.sqrt(0.25 + momentum**2)
            push = (momentum - 1.0) / following
            at, at_bent = after + push * (after - step), after_bent + push * (after_bent - bent)
            ended = (violation <= goal) & ~done
            found[:, labels] = torch.where(done, found[:, labels], after)
            step, bent, momentum, done = after, after_bent, following, done | ended
            if number % _LOOK and number > 3:
                continue
            going = torch.nonzero(~done)[:, 0]
            if len(going) <= _FEWER * len(labels):
                largest[labels] = rate_of
                if not len(going):
                    break
                model, labels = model.take(going), labels[going]
                rate_of, goal, momentum, done = (one[going] for one in (rate_of, goal, momentum, done))
                step, bent, at, at_bent = (one[:, going] for one in (step, bent, at, at_bent))
        largest[labels] = rate_of
        return found, largest
