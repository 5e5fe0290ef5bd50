"""Many machines: pieces of work on a Ray cluster, which works again on a piece if its worker dies.

Ray is imported here alone, and only when a cluster is asked for.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from simtown.core import stopping
from simtown.core.extras import how_to_install
from simtown.core.pool import ClusterError, Pool
from simtown.core.processes import WorkerError, default_workers, environment, portable
from simtown.core.version import __version__

#: Seconds: for an address to answer, between looks for calls that have ended (so that Ctrl-C is noticed), and
#: for processes of a Ray that was shut down to let go of its files.
ANSWER, LOOK, LINGER = 5.0, 0.1, 10.0
#: Share of a card that a piece of work gets: as many of them draw or train on one as keep it busy.
CARD_SHARE = 0.25
ENGINES = ("local", "ray")
#: The folder from which simtown is imported.
_HOME = Path(__file__).resolve().parents[2]


class Cluster(Pool):
    """A connection to a Ray cluster, as a context manager; each piece of work is a task of one processor.

    The cluster is the one at `address`, or a new one of this machine's processors.

    Args:
        address: "HOST:PORT", "ray://HOST:PORT", "auto" (the cluster this machine belongs to); None starts one
            here.
        workers: pieces of work at once at most; None: as many as the cluster has processors.

    Raises:
        ClusterError: Ray is not installed, or nothing answers at the address.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address, self._most = address, workers
        self._files = contextlib.ExitStack()

    def __enter__(self) -> Cluster:
        with self._files:
            self._ray = self._connect()
            self._files = self._files.pop_all()  # kept until the end
        return self

    def _connect(self) -> Any:
        try:
            import ray
        except ImportError:
            raise ClusterError(f"a Ray cluster needs the package ray: {how_to_install('cluster')}") from None
        chosen: dict[str, Any] = {"address": self.address or "local"}
        if own := {name: value for name, value in os.environ.items() if name.startswith("SIMTOWN_")}:
            chosen["runtime_env"] = {"env_vars": own}  # such as the user's own kinds of vehicles
        if self.address is not None:
            _knock(self.address)
        else:
            chosen |= {"num_cpus": self._most or default_workers(), "include_dashboard": False}
            # where Ray keeps its files otherwise, everybody on the machine may write
            if "RAY_TMPDIR" not in os.environ:
                chosen["_temp_dir"] = self._files.enter_context(_directory())
        # there the driver runs on the cluster's machine, in that machine's directory
        if not chosen["address"].startswith("ray://"):
            chosen["job_config"] = ray.job_config.JobConfig()
            chosen["job_config"]._py_driver_sys_path = _Path()
        try:
            with stopping.restored(), contextlib.nullcontext() if self.address else _on_the_loopback(ray):
                ray.init(**chosen, logging_level="error", log_to_driver=False)
        except SystemExit:  # Ray's own answer to SIGTERM while it starts
            os.kill(os.getpid(), signal.SIGTERM)
            raise
        except KeyboardInterrupt:
            ray.shutdown()
            raise
        except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
            failed = f"no Ray cluster answers at {self.address or 'this machine'}: {_first(error)}"
            remedy = (
                "if the cluster asks for a token, set RAY_AUTH_MODE and the token here as on its machines"
            )
            other = "or use `address=auto` on one of them"
            raise ClusterError(f"{failed}; {remedy}, {other}") from error
        return ray

    def __exit__(self, *_: object) -> None:
        with self._files:
            self._ray.shutdown()

    @property
    def workers(self) -> int:  # type: ignore[override]
        """Pieces of work at once: processors of the cluster as it is now."""
        processors = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        return min(processors, self._most or processors)

    def _executor(self, shared: tuple[Any, ...], card: bool, retries: int) -> Executor:
        return _RayExecutor(self._ray, self, shared, card, retries)


class _RayExecutor(Executor):
    """Calls function(piece, report, *shared) as tasks of Ray, more than there are processors."""

    def __init__(self, ray: Any, cluster: Cluster, shared: tuple[Any, ...], card: bool, retries: int) -> None:
        self._ray, self._cluster, self._retries = ray, cluster, retries
        self._shared = [ray.put(argument) for argument in shared]
        needs = {"num_cpus": 1, "num_gpus": CARD_SHARE if card else 0}
        self._task = ray.remote(_work).options(**needs, max_retries=retries, retry_exceptions=False)
        self._left: dict[Any, tuple[Future[Any], Callable[[Any], object]]] = {}

    @property
    def room(self) -> int:
        """Calls in work or waiting at once at most."""
        return self._cluster._most or 2 * self._cluster.workers

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        """See :meth:`simtown.core.processes.LocalExecutor.submit`."""
        piece, report = arguments
        reference = self._task.remote(function, __version__, os.getcwd(), piece, *self._shared)
        future = Future[Any]()
        self._left[reference] = future, report
        return future

    def work(self) -> None:
        """Wait a moment for calls that end; their reports come with their results."""
        errors = self._ray.exceptions
        for reference in self._ray.wait([*self._left], timeout=LOOK)[0]:
            future, report = self._left.pop(reference)
            try:
                result, reports = self._ray.get(reference)
            except errors.RayTaskError as error:
                known = isinstance(error.cause, Exception)
                future.set_exception(error.cause if known else WorkerError(_first(error)))
            except errors.RayError as error:
                died = f"after its worker died {self._retries + 1} times ({type(error).__name__}"
                reason = f"Ray gave a task up {died}; is there too little memory?)"
                future.set_exception(WorkerError(f"{reason}: run the same command again to continue"))
            else:
                for content in reports:
                    report(content)
                future.set_result(result)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel what is left; nothing is written any more when this returns."""
        with contextlib.suppress(Exception):
            for reference in self._left:
                self._ray.cancel(reference, force=True)
            if self._left:
                self._ray.wait([*self._left], num_returns=len(self._left), timeout=ANSWER)


class _Path(list[str]):
    """The folders that Ray adds to its workers' path of modules."""

    def extend(self, folders: Iterable[str]) -> None:
        """Leave out the working directory, which Ray adds, unless simtown itself is imported from there."""
        super().extend(folder for folder in folders if os.path.realpath(folder) == str(_HOME))


@contextlib.contextmanager
def _directory() -> Iterator[str]:
    """A directory for Ray until the block ends, inside one that no other user can enter."""
    # the name is short: those of sockets in it may have 104 bytes
    own = tempfile.mkdtemp(prefix="simtown-ray-", dir="/tmp")
    try:
        yield os.path.join(own, "r")
    finally:
        gone = time.monotonic() + LINGER
        # processes of Ray that are about to end still write there
        while os.path.exists(own) and time.monotonic() < gone:
            shutil.rmtree(own, ignore_errors=True)
            time.sleep(0.01)


@contextlib.contextmanager
def _on_the_loopback(ray: Any) -> Iterator[None]:
    """A Ray that starts in the block listens on this machine's loopback alone, as it always does on macOS."""
    # Ray reads the variable when it is imported, which may have been before; its processes read it again
    constants = ray._private.ray_constants
    before = constants.ENABLE_RAY_CLUSTER
    with environment(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0"):
        constants.ENABLE_RAY_CLUSTER = False
        try:
            yield
        finally:
            constants.ENABLE_RAY_CLUSTER = before


def _work(
    function: Callable[..., Any], version: str, home: str, piece: Any, *shared: Any
) -> tuple[Any, list[Any]]:
    """On a machine of the cluster: the function's result, and all that it reported."""
    if __version__ != version:
        host = f"{socket.gethostname()} has simtown {__version__}"
        raise ClusterError(f"{host}, this machine has {version}: install the same version on both")
    if os.path.isdir(home):
        os.chdir(home)  # relative paths mean what they mean to the user
    reports: list[Any] = []
    try:
        return function(piece, reports.append, *shared), reports
    except Exception as error:
        raise portable(error) from None


def _knock(address: str) -> None:
    """Raises ClusterError unless something listens at the address: Ray itself would try for minutes."""
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise ClusterError(f"`address` {address} cannot be read: write HOST:PORT, ray://HOST:PORT, or auto")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER).close()
    except (OSError, OverflowError) as error:
        remedy = "start one with ray start --head, or give another `address`"
        raise ClusterError(f"no Ray cluster answers at {address} ({error}): {remedy}") from error


def _first(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
