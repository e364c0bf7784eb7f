"""Many topics with words of their own, scored in one reading of each document: weights, moments, probabilities, gains.

The arithmetic of a document and a topic is that of ``full.predict_deferred``, sum by sum, so that the results have
the same bits however documents and topics are put together (``stream/scoring.py`` has both ways; a test compares them).
"""

from __future__ import annotations

import math

import numpy as np

from textbayes.kernels._cache import njit
from textbayes.kernels.online.document import outcome

U = np.uint64  # unsigned indices spare numba's test for negative ones in the innermost loops
_BITS = 1.0 / math.log(2.0)
_SQRT_HALF = math.sqrt(0.5)


@njit(cache=True, nogil=True)
def _sort_by_column(columns, data):  # type: ignore[no-untyped-def]
    """Sort distinct columns in place, with their data: Shell's sort, which suits documents of usual lengths."""
    gap = len(columns)
    while gap > 1:
        gap = max(int(gap / 2.25), 1)
        for t in range(gap, len(columns)):
            column, value, s = columns[t], data[t], t
            while s >= gap and columns[s - gap] > column:
                columns[s], data[s] = columns[s - gap], data[s - gap]
                s -= gap
            columns[s], data[s] = column, value


@njit(cache=True, nogil=True)
def weigh_documents(indptr, terms, counts, start, stop, column_of, idf, term_weight, unit):  # type: ignore[no-untyped-def]
    """CSR arrays of the documents from ``start`` to ``stop``: term_weight[count]·idf, by column.

    With ``unit`` each is of length one. ``column_of`` gives the column of a term, −1 for none; words of weight 0 are
    left out. Sums are taken by column, so that they do not depend on which documents were counted together.
    """
    most = indptr[stop] - indptr[start]
    new_indptr = np.zeros(stop - start + 1, dtype=np.int64)
    columns, data = np.empty(most, dtype=np.int32), np.empty(most)
    n = 0
    for i in range(start, stop):
        begin = n
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            column = column_of[U(terms[t])]
            if column >= 0:
                weight = term_weight[U(counts[t])] * idf[U(column)]
                if weight != 0.0:
                    columns[n], data[n] = column, weight
                    n += 1
        _sort_by_column(columns[begin:n], data[begin:n])
        if unit:
            square = 0.0
            for t in range(begin, n):
                square += data[t] * data[t]
            length = math.sqrt(square)
            for t in range(begin, n):
                data[t] /= length
        new_indptr[i - start + 1] = n
    return new_indptr, columns[:n], data[:n]


@njit(cache=True)  # so short that waiting for the interpreter's lock again would take longer
def keep_document(terms, counts, start, stop, column_of, columns, values):  # type: ignore[no-untyped-def]
    """Fill in the columns, ascending, and counts of the terms from ``start`` to ``stop``; how many have no column.

    Those come last: the terms themselves in place of columns, and their counts.
    """
    n, end = 0, stop - start
    for t in range(start, stop):
        column = column_of[terms[t]]
        if column >= 0:
            columns[n], values[n] = column, counts[t]
            n += 1
        else:
            end -= 1
            columns[end], values[end] = terms[t], counts[t]
    _sort_by_column(columns[:n], values[:n])
    return len(columns) - n


@njit(cache=True, nogil=True)
def holders(indptr, terms, n_terms):  # type: ignore[no-untyped-def]
    """Which documents have each term, as CSR arrays over the terms."""
    starts = np.zeros(n_terms + 1, dtype=np.int64)
    for t in range(len(terms)):
        starts[terms[t] + 1] += 1
    for j in range(n_terms):
        starts[j + 1] += starts[j]
    at, documents = starts[:-1].copy(), np.empty(len(terms), dtype=np.int32)
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            documents[at[terms[t]]] = i
            at[terms[t]] += 1
    return starts, documents


@njit(cache=True, nogil=True)
def newest_columns(indptr, terms, column_of):  # type: ignore[no-untyped-def]
    """The last column that a word of each document has, −1 where none has one."""
    newest = np.full(len(indptr) - 1, -1, dtype=np.int64)
    for i in range(len(indptr) - 1):
        for t in range(indptr[i], indptr[i + 1]):
            newest[i] = max(newest[i], column_of[terms[t]])
    return newest


@njit(cache=True)
def _comes_before(text, cuts, one, other):  # type: ignore[no-untyped-def]
    """Whether a term stands before another in the order of their bytes, which is that of their characters too."""
    a, b = U(cuts[one]), U(cuts[other])
    a_end, b_end = U(cuts[one + 1]), U(cuts[other + 1])
    while a < a_end and b < b_end:
        if text[a] != text[b]:
            return text[a] < text[b]
        a, b = a + U(1), b + U(1)
    return b < b_end


@njit(cache=True)
def join_terms(new, counts, text, cuts, first, starts, documents, column_of, newest):  # type: ignore[no-untyped-def]
    """Sort terms, with their counts, give them the columns from ``first`` on, and note the documents that have them."""
    gap = len(new)
    while gap > 1:  # Shell's sort: a document has a few new terms as a rule, and may have thousands
        gap = max(int(gap / 2.25), 1)
        for t in range(gap, len(new)):
            term, count, s = new[t], counts[t], t
            while s >= gap and _comes_before(text, cuts, term, new[s - gap]):
                new[s], counts[s] = new[s - gap], counts[s - gap]
                s -= gap
            new[s], counts[s] = term, count
    for j in range(len(new)):
        column_of[new[j]] = first + j
        for t in range(starts[new[j]], starts[new[j] + 1]):
            newest[documents[t]] = max(newest[documents[t]], first + j)


@njit(cache=True, nogil=True)
def predict_topics(  # type: ignore[no-untyped-def]
    indptr, columns, data, place, size, mean_at, means, cov_at, covs, n_waiting, waiting_at, directions, removed
):
    """Mean and variance of the linear predictors, (n_docs, n_topics); Σ over topics of O(its non-zeros²/2) a document.

    The words of each topic are found document by document, in one reading; then topic by topic, so that a covariance
    serves all documents while it is in the cache.

    Parameters: ``place`` (n_columns, n_topics), the position of a column among a topic's weights, below 1 for none;
    topic k has ``size[k]`` weights, their means from ``means[mean_at[k]]`` on, their covariance from
    ``covs[cov_at[k]]`` on, row by row; less ``n_waiting[k]`` directions times ``removed[k]`` (see ``full``),
    which are columns from row ``waiting_at[k]`` of ``directions`` on: what a word needs of them stands together.
    """
    n_docs, n_topics = len(indptr) - 1, len(size)
    ends = np.zeros((n_topics, n_docs), dtype=np.int64)  # where the words of a document for a topic end
    for i in range(n_docs):
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            row = place[U(columns[t])]
            for k in range(n_topics):
                ends[k, i] += row[k] > 0
    n = 0
    for k in range(n_topics):
        for i in range(n_docs):
            found = ends[k, i]
            ends[k, i] = n
            n += found
    own, values = np.empty(n, dtype=np.int32), np.empty(n)
    for i in range(n_docs):
        for t in range(U(indptr[i]), U(indptr[i + 1])):
            row = place[U(columns[t])]
            for k in range(n_topics):
                if row[k] > 0:
                    at = U(ends[k, i])
                    own[at], values[at] = row[k], data[t]
                    ends[k, i] += 1
    center, spread = np.empty((n_docs, n_topics)), np.empty((n_docs, n_topics))
    along = np.empty(removed.shape[1])
    start = U(0)
    for k in range(n_topics):
        mean, base, d = U(mean_at[k]), U(cov_at[k]), U(size[k])
        for i in range(n_docs):
            stop = U(ends[k, i])
            m, v = means[mean], covs[base]
            for s in range(start, stop):
                a, x = U(own[s]), values[s]
                row_at = base + a * d
                m += x * means[mean + a]
                half = covs[row_at] + 0.5 * x * covs[row_at + a]
                for t in range(start, s):
                    half += values[t] * covs[row_at + U(own[t])]
                v += 2.0 * x * half
            n_along = U(n_waiting[k])
            first = U(waiting_at[k])
            for w in range(n_along):
                along[w] = directions[first, w]
            for s in range(start, stop):
                x, row = values[s], directions[first + U(own[s])]
                for w in range(n_along):
                    along[w] += x * row[w]
            for w in range(n_along):
                v -= removed[k, w] * along[w] * along[w]
            center[i, k], spread[i, k] = m, max(v, 0.0)
            start = stop
    return center, spread


@njit(cache=True, nogil=True)
def strongest_parts(columns, data, place, mean, chosen, found):  # type: ignore[no-untyped-def]
    """Fill in the words of a document with the largest |value · mean weight|, of equals the first; how many they are.

    ``chosen`` and ``found`` have room for so many columns and parts.
    """
    n, n_chosen, last, last_at = len(columns), 0, np.inf, -1
    while n_chosen < len(chosen):
        best, most = -1, 0.0
        for t in range(n):
            a = place[columns[t]]
            if a > 0:
                size = abs(data[t] * mean[a])
                # Those before are passed over: larger ones, and of equals the earlier.
                if size > most and (size < last or (size == last and t > last_at)):
                    best, most = t, size
        if best < 0:
            break
        chosen[n_chosen], found[n_chosen] = columns[best], data[best] * mean[place[columns[best]]]
        last, last_at = most, best
        n_chosen += 1
    return n_chosen


@njit(cache=True, nogil=True)
def expected_paper_gain(mean, var, rate):  # type: ignore[no-untyped-def]
    """Σ_y Z_y IG(y) in bits and Z of y = +1 at a hard threshold with flips, rate > 0; (n_docs, n_topics) in and out.

    IG(y) = log₂ κ + Φ(y·mean'/sd')·log₂((1 − κ)/κ) − log₂ Z_y, mean' and sd' after learning y (Chai, Ng & Chieu 2002,
    § 4.2).
    """
    log_rate, log_odds = math.log(rate), math.log1p(-rate) - math.log(rate)
    gain, proba = np.empty(mean.shape), np.empty(mean.shape)
    for k in range(mean.shape[1]):
        last_m, last_v, last_gain, last_proba = np.nan, np.nan, 0.0, 0.0
        for i in range(mean.shape[0]):
            m, v, total, z = mean[i, k], var[i, k], 0.0, 0.0
            if m == last_m and v == last_v:  # documents without a word of the topic, as most are
                gain[i, k], proba[i, k] = last_gain, last_proba
                continue
            for y in (-1.0, 1.0):
                log_z, first, second = outcome(m, v, y, 0.0, rate)
                z = math.exp(log_z)
                if v > 0.0:
                    left = v * (1.0 + second * v)
                    u = y * (m + v * first) / math.sqrt(left)
                    total += z * (log_rate + 0.5 * math.erfc(-u * _SQRT_HALF) * log_odds - log_z)
            gain[i, k], proba[i, k] = total * _BITS, z
            last_m, last_v, last_gain, last_proba = m, v, gain[i, k], z
    return gain, proba
