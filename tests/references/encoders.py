"""A small encoder with weights drawn at random, in a folder as transformers keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_WORDS = [f"{a}{b}{c}{d}" for a in "bdfgkpstvwzj" for b in "aeiou" for c in "lmnr" for d in "aeiou"]
GROUPS = np.random.default_rng(0).permutation(_WORDS).reshape(3, -1).tolist()  # only an encoder knows which are alike
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def draw(seed: int, n_texts: int, n_groups: int = 2) -> tuple[list[str], list[str]]:
    """Texts of words of one group each, and its name."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(n_groups, size=n_texts)
    texts = [" ".join(rng.choice(GROUPS[number], 3)) for number in numbers]
    return texts, [f"group {number}" for number in numbers]


def write_encoder(folder: Path, groups: Sequence[Sequence[str]] = GROUPS, seed: int = 0, **settings: Any) -> Path:
    """Write an encoder that knows which words are of one group, and each letter as a piece of other words.

    Parameters
    ----------
    folder : Path
    groups : sequence of sequences of str
        Words of one group have like embeddings, as if it had been trained on many texts.
    seed : int
    **settings
        Of ``BertConfig``, beside the usual small ones.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    letters = "abcdefghijklmnopqrstuvwxyz0123456789'"
    listed = dict.fromkeys(
        [*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *(word for group in groups for word in group)]
    )
    numbers = {name: number for number, name in enumerate(listed)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", numbers["[CLS]"]), ("[SEP]", numbers["[SEP]"])]
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(**{"vocab_size": len(numbers), "max_position_embeddings": 64} | small | settings)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        body = BertModel(config)
        known = body.get_input_embeddings().weight.data
        for group in groups:
            known[[numbers[word] for word in group]] += 0.2 * torch.randn(config.hidden_size)
    body.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "modules.json").write_text(json.dumps([]), encoding="utf-8")
    return folder
