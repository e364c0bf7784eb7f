"""What every executor promises: order, sharing, reductions and kept results; errors and addresses in a sentence."""

from __future__ import annotations

import builtins
import os
import pickle
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from textbayes.core.errors import InputError, MissingExtraError
from textbayes.core.executor import Executor, executor_in_use, reduce_pairwise, spread, using
from textbayes.scale import make_executor


def test_every_executor_is_one(executor):
    assert isinstance(executor, Executor)


def test_results_come_in_the_order_of_the_items(executor):
    def slow_first(item):
        time.sleep(0.05 if item == 0 else 0.0)
        return item * item

    assert list(executor.map(slow_first, range(6))) == [0, 1, 4, 9, 16, 25]


def test_items_may_come_from_work_of_the_same_executor(executor):
    made = (2 * one for one in executor.map(lambda item: item + 1, [1, 2, 3]))
    assert list(executor.map(lambda item: -item, made)) == [-4, -6, -8]


def test_two_workers_are_two_processes(executors):
    for address in ("processes:2", "local:2"):
        executor = executors(address)
        assert executor.n_workers == 2

        def where(_):
            time.sleep(0.1)
            return os.getpid()

        found = set(executor.map(where, range(8)))
        assert len(found) == 2
        assert os.getpid() not in found


def test_what_is_shared_is_the_last_arguments(executor):
    array = np.arange(1000.0)
    found = list(executor.map(lambda item, left, right: left[item] + right, [3, 999], array, 0.5))
    assert found == [3.5, 999.5]


def test_what_is_shared_is_sent_once_to_each_worker(cluster, tmp_path):
    class Noted:
        """Notes who reads it from a message."""

        def __init__(self, path):
            self.path, self.large = path, np.zeros(200_000)

        def __setstate__(self, state):
            self.__dict__ = state
            with open(self.path, "a") as stream:
                stream.write(f"{os.getpid()}\n")

    shared = Noted(str(tmp_path / "arrivals"))
    workers, rounds = set(), 0
    while rounds < 2 or (len(workers) < 2 and rounds < 50):  # on a busy machine one may do all of a round
        workers |= set(cluster.map(lambda item, shared: (time.sleep(0.02), os.getpid())[1], range(8), shared))
        rounds += 1
    assert len(workers) == 2
    assert sorted(map(int, (tmp_path / "arrivals").read_text().split())) == sorted(workers)


def test_large_arrays_are_shared_and_may_be_worked_on(executor):
    rng = np.random.default_rng(0)
    array = rng.normal(size=(300, 1000))  # 2.4 MB: memory-mapped by joblib
    before = array.copy()

    def work(row, array):
        array[row] *= 2.0  # in a copy of the worker's own
        return float(array[row].sum())

    if executor.n_workers > 1:
        found = list(executor.map(work, [0, 299], array))
        np.testing.assert_allclose(found, 2.0 * before[[0, 299]].sum(axis=1))
        np.testing.assert_array_equal(array, before)


def test_a_reduction_adds_up_neighbours_first(executor):
    for n in (*range(1, 10), 19):
        items = list("abcdefghijklmnopqrs"[:n])
        found = executor.map_reduce(lambda item: item, lambda a, b: f"({a}{b})", items)
        assert found == reduce_pairwise(lambda a, b: f"({a}{b})", items)
    # Sums of floats depend on the order: it is that of the items, not of who is first.
    numbers = [1e16, 1.0, -1e16, 1.0]
    assert executor.map_reduce(float, lambda a, b: a + b, numbers) == (1e16 + 1.0) + (-1e16 + 1.0)


def test_kept_results_stand_for_themselves(executor):
    kept = executor.keep(lambda item, factor: np.full(3, item * factor), [1, 2, 3], 10.0)
    assert [float(one.sum()) for one in executor.map(lambda array: array, kept)] == [30.0, 60.0, 90.0]
    total = executor.map_reduce(
        lambda pair, power: pair[0] ** power + pair[1], np.add, list(zip(kept, [1, 2, 3], strict=True)), 2
    )
    np.testing.assert_array_equal(total, np.full(3, 100.0 + 400.0 + 900.0 + 6.0))


def test_an_error_of_a_worker_is_raised_here(executor):
    def refuse(item):
        if item == 2:
            raise InputError("two is not usable; pass three")
        return item

    with pytest.raises(InputError, match="two is not usable"):
        list(executor.map(refuse, range(4)))
    assert list(executor.map(lambda item: item, [7])) == [7]  # it goes on


def test_errors_travel_whole():
    error = MissingExtraError("dask", "scale", "this")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is MissingExtraError
    assert str(again) == str(error)


def test_a_killed_worker_changes_nothing_but_time(tmp_path):
    """Both what is shared and what is kept was on the worker that is killed, the only one."""
    with make_executor("local:1") as executor:
        kept = executor.keep(lambda item, factor: item * factor, [1.0, 2.0], np.array(10.0))
        shared = np.ones(200_000)
        first = list(executor.map(lambda item, more: float(item + more[0]), kept, shared))
        [worker] = executor.map(lambda _: os.getpid(), [0])
        os.kill(worker, signal.SIGKILL)
        assert list(executor.map(lambda item, more: float(item + more[0]), kept, shared)) == first == [11.0, 21.0]
        assert list(executor.map(lambda _: os.getpid(), [0])) != [worker]


def test_workers_of_its_own_cluster_are_not_profiled(cluster):
    import dask

    name = "distributed.worker.profile.enabled"
    assert dask.config.get(name) is True  # elsewhere in this process
    assert set(cluster.client.run(lambda: dask.config.get(name)).values()) == {False}


def test_spread_asks_the_executor_in_use(cluster):
    def where(_):
        return os.getpid(), executor_in_use() is None

    assert list(spread(where, [0])) == [(os.getpid(), True)]
    with using(cluster):
        [(process, alone)] = spread(where, [0])
        assert process != os.getpid()
        assert alone  # a worker spreads nothing itself
        with using(None):
            assert executor_in_use() is None
        assert executor_in_use() is cluster
    assert executor_in_use() is None


def test_without_an_executor_nothing_is_done_before_it_is_asked_for():
    done = []
    results = spread(done.append, [1, 2])
    assert done == []
    next(results)
    assert done == [1]


@pytest.mark.parametrize("address", ["", "local", "local:0", "local:two", "http://a:1", "tcp://nowhere", "tcp://a b:1"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(InputError, match=r"local:2 .* tcp://host:port"):
        make_executor(address)


def test_a_scheduler_that_does_not_answer_is_named_within_seconds(monkeypatch):
    distributed = pytest.importorskip("distributed")
    waits = []
    client = distributed.Client
    monkeypatch.setattr(
        distributed, "Client", lambda *given, **options: waits.append(options["timeout"]) or client(*given, **options)
    )
    monkeypatch.setattr("textbayes.scale.executor._PATIENCE", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(InputError, match=rf"no Dask scheduler answers at cluster='tcp://127\.0\.0\.1:{port}'; start"):
        make_executor(f"tcp://127.0.0.1:{port}")
    assert waits == [1], "Dask itself would wait for half a minute"


def test_a_scheduler_elsewhere_is_found_by_its_address(cluster):
    with make_executor(cluster.client.scheduler.address) as executor:
        assert executor.n_workers == 2
        assert list(executor.map(abs, [-3])) == [3]
    assert list(cluster.map(abs, [-4])) == [4]  # a guest leaves it running


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    real = builtins.__import__

    def without_dask(name, *rest):
        if name.split(".")[0] in ("dask", "distributed"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_dask)
    with pytest.raises(MissingExtraError, match=r"pip install 'textbayes\[scale\]'"):
        make_executor("local:2")


def test_importing_it_loads_no_cluster():
    code = "import sys, textbayes.scale; textbayes.scale.make_executor('serial'); print('distributed' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_killed_scheduler_is_told_in_a_sentence_alone(tmp_path):
    """No traceback and no log of Dask comes with it: nothing is written to the standard error at all."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    work = f"""
import time
from textbayes.core.errors import TextBayesError
from textbayes.scale import make_executor
try:
    with make_executor({address!r}) as executor:
        found = executor.map(time.sleep, [0.0, 600.0])
        next(found)
        print("at work", flush=True)
        next(found)
except TextBayesError as error:
    print(error)
"""
    dask, port = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"], address.rpartition(":")[2]
    started = [
        subprocess.Popen([*dask, "--host", "127.0.0.1", "--port", port], stderr=subprocess.DEVNULL, cwd=tmp_path)
    ]
    try:
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "2", "--no-dashboard"]
        started.append(subprocess.Popen([*worker, "--no-nanny"], stderr=subprocess.DEVNULL, cwd=tmp_path))
        asked = [sys.executable, "-c", work]
        started.append(subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        scheduler, _, client = started
        first = client.stdout.readline()
        scheduler.kill()
        said, logged = client.communicate(timeout=120)
        assert first == "at work\n", logged
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert said == "the connection to the cluster was lost; start it again and repeat the command\n"
    assert logged == ""
