"""Links: how a linear predictor becomes a probability. One file each; a new file is picked up by name."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from textbayes.core.errors import InputError
from textbayes.core.lazy import on_first_use
from textbayes.core.registry import Registry
from textbayes.links.base import BaseLink as BaseLink
from textbayes.links.base import ByLabel

if TYPE_CHECKING:
    from textbayes.links.flip import Flip as Flip
    from textbayes.links.logit import Logit as Logit
    from textbayes.links.probit import Probit as Probit
    from textbayes.links.skew_t import SkewT as SkewT
    from textbayes.links.student_t import StudentT as StudentT

links: Registry[type[BaseLink]] = Registry("link", "textbayes.links")


def is_searched(link: Any) -> bool:
    """Whether a link is looked for, label by label: ``auto``, or ``auto:df=[1,8],skew=[0.5,2]``."""
    return isinstance(link, str) and link.partition(":")[0] == "auto"


def make_link(link: str | BaseLink) -> BaseLink:
    """The link of that name, with parameters after a colon where it has any, or the object itself.

    Names with a semicolon between them are the links of several labels, one for each.

    >>> make_link("skew_t:df=8,skew=2")
    SkewT(df=8.0, skew=2.0)
    >>> make_link("flip:rate=0.1,base=student_t:df=4").spec  # ``base`` comes last and takes the rest
    'flip:rate=0.1,base=student_t:df=4.0'
    """
    if isinstance(link, BaseLink):
        return link
    if not isinstance(link, str):
        raise InputError(f"link={link!r} is neither the name of a link nor a link; names: {', '.join(links.names())}")
    if ";" in link:
        return ByLabel([make_link(one) for one in link.split(";")])
    name, _, rest = link.partition(":")
    link_class = links.get(name)
    params: dict[str, Any] = {}
    defaults = inspect.signature(link_class).parameters if rest else {}
    while rest:
        key, _, rest = rest.partition("=")
        value, _, rest = (rest, "", "") if key == "base" else rest.partition(",")
        if key not in link_class.parameters:
            known = ", ".join(link_class.parameters) or "none"
            raise InputError(f"link {name!r} has no parameter {key!r}; it has: {known}")
        parsed = value if key == "base" else _value(link, key, value, defaults[key].default)
        if params.setdefault(key, parsed) != parsed:
            raise InputError(f"link {link!r} gives {key} twice; give it once")
    return link_class(**params)


def _value(link: str, key: str, value: str, default: Any) -> Any:
    """A parameter in the type of its default: a text, a flag, or a number."""
    if isinstance(default, str):
        return value
    if isinstance(default, bool) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return int(value) if isinstance(default, int) else float(value)
    except ValueError:
        need = "true or false" if isinstance(default, bool) else f"a number, as in {key}=4"
        raise InputError(f"link {link!r} gives {key}={value!r}; write {need}") from None


__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.links.flip": ("Flip",),
        "textbayes.links.logit": ("Logit",),
        "textbayes.links.probit": ("Probit",),
        "textbayes.links.skew_t": ("SkewT",),
        "textbayes.links.student_t": ("StudentT",),
    },
    own=("BaseLink", "links", "make_link"),
)
