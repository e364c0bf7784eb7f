"""Parameters by name, as scikit-learn's estimators have them, for objects that are no estimators."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Self

from textbayes.core.errors import InputError


class Parameters:
    """Base of objects whose constructor stores its arguments: they are listed, changed and copied by name.

    ``sklearn.base.clone`` and ``set_params(rule__threshold=…)`` of an estimator that holds one work as they do with
    scikit-learn's own objects. scikit-learn itself is not imported, which takes longer than scoring some hundred texts.
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` those of parameters that have some as well."""
        found = {name: getattr(self, name) for name in self._get_param_names()}
        nested = {
            f"{name}__{key}": own
            for name, value in found.items()
            if deep and isinstance(value, Parameters)
            for key, own in value.get_params().items()
        }
        return found | nested

    def set_params(self, **params: Any) -> Self:
        """Change parameters; ``rule__threshold=0.3`` changes one of the parameter ``rule``."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}; it has: {', '.join(known)}")
        for name in sorted(params, key=lambda one: "__" in one):  # whole parameters before their own
            part, _, rest = name.partition("__")
            if rest:
                getattr(self, part).set_params(**{rest: params[name]})
            else:
                setattr(self, part, params[name])
        return self

    def fresh(self) -> Self:
        """A copy with the same parameters, and nothing of what was learnt."""
        given = self.get_params(deep=False)
        return type(self)(**{k: v.fresh() if isinstance(v, Parameters) else copy.deepcopy(v) for k, v in given.items()})

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        given = self.get_params(deep=False).items()
        changed = [f"{name}={value!r}" for name, value in given if repr(value) != repr(defaults[name].default)]
        return f"{type(self).__name__}({', '.join(changed)})"
