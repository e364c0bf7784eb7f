"""Drawings small enough to write by hand: a curve per label, and the confusion table as a map; they hold no names."""

from __future__ import annotations

from textbayes.report.records import Confusion, Curve

_SIDE = 100.0  # of a curve's frame
_MAP = 360.0  # of the map's frame
_MARGIN = 42.0  # for the names of the axes and the numbers along the map
_MOST_CELLS = 6_000


def curve_svg(curve: Curve) -> str:
    """Precision (up) against recall (right) in a square, and a dot where the decisions are."""
    points = " ".join(
        f"{_SIDE * r:.1f},{_SIDE * (1 - p):.1f}" for r, p in zip(curve.recall, curve.precision, strict=True)
    )
    said = f"Precision against recall: average precision {curve.average_precision:.3f}"
    dot = ""
    if curve.here is not None:
        recall, precision = curve.here
        said += f"; the predictions have recall {recall:.3f} and precision {precision:.3f}"
        dot = f'<circle class="here" cx="{_SIDE * recall:.1f}" cy="{_SIDE * (1 - precision):.1f}" r="4"/>'
    half = _SIDE / 2
    return (
        f'<svg viewBox="-19 -5 {_SIDE + 24:.0f} {_SIDE + 24:.0f}" role="img" aria-label="{said}">'
        f'<path class="frame" d="M0 0V{_SIDE:.0f}H{_SIDE:.0f}V0Z M0 {half:.0f}H{_SIDE:.0f} M{half:.0f} 0V{_SIDE:.0f}"/>'
        f'<polyline class="curve" points="{points}"/>{dot}'
        f'<text x="{half:.0f}" y="{_SIDE + 15:.0f}" text-anchor="middle">recall</text>'
        f'<text transform="translate(-7 {half:.0f}) rotate(-90)" text-anchor="middle">precision</text></svg>'
    )


def heat_map_svg(confusion: Confusion) -> str:
    """The confusion table as squares, rows true and columns predicted, by number; the fuller the colour the more texts.

    A square is coloured by its share of the texts of its row; what is wrong starts from a colour that can be seen.
    """
    size = max(len(confusion.rows), len(confusion.columns))
    cell = _MAP / size
    totals: dict[int, int] = {}
    for row, _, n in confusion.cells:
        totals[row] = totals.get(row, 0) + n
    squares = []
    for row, column, n in sorted(confusion.cells, key=lambda one: -one[2])[:_MOST_CELLS]:
        share = n / totals[row]
        kind, opacity = ("r", 0.15 + 0.85 * share) if row == column else ("w", min(1.0, 0.3 + 1.4 * share))
        place = f"M{column * cell:.1f} {row * cell:.1f}h{cell:.1f}v{cell:.1f}h-{cell:.1f}z"
        squares.append(f'<path class="{kind}" d="{place}" fill-opacity="{opacity:.2f}"/>')
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if size / step <= 14)
    numbers = []
    for number in range(step, size + 1, step):
        middle = (number - 0.5) * cell
        numbers.append(f'<text x="{middle:.1f}" y="-6" text-anchor="middle">{number}</text>')
        numbers.append(f'<text x="-6" y="{middle + 4:.1f}" text-anchor="end">{number}</text>')
    whole = _MAP + _MARGIN + 10  # a little more, for the half of a number beyond the last square
    wrong = sum(n for row, column, n in confusion.cells if row != column)
    shape = f"{len(confusion.rows)} true by {len(confusion.columns)} predicted labels"
    said = f"Confusion matrix of {shape}; {wrong:,} texts are off the diagonal"
    return (
        f'<svg class="map" viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {whole:.0f} {whole:.0f}" role="img" '
        f'aria-label="{said}"><rect class="frame" width="{_MAP:.0f}" height="{_MAP:.0f}"/>'
        f"{''.join(squares)}{''.join(numbers)}"
        f'<text x="{_MAP / 2:.0f}" y="-26" text-anchor="middle">predicted label (number in the list below)</text>'
        f'<text transform="translate(-30 {_MAP / 2:.0f}) rotate(-90)" text-anchor="middle">true label</text></svg>'
    )
