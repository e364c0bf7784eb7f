"""Models of documents: linear, of counts, online, soft clusters, and fine-tuned encoders; each folder holds one.

``model_types`` has those that a ``TextCategorizer`` can use, by name: classes that inherit from
``textbayes.models.base.TextModel``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textbayes.core.registry import Registry

if TYPE_CHECKING:
    from textbayes.models.base import TextModel

# Modules by the name that they register, so that names can be listed without an import of any model.
_MODULES = {
    "clusters": "textbayes.models.clusters.estimator",
    "counts": "textbayes.models.counts.classifier",
    "encoder": "textbayes.models.encoder.classifier",
    "gp": "textbayes.models.online.process",
    "linear": "textbayes.models.linear.classifier",
    "multinomial": "textbayes.models.multinomial.classifier",
    "online": "textbayes.models.online.classifier",
    "svm": "textbayes.models.linear.svm",
}

model_types: Registry[type[TextModel]] = Registry("model", "textbayes.models", _MODULES)
