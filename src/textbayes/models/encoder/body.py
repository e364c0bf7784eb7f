"""The network of a pretrained encoder, made by its configuration: of kinds that are known, and of nothing else.

A configuration can name other networks, which transformers would fetch; kernels, which it would fetch and run; and
layers without number. It comes with a folder or a model file from anywhere, so that only what describes an encoder of a
known kind is taken from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from textbayes.core.errors import InputError
from textbayes.text.subwords import CONFIG

KINDS = (
    "albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "eurobert", "modernbert",
    "mpnet", "nomic_bert", "rembert", "roberta", "roberta-prelayernorm", "xlm-roberta",
)  # fmt: skip
_COUNTS = ("layer", "group")  # in names of numbers of parts; each part has weights of its own
_OPENS = ("attn_implementation", "experts_implementation", "quantization_config", "auto_map", "transformers_weights")
_POOLER = "pooler."  # of BERT, which reads the first token: its weights may be missing


def read_body(folder: str | Path) -> Any:
    """The encoder in a folder, in single precision; nothing is fetched, and no code but that of transformers is run."""
    from safetensors import safe_open
    from transformers import AutoModel
    from transformers.utils import logging

    shows, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        config = json.loads(Path(folder, CONFIG).read_text(encoding="utf-8"))
        n_arrays = 0
        for path in Path(folder).glob("*.safetensors"):
            with safe_open(path, "numpy") as file:
                n_arrays += len(file.keys())
        body, told = AutoModel.from_pretrained(
            str(folder),
            config=_described(config, n_arrays),
            dtype=torch.float32,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
    except Exception as error:  # transformers raises nothing more exact
        raise InputError(f"the encoder in {folder} cannot be loaded: {error}") from error
    finally:
        logging.set_verbosity(level)
        if shows:
            logging.enable_progress_bar()
    missing = sorted(name for name in told["missing_keys"] if not name.startswith(_POOLER))
    if missing:
        raise InputError(
            f"the encoder in {folder} has no weights for {missing[0]}: its {CONFIG} is that of another; save it again"
        )
    return body


def empty_body(config: Mapping[str, Any], n_arrays: int) -> Any:
    """The network that a configuration describes, with weights that mean nothing yet.

    Parameters
    ----------
    config : mapping
        As transformers has it.
    n_arrays : int
        Arrays of weights that there are for it: it has no more layers.
    """
    from transformers import AutoModel

    return AutoModel.from_config(_described(config, n_arrays), trust_remote_code=False).float()


def _described(config: Any, n_arrays: int) -> Any:
    """What a configuration says of an encoder of a known kind."""
    from transformers import AutoConfig, PreTrainedConfig

    kind = config.get("model_type") if isinstance(config, Mapping) else None
    if kind not in KINDS:
        raise ValueError(f"its kind is {kind!r}, which is none of {', '.join(KINDS)}")
    # What all configurations have describes how to load and run them, but for the scaling of places.
    known = {
        key: value
        for key, value in config.items()
        if not key.startswith("_")
        and key not in _OPENS
        and (key == "rope_scaling" or not hasattr(PreTrainedConfig, key))
    }
    for key, value in known.items():
        if isinstance(value, int) and value > n_arrays and any(part in key for part in _COUNTS):
            raise ValueError(f"it has {n_arrays:,} arrays of weights, too few for {key} {value:,}")
    described = AutoConfig.for_model(kind, **known)
    if getattr(described, "num_hidden_layers", 0) > n_arrays:
        raise ValueError(f"it has {n_arrays:,} arrays of weights, too few for {described.num_hidden_layers:,} layers")
    return described
