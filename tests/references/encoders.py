"""A small encoder with weights drawn at random, in a folder as transformers keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def write_encoder(folder: Path, words: Iterable[str], seed: int = 0, **settings: Any) -> Path:
    """Write an encoder that knows these words, and each letter as a piece of others.

    Parameters
    ----------
    folder : Path
    words : iterable of str
    seed : int
    **settings
        Of ``BertConfig``, beside the usual small ones.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    letters = "abcdefghijklmnopqrstuvwxyz0123456789'"
    listed = dict.fromkeys([*SPECIAL, *letters, *(f"##{letter}" for letter in letters), *words])
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
    body.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "modules.json").write_text(json.dumps([]), encoding="utf-8")
    return folder
