"""Words that join are found without looking at all of them: the same words as by looking at all."""

from __future__ import annotations

import numpy as np
import pytest

from textbayes.stream import simulate
from textbayes.stream import watch as watching
from textbayes.stream.growth import telling_words
from textbayes.stream.learn import _counted

from .conftest import draw


@pytest.mark.parametrize("threshold", [12.13, 4.0, 0.5])
def test_the_same_words_as_by_looking_at_all(make, monkeypatch, threshold):
    """Words of all frequencies, in documents of both kinds; some judgements are corrected."""
    desk = make(threshold=0.0, ask="never", word_threshold=threshold, most_words=60)
    looked_at = []
    scores = watching.word_scores
    monkeypatch.setattr(watching, "word_scores", lambda a, *rest: looked_at.append(len(a)) or scores(a, *rest))
    rng = np.random.default_rng(3)
    joined = 0
    for i, document in enumerate(draw(5, 300, first=5000)):
        rare = " ".join(f"rare{rng.integers(200)}q" for _ in range(4))
        document = document._replace(text=f"{document.text} {rare}")
        desk.see(document, 0.0)
        name = "grain" if i % 3 else "money"
        k, relevant = desk.index[name], (name in document.labels) != (i % 11 == 0)
        topic, number = desk.topics[k], desk.ids[document.id]
        counted = _counted(
            topic.__class__(**{**vars(topic), "counts": topic.counts.copy()}),
            number, desk.kept[number], relevant, len(desk.lexicon), None,
        )  # fmt: skip
        expected = telling_words(counted, desk.lexicon, threshold, 60 - len(topic.words))
        desk.judge(document.id, name, relevant)
        assert desk.topics[k].words[len(topic.words) :].tolist() == expected.tolist()
        joined += len(expected)
        if i % 40 == 7:
            desk.judge(document.id, name, not relevant)
    assert joined
    # After the first, a judgement looks at the words of its document and few others: there are 200 rare ones and more.
    assert np.median(looked_at) < 60


def test_more_room_for_words_is_used(make, stream):
    """When a topic may have more words, those that had to stay outside are looked at again."""
    desk = make(word_threshold=1.0, start_words=10, most_words=10, least_words=0)
    list(simulate(desk, stream[:60]))
    assert [len(topic.words) for topic in desk.topics] == [10, 10]
    more = desk.copy(most_words=40)
    list(simulate(more, stream[60:]))
    assert all(len(topic.words) > 12 for topic in more.topics)
