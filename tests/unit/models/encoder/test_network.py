"""A pretrained encoder in PyTorch: fine-tuned, scored, explained, kept; a small one with weights drawn at random."""

from __future__ import annotations

import json
import shutil
import socket
from functools import partial

import numpy as np
import pytest
from scipy import special
from sklearn.linear_model import LogisticRegression

pytest.importorskip("torch", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")
pytest.importorskip("transformers", reason="the extra encoder is not installed: pip install 'textbayes[encoder]'")

import torch

from references.encoders import GROUPS, draw, write_encoder
from textbayes.core.errors import InputError, ModelFileError
from textbayes.core.machine import cuda_is_there
from textbayes.models.encoder import network as networks
from textbayes.models.encoder.body import read_body
from textbayes.models.encoder.schedule import Schedule, operations
from textbayes.text.subwords import NONE, Subwords

N_TEXTS = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def subwords(folder):
    return Subwords.in_folder(folder)


@pytest.fixture(scope="module")
def body(folder):
    return read_body(folder)


@pytest.fixture(scope="module")
def learn(body, subwords):
    def fit(n_groups=2, n_texts=N_TEXTS, way="all", exclusive=None, **how):
        texts, labels = draw(0, n_texts, n_groups)
        codes = np.array([int(label[-1]) for label in labels])
        exclusive = n_groups > 2 if exclusive is None else exclusive
        target = codes if exclusive else np.arange(n_groups) == codes[:, None] if n_groups > 2 else codes[:, None] == 1
        n_outputs = n_groups if n_groups > 2 else 1
        return networks.fitted(
            body, subwords.special, subwords.ids(texts), target, n_outputs=n_outputs, exclusive=exclusive, way=way,
            **how,
        )  # fmt: skip

    return fit


@pytest.fixture(scope="module")
def three(learn):
    return learn(3)


def right(network, subwords, n_groups):
    texts, labels = draw(1, 60, n_groups)
    odds = networks.log_odds(network, subwords.ids(texts))
    codes = odds.argmax(axis=1) if n_groups > 2 else odds[:, 0] > 0.0
    return np.mean(codes == [int(label[-1]) for label in labels])


@pytest.mark.parametrize(
    ("n_groups", "way", "exclusive"),
    [(2, "all", False), (3, "all", False), (2, "pairs", False), (3, "pairs", True), (3, "head", True)],
)
def test_it_answers_texts_of_words_that_no_training_text_has(learn, subwords, n_groups, way, exclusive):
    assert right(learn(n_groups, way=way, exclusive=exclusive), subwords, n_groups) >= 0.9


def test_it_learns_and_explains_on_a_gpu_as_on_a_cpu(learn, subwords):
    if not cuda_is_there():
        pytest.skip("there is no graphics card that PyTorch can use")
    network, ids = learn(3, device="cuda"), subwords.ids(draw(1, 1, 3)[0])
    assert right(network, subwords, 3) >= 0.9
    told = networks.shares(network, ids[0])
    assert told.base + told.parts.sum(axis=1) == pytest.approx(networks.log_odds(network, ids)[0], abs=0.1)


def test_log_odds_of_classes_are_those_against_all_others(three, subwords):
    odds = networks.log_odds(three, subwords.ids(draw(1, 20, 3)[0]))
    assert special.expit(odds).sum(axis=1) == pytest.approx(1.0)
    assert right(three, subwords, 3) >= 0.9


@pytest.mark.parametrize("text", [GROUPS[0][0], "", " ".join(words[0] for words in GROUPS), "unknown ? words " * 5])
def test_parts_of_tokens_add_up_to_the_log_odds(three, subwords, text):
    ids = subwords.ids([text])
    told = networks.shares(three, ids[0])
    total = networks.log_odds(three, ids)[0]
    assert told.base + told.parts.sum(axis=1) == pytest.approx(total, abs=1e-5)
    # The base is what the text with every token masked has: nothing was moved there but what the steps may miss.
    hidden = np.where(ids == NONE, NONE, subwords.special.mask)
    assert told.base == pytest.approx(
        networks.log_odds(three, hidden)[0], abs=1e-3 * max(np.abs(total).max(), 1.0) + 1e-5
    )
    assert told.parts.shape == (3, (ids != NONE).sum())


def test_a_word_of_a_group_speaks_for_it(three, subwords):
    told = networks.shares(three, subwords.ids([f"{GROUPS[0][0]} {GROUPS[1][0]}"])[0])
    assert told.parts[0, 0] > told.parts[0, 1]
    assert told.parts[1, 1] > 0.0 > told.parts[1, 0]


def test_the_same_seed_learns_the_same_and_nothing_else_draws_differently(learn, subwords):
    ids = subwords.ids(draw(1, 5)[0])
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    answers = [networks.log_odds(learn(n_texts=20, seed=seed), ids) for seed in (0, 0, 1)]
    assert torch.equal(torch.rand(2), expected)
    assert (answers[0] == answers[1]).all()
    assert (answers[0] != answers[2]).all()


def test_a_head_counts_texts_by_weight_and_is_a_logistic_regression(learn, body, subwords):
    texts, labels = draw(0, 60)
    ids, y = subwords.ids(texts), np.array([label == "group 1" for label in labels])
    weight = 1.0 + np.arange(60) % 3
    fit = partial(networks.fitted, body, subwords.special, n_outputs=1, exclusive=False, way="head")
    weighted = fit(ids=ids, target=y[:, None], weight=weight)
    vectors = networks._outputs(weighted, ids, vectors=True).numpy()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    peer = LogisticRegression(C=10.0, tol=1e-10, max_iter=10_000).fit(vectors, y, weight / weight.mean())
    assert networks.log_odds(weighted, ids)[:, 0] == pytest.approx(peer.decision_function(vectors), abs=0.02)


def test_texts_of_no_weight_teach_nothing(learn, body, subwords):
    texts, labels = draw(0, N_TEXTS)
    y = np.array([[label == "group 1"] for label in labels])
    ids, both = np.tile(subwords.ids(texts), (2, 1)), np.concatenate([y, ~y])
    weight = np.repeat([1.0, 0.0], N_TEXTS)
    network = networks.fitted(body, subwords.special, ids, both, n_outputs=1, exclusive=False, weight=weight)
    assert right(network, subwords, 2) >= 0.9


def test_out_of_memory_halves_what_is_read_at_once(learn, subwords, monkeypatch):
    most, calls = 5, []
    vectors = networks.Network.vectors

    def small(self, ids, mask, embedded=None):
        calls.append(len(mask))
        if len(mask) > most:
            raise torch.cuda.OutOfMemoryError("too little")
        return vectors(self, ids, mask, embedded)

    ids = subwords.ids(draw(1, 30)[0])
    plain = learn(n_texts=40)
    expected = networks.log_odds(plain, ids)
    monkeypatch.setattr(networks, "_TOKENS", 200)
    monkeypatch.setattr(networks.Network, "vectors", small)
    assert networks.log_odds(plain, ids) == pytest.approx(expected, abs=1e-5)
    assert max(calls) > most
    calls.clear()
    learn(n_texts=40)
    assert sum(one > most for one in calls) == 2, "16 texts and 8 are too many; what fits is remembered"
    most = 0
    with pytest.raises(InputError, match="too little memory free for one text"):
        networks.log_odds(plain, ids)
    with pytest.raises(InputError, match="too little memory free for one text"):
        learn(n_texts=20)


def test_progress_is_told_step_by_step_and_an_interrupt_is_passed_on(learn):
    told = []
    learn(n_texts=40, report=lambda *step: told.append(step))
    total = Schedule.of(40).n_steps(40)
    assert told == [("tuning the encoder", number + 1, total) for number in range(total)]

    def stop(*step):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(n_texts=40, report=stop)


def test_weights_in_half_precision_make_the_same_network(three, subwords):
    arrays = networks.saved(three)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.float16)}
    config = three.body.config.to_dict()
    again = networks.restored(config, arrays, three.special, 3, True, False, "cpu")
    ids = subwords.ids(draw(1, 20, 3)[0])
    assert networks.log_odds(again, ids) == pytest.approx(networks.log_odds(three, ids), abs=0.05)
    networks.load(again, networks.saved(again))
    assert all((one == networks.saved(again)[name]).all() for name, one in arrays.items())
    arrays.pop("head.bias")
    with pytest.raises(ModelFileError, match="are not those of its network"):
        networks.restored(config, arrays, three.special, 3, True, False, "cpu")
    for key, value in {"hidden_size": 2**30, "vocab_size": 2**40, "num_hidden_layers": 10**9}.items():
        with pytest.raises(ModelFileError, match=r"are not those of its network|cannot be made"):
            networks.restored(config | {key: value}, arrays, three.special, 3, True, False, "cpu")
    with pytest.raises(ModelFileError, match="cannot be made"):
        networks.restored(config | {"model_type": "no such"}, arrays, three.special, 3, True, False, "cpu")


@pytest.mark.parametrize("n_texts", [1, 30, 500, 1_999, 2_000, 50_000])
def test_few_texts_are_read_more_often(n_texts, folder):
    one = Schedule.of(n_texts)
    assert one.n_steps(n_texts) >= 60
    assert one.epochs >= Schedule.of(2 * n_texts).epochs
    assert operations(folder, n_texts, 10.0) == 6.0 * 2 * (4 * 32**2 + 2 * 32 * 64) * 10.0 * one.epochs


def test_a_folder_without_weights_is_refused(tmp_path, folder):
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(InputError, match="cannot be loaded"):
        read_body(tmp_path)


# What a configuration may say beside the truth, and the refusal; None where it makes no difference.
CLAIMS = {
    "another kind of network": ({"model_type": "gpt2"}, "its kind is 'gpt2'"),
    "a network to be fetched": (
        {"model_type": "maskformer", "backbone": "some/network", "use_pretrained_backbone": True},
        "its kind is 'maskformer'",
    ),
    "kernels to be fetched": ({"attn_implementation": "some/kernel", "_attn_implementation": "some/kernel"}, None),
    "code": ({"auto_map": {"AutoModel": "code.Network", "AutoConfig": "code.Config"}}, None),
    "another way to load": ({"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}}, None),
    "labels without number": ({"num_labels": 10**12}, None),
    "methods": ({"to_dict": 1, "attribute_map": {"hidden_size": "n"}, "transformers_weights": "../other.bin"}, None),
    "layers without number": ({"num_hidden_layers": 10**9}, "too few for num_hidden_layers 1,000,000,000"),
    "a number in words": ({"hidden_size": "many"}, "hidden_size"),
    "no numbers at all": ({"num_attention_heads": 0}, "cannot be"),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_nothing_but_a_known_encoder_is_made_of_a_configuration(three, folder, tmp_path, monkeypatch, claim):
    def refuse(*_, **__):
        pytest.fail("something was to be fetched")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    changes, refused = CLAIMS[claim]
    own = shutil.copytree(folder, tmp_path / "own")
    config = json.loads((own / "config.json").read_text(encoding="utf-8")) | changes
    (own / "config.json").write_text(json.dumps(config), encoding="utf-8")
    arrays = networks.saved(three)
    if refused is None:
        assert type(read_body(own)) is type(three.body)
        networks.restored(config, arrays, three.special, 3, True, False, "cpu")
        return
    with pytest.raises(InputError, match=refused):
        read_body(own)
    with pytest.raises(ModelFileError, match=refused):
        networks.restored(config, arrays, three.special, 3, True, False, "cpu")


def test_a_folder_with_weights_of_another_encoder_is_refused(folder, tmp_path):
    own = shutil.copytree(folder, tmp_path / "own")
    config = json.loads((own / "config.json").read_text(encoding="utf-8")) | {"num_hidden_layers": 3}
    (own / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(InputError, match=r"no weights for encoder\.layer\.2"):
        read_body(own)


def test_layers_of_any_name_are_counted(tmp_path):
    from transformers import DistilBertConfig, DistilBertModel

    DistilBertModel(DistilBertConfig(dim=8, n_heads=2, n_layers=1, hidden_dim=8, vocab_size=9)).save_pretrained(
        tmp_path
    )
    assert read_body(tmp_path).config.hidden_size == 8
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    (tmp_path / "config.json").write_text(json.dumps(config | {"n_layers": 10**9}), encoding="utf-8")
    with pytest.raises(InputError, match="too few for n_layers"):
        read_body(tmp_path)


def test_weights_in_pickle_are_not_loaded(tmp_path, folder):
    own = shutil.copytree(folder, tmp_path / "own")
    torch.save(read_body(own).state_dict(), own / "pytorch_model.bin")
    (own / "model.safetensors").unlink()
    with pytest.raises(InputError, match="cannot be loaded"):
        read_body(own)
