"""Formulas of docstrings as TeX, for the tables of the documentation: docstrings are also read in a terminal."""

from __future__ import annotations

import re

# What stands in a docstring, and how a page shows it. A bar would end a cell of a table, hence \vert.
FORMULAS = {
    # links
    "tanh(m/2)/(2m)": r"\tanh(m/2)/(2m)",
    "m = y·eta": r"m = y\eta",
    "omega = 1": r"\omega = 1",
    # priors
    "−log p(w) = ½ ((w − mean)/scale)² + log(scale √2π)": (
        r"-\log p(w) = \frac{1}{2} \left(\frac{w - c}{s}\right)^2 + \log(s \sqrt{2\pi})"
    ),
    "l2 = 1/scale²": r"l_2 = 1/s^2",
    "p(w) = f(t)/(scale √(2π³)), f(t) = eᵗ E₁(t), t = ½ ((w − mean)/scale)²": (
        r"p(w) = \frac{e^t E_1(t)}{s \sqrt{2\pi^3}},\ t = \frac{1}{2} \left(\frac{w - c}{s}\right)^2"
    ),
    "−log p(w) = log|w − mean| + constant": r"-\log p(w) = \log \vert w - c \vert + \mathrm{constant}",
    "−log p(w) = |w − mean|/scale + log(2 scale)": r"-\log p(w) = \vert w - c \vert / s + \log(2s)",
    "−log p(w) = ½ (ν + 1) log(1 + u²/ν) + constant, u = (w − mean)/scale": (
        r"-\log p(w) = \frac{\nu + 1}{2} \log\left(1 + \frac{u^2}{\nu}\right) + \mathrm{constant},\ u = (w - c)/s"
    ),
    # score functions
    "|Φ⁻¹(tpr) − Φ⁻¹(fpr)|": r"\vert \Phi^{-1}(\mathrm{tpr}) - \Phi^{-1}(\mathrm{fpr}) \vert",
    "tpr = a/(a+c)": r"\mathrm{tpr} = a/(a+c)",
    "fpr = b/(b+d)": r"\mathrm{fpr} = b/(b+d)",
    "χ² = N (ad − bc)² / ((a+b)(c+d)(a+c)(b+d))": r"\chi^2 = \frac{N (ad - bc)^2}{(a+b)(c+d)(a+c)(b+d)}",
    "χ²₁": r"\chi^2_1",
    "s²": r"s^2",
    "δ": r"\delta",
    "π": r"\pi",
    "Δ² = (S − nπ)² / (nπ(1−π))": r"\Delta^2 = \frac{(S - n\pi)^2}{n\pi(1-\pi)}",
    "Δ²/(1 + δω̃)": r"\Delta^2/(1 + \delta\tilde{\omega})",
    "Δ²": r"\Delta^2",
    "IG = H(category) − H(category | word present or not)": (
        r"\mathrm{IG} = H(\mathrm{category}) - H(\mathrm{category} \vert \mathrm{word})"
    ),
    "−2 ln λ = 2 Σ_cells O ln(O/E)": r"-2 \ln \lambda = 2 \sum_{\mathrm{cells}} O \ln(O/E)",
    "ln[(a+½)(d+½) / ((b+½)(c+½))]": r"\ln \frac{(a+\frac{1}{2})(d+\frac{1}{2})}{(b+\frac{1}{2})(c+\frac{1}{2})}",
    "|r| = |Σ_in (x − x̄)| / √(n_in n_out/N · Σ (x − x̄)²)": (
        r"\vert r \vert = \frac{\vert \sum_{\mathrm{in}} (x - \bar{x}) \vert}"
        r"{\sqrt{n_{\mathrm{in}} n_{\mathrm{out}} / N \cdot \sum (x - \bar{x})^2}}"
    ),
    "t = r√((N−2)/(1−r²))": r"t = r \sqrt{(N-2)/(1-r^2)}",
    "|t| = |x̄_in − x̄_out| / √(s²_in/n_in + s²_out/n_out)": (
        r"\vert t \vert = \frac{\vert \bar{x}_{\mathrm{in}} - \bar{x}_{\mathrm{out}} \vert}"
        r"{\sqrt{s_{\mathrm{in}}^2 / n_{\mathrm{in}} + s_{\mathrm{out}}^2 / n_{\mathrm{out}}}}"
    ),
    "|t| = |x̄_in − x̄_out| / √(s² (1/n_in + 1/n_out))": (
        r"\vert t \vert = \frac{\vert \bar{x}_{\mathrm{in}} - \bar{x}_{\mathrm{out}} \vert}"
        r"{\sqrt{s^2 (1/n_{\mathrm{in}} + 1/n_{\mathrm{out}})}}"
    ),
    "|Q| = |ad − bc| / (ad + bc)": r"\vert Q \vert = \vert ad - bc \vert / (ad + bc)",
}
_LONGEST_FIRST = sorted(FORMULAS, key=len, reverse=True)
_KNOWN = re.compile("(" + "|".join(map(re.escape, _LONGEST_FIRST)) + ")")


def split_formulas(text: str) -> list[tuple[str, bool]]:
    """Pieces of a text, and whether each is a formula, which is given as TeX.

    >>> split_formulas("curvature tanh(m/2)/(2m) of Jaakkola")
    [('curvature ', False), ('\\\\tanh(m/2)/(2m)', True), (' of Jaakkola', False)]
    """
    return [(FORMULAS.get(piece, piece), piece in FORMULAS) for piece in _KNOWN.split(text) if piece]
