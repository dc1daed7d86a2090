# SPDX-License-Identifier: Apache-2.0
"""A worker: leases jobs, runs handlers in threads, keeps the leases and reports how the runs ended."""
from __future__ import annotations

import email.utils
import inspect
import logging
import os
import queue
import random
import re
import signal
import socket
import threading
import time
import traceback
import urllib.error
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .client import Client, Problem, interrupt, pause, request

log = logging.getLogger("reprise")

Handler = Callable[["Run"], Any]

LEASES_PER_REQUEST = 100
REPORTS_PER_REQUEST = 1000
REPORT_CHARS = 4_000_000
# One line and one character more than the server keeps, so that it can say that something is missing.
LOG_LINES = 1001
LOG_LENGTH = 4001
LOG_CHARS = 64 * 1024
SECONDS_AFTER_STOP = 2.0
MAX_TYPES = 32
MAX_CAUSES = 16
LONGEST_RETRY_AFTER = 36_500 * 86_400.0
UNIT = re.compile(r"[A-Za-z0-9_.:/@-]{1,100}")


class JobError(Exception):
    """A failure of which the handler knows more than a message.

    ``permanent`` ends the job without another attempt. ``retry_after`` is the least time in seconds before the next
    one. Code and HTTP status are what rules of a policy look at. ``failure_class`` (TRANSIENT, THROTTLED,
    DEPENDENCY_DOWN or PERMANENT) leaves nothing to the rules.
    """

    def __init__(
        self,
        message: str,
        *,
        code: Optional[str] = None,
        http_status: Optional[int] = None,
        retry_after: Optional[float] = None,
        permanent: bool = False,
        failure_class: Optional[str] = None,
    ):
        super().__init__(message)
        self.code, self.http_status, self.retry_after, self.permanent = code, http_status, retry_after, permanent
        self.failure_class = failure_class


class Snooze(Exception):
    """Raised by a handler: call me again after so many seconds. No attempt is spent."""

    def __init__(self, seconds: float):
        super().__init__(f"snooze for {seconds} s")
        self.seconds = seconds


class Cancel(Exception):
    """Raised by a handler: the job is no longer wanted. It ends as CANCELLED, with this reason."""

    def __init__(self, reason: str = ""):
        super().__init__(reason)
        self.reason = reason


class StepFailed(Exception):
    """A step or an event of this name failed for good: see ``failure``. A handler may catch it and undo earlier steps."""

    def __init__(self, name: str, failure: Dict[str, Any]):
        super().__init__(f"step {name} failed as {failure.get('reason')}: {failure.get('message')}")
        self.name, self.failure = name, failure


class JoinFailed(StepFailed):
    """A job of a join is a dead letter or was cancelled. Retry that job and then this one, and the join goes on."""

    permanent = True


class Suspended(BaseException):
    """Leaves a handler whose run has ended in a step, a sleep or a wait. Not an Exception, so that handlers let it pass."""


def _place() -> str:
    """Where the handler called, for messages."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return "an unknown place" if frame is None else f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


class Run:
    """One run of a job, as a handler sees it."""

    def __init__(self, lease: Dict[str, Any], length: float, client: Optional[Client] = None):
        job = lease["job"]
        self.job: Dict[str, Any] = job
        self.id: str = job["id"]
        self.type: str = job["type"]
        self.payload: Any = job.get("payload")
        self.attempt: int = lease["attempt"]
        self.fence: int = lease["fence"]
        """Grows with every lease of the job. Give it to the systems that you write to: they refuse a smaller one."""
        self.stop = threading.Event()
        """Set when the run must end: see stop_reason. A long handler looks at it now and then."""
        self.stop_reason: Optional[str] = None
        """'cancelled' by a person, 'lost' lease, or 'stopping' worker."""
        self._token: str = lease["token"]
        self._progress: Optional[Dict[str, Any]] = None
        self._kept_until = time.monotonic() + length
        self._beat_at = time.monotonic() + length / 3
        self._reported = False
        self._client = client
        self._suspended = False
        self._failed: Optional[Dict[str, Any]] = None
        self._cost: Dict[str, float] = {}
        self._known: Optional[Dict[str, Dict[str, Any]]] = None
        self._used: Dict[str, str] = {}
        self._inside: Optional[str] = None
        self._length = length
        self._lines: List[str] = []
        self._chars = 0
        self._sent = 0
        self._added = 0

    def step(
        self,
        name: str,
        work: Callable[[], Any],
        *,
        at_most_once: bool = False,
        retry: Any = None,
        resource: Optional[str] = None,
    ) -> Any:
        """Does the work once for the job and returns its result (any JSON). A result that is stored is returned again.

        If the work raises, the run ends, and the policy decides. ``retry`` is a policy, or the name of one; its fields
        come before those of the job. ``resource`` takes the blame. If no further attempt is worthwhile, the next run
        gets ``StepFailed`` here.

        ``at_most_once`` stores the start first. If a run finds a start without an end, the job becomes a dead letter
        with reason UNKNOWN_OUTCOME, and a person says how the step ended.
        """
        known = self._enter(name, "STEP")
        step: Dict[str, Any] = {"name": name}
        if retry is not None:
            step["policy"] = retry
        if resource is not None:
            step["resource"] = resource
        if known is not None and known["state"] in ("DONE", "FAILED"):
            return self._value(known)
        if known is not None and known["state"] == "STARTED":
            raise self._fails_in(step, JobError(f"step {name} has started, and nobody knows how it ended"))
        if at_most_once:
            self._post("step", {"name": name, "started": True})
        self._inside = name
        try:
            result = work()
        except (Suspended, Snooze, Cancel):
            raise
        except BaseException as error:  # Whatever the work raises is the step's affair.
            raise self._fails_in(step, error) from error
        finally:
            self._inside = None
        try:
            self._post("step", {"name": name} if result is None else {"name": name, "result": result})
        except (TypeError, ValueError) as unwritable:
            raise self._unstorable(step, unwritable) from unwritable
        except Problem as problem:
            if problem.status not in (400, 413):
                raise
            raise self._unstorable(step, problem) from problem
        return result

    def _unstorable(self, step: Dict[str, Any], error: Exception) -> Suspended:
        """The work is done, but its result cannot be stored: no other run repeats it."""
        refused = JobError(f"step {step['name']} has a result that cannot be stored: {error}", permanent=True)
        return self._fails_in(step, refused)

    def _fails_in(self, step: Dict[str, Any], error: BaseException) -> Suspended:
        self._failed = {**failure(error), "step": step}
        return Suspended(step["name"])

    def sleep(self, name: str, seconds: float) -> None:
        """Ends the run for so long, without an attempt. The next run goes on behind it."""
        self._enter(name, "SLEEP")
        self._pause("sleep", name, seconds)

    def wait_for(self, event: str, seconds: float) -> Any:
        """Ends the run until somebody tells the job the event, and returns the event in the next run."""
        known = self._enter(event, "EVENT")
        if known is None or known["state"] == "OPEN":
            self._pause("await", event, seconds)
            self._known = None
            known = self._steps()[event]
        return self._value(known)

    def join(self, name: str, jobs: Sequence[Mapping[str, Any]]) -> List[Any]:
        """Stores other jobs once, ends the run until all have ended, and returns their results in the next run.

        A job is a dict with type, payload and the options of ``Client.enqueue``. Jobs have no keys. If one is a dead letter
        or was cancelled, ``JoinFailed`` is raised.
        """
        self._enter(name, "JOIN")
        self._flush()
        answer = self._post("join", {"name": name, "jobs": [request(job) for job in jobs]})
        if answer["suspended"]:
            self._suspended = True
            raise Suspended(name)
        if answer["failure"] is not None:
            raise JoinFailed(name, {"reason": "PERMANENT", "message": answer["failure"]})
        return answer["results"]

    def add_to_batch(self, jobs: Sequence[Mapping[str, Any]]) -> List[str]:
        """Stores up to 1000 more members of the batch that this job is in, all or none, and returns their ids.

        The batch may be closed: while this job runs it cannot end. The jobs stay even if this run fails and is repeated.
        Give each an ``idempotency_key``, so that the next run adds no second one; without it, one is made up for this run.
        """
        bodies = []
        for job in jobs:
            self._added += 1
            bodies.append({"idempotencyKey": f"{self.id}/{self.fence}/{self._added}", **request(job)})
        return self._post("batch", {"jobs": bodies})["ids"] if bodies else []

    def log(self, line: str) -> None:
        """Adds a line to the log of this run, for people to see beside the job. Sent with heartbeats and at the end.

        A line is cut at 4,000 characters, and a run keeps 1,000 lines and 64 kB. What is beyond that is never sent:
        the server would refuse a request that is too large, and the lease would be lost.
        """
        if len(self._lines) < LOG_LINES and self._chars <= LOG_CHARS:
            text = _plain(line, LOG_LENGTH)
            self._chars += len(text) + 1
            self._lines.append(text)

    def _unsent(self) -> Optional[Dict[str, Any]]:
        """The lines that the server does not have, as a report takes them."""
        lines = self._lines[self._sent :]
        return {"from": self._sent, "lines": lines} if lines else None

    def _flush(self) -> None:
        """Sends the lines that the server does not have, because the run is about to end in a wait."""
        unsent = self._unsent()
        if unsent is not None:
            self._post("heartbeat", {"lease": _millis(self._length), "log": unsent})
            self._sent += len(unsent["lines"])

    def _enter(self, name: str, kind: str) -> Optional[Dict[str, Any]]:
        if self._suspended or self._failed is not None:
            raise Suspended(name)
        place = _place()
        if self._inside is not None:
            raise JobError(
                f"step {name} at {place} begins inside step {self._inside} at {self._used[self._inside]}:"
                " steps come one after another",
                permanent=True,
            )
        if name in self._used:
            raise JobError(
                f"step {name} at {place} was used in this run before, at {self._used[name]}:"
                " put the number into its name",
                permanent=True,
            )
        self._used[name] = place
        known = self._steps().get(name)
        if known is not None and known["kind"] != kind:
            raise JobError(
                f"step {name} at {place} is asked for as {kind}, but job {self.id} has stored it as {known['kind']}"
                f" at {known['at']}: give it another name",
                permanent=True,
            )
        return known

    def _steps(self) -> Dict[str, Dict[str, Any]]:
        if self._known is None:
            answer = self._server().call("GET", f"/v1/leases/{self._token}/steps")
            self._known = {step["name"]: step for step in answer["items"]}
        return self._known

    @staticmethod
    def _value(step: Dict[str, Any]) -> Any:
        if step["failure"] is not None:
            raise StepFailed(step["name"], step["failure"])
        return step["value"]

    def _pause(self, how: str, name: str, seconds: float) -> None:
        self._flush()
        if self._post(how, {"name": name, "duration": _millis(seconds)})["suspended"]:
            self._suspended = True
            raise Suspended(name)

    def _post(self, what: str, body: Dict[str, Any]) -> Any:
        return self._server().call("POST", f"/v1/leases/{self._token}/{what}", body)

    def _server(self) -> Client:
        if self._client is None:
            raise RuntimeError("this run has no server")
        return self._client

    def progress(self, percent: int, message: Optional[str] = None) -> None:
        """Shows how far it is. Sent with the next heartbeat."""
        text = None if message is None else _plain(message, 500)
        self._progress = {"percent": max(0, min(100, int(percent))), "message": text}

    def cost(self, amount: float, unit: str) -> None:
        """Adds to what the run cost, such as ``run.cost(0.25, "usd")``; up to 8 units. It is kept however the run ends."""
        if not (amount >= 0 and self._cost.get(unit, 0) + amount <= 1e12) or unit == "seconds" or not UNIT.fullmatch(unit):
            raise ValueError(f"a cost is 0 to 1e12 of a unit such as usd, but not seconds; it was {amount} {unit!r}")
        if unit not in self._cost and len(self._cost) == 8:
            raise ValueError(f"a run has at most 8 units of cost; {unit!r} is one too many")
        self._cost[unit] = self._cost.get(unit, 0) + amount

    def _end(self, reason: str) -> None:
        if self.stop_reason is None:
            self.stop_reason = reason
        self.stop.set()


class Worker:
    """Runs jobs until it is told to stop.

    ``handlers`` maps job types to functions that take a Run and return the result (any JSON), or raise. A worker holds
    at most ``concurrency`` jobs. ``lease`` is the time in seconds after which another worker gets a job of which the
    server hears nothing; a third of it passes between heartbeats.
    """

    def __init__(
        self,
        client: Client,
        handlers: Mapping[str, Handler],
        *,
        queues: Sequence[str] = (),
        offers: Sequence[str] = (),
        concurrency: int = 10,
        lease: float = 30.0,
        stop_grace: float = 20.0,
        wait: float = 20.0,
        name: Optional[str] = None,
    ):
        if not handlers:
            raise ValueError("a worker needs at least one handler")
        if concurrency < 1:
            raise ValueError(f"concurrency is {concurrency}; it must be at least 1")
        self.client = client
        self.handlers = dict(handlers)
        self.queues = list(queues)
        self.offers = list(offers)
        self.concurrency = concurrency
        self.lease = lease
        self.stop_grace = stop_grace
        self.wait = wait
        self.name = name or f"python-{socket.gethostname()}-{os.getpid()}-{random.randrange(1 << 16):04x}"
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._runs: Dict[str, Run] = {}
        self._ended: "queue.Queue[Optional[Dict[str, Any]]]" = queue.Queue()
        self._polling: Any = None

    def run(self, *, signals: bool = True) -> None:
        """Works until stop() is called or, in the main thread, until SIGTERM or SIGINT.

        Then it takes no more jobs, lets those that run finish for ``stop_grace`` seconds, and gives the rest back:
        they spend no attempt. Raises Problem if the server refuses the key or the request.
        """
        before = self._catch_signals() if signals else {}
        helpers = [threading.Thread(target=work, daemon=True) for work in (self._keep_leases, self._report_all)]
        for helper in helpers:
            helper.start()
        try:
            self._work()
        finally:
            self._stopping.set()
            self._finish()
            self._ended.put(None)
            for helper in helpers:
                helper.join()
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self) -> None:
        """Ends run() from another thread or a signal handler."""
        self._stopping.set()
        interrupt(self._polling)

    def _catch_signals(self) -> Dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}
        # In a thread: the signal may have interrupted this very thread while it held the lock that stop() needs.
        on_signal = lambda *_: threading.Thread(target=self.stop, daemon=True).start()  # noqa: E731
        return {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}

    def _work(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            free = self._await_slots()
            if free == 0:
                continue
            try:
                leases = self._take(free)
                failures = 0
            except Problem as problem:
                if not problem.may_pass:
                    raise
                self._stopping.wait(pause(failures, problem.retry_after))
                failures += 1
                continue
            except OSError as error:
                if not self._stopping.is_set():
                    log.info("The server does not answer: %s", error)
                self._stopping.wait(pause(failures))
                failures += 1
                continue
            for lease in leases:
                self._start(lease)

    def _await_slots(self) -> int:
        with self._changed:
            self._changed.wait_for(lambda: self._stopping.is_set() or len(self._runs) < self.concurrency, timeout=1.0)
            return 0 if self._stopping.is_set() else self.concurrency - len(self._runs)

    def _take(self, free: int) -> List[Dict[str, Any]]:
        wish: Dict[str, Any] = {
            "worker": self.name,
            "types": sorted(self.handlers),
            "max": min(free, LEASES_PER_REQUEST),
            "wait": f"{int(self.wait * 1000)}ms",
            "lease": f"{int(self.lease * 1000)}ms",
        }
        if self.queues:
            wish["queues"] = self.queues
        if self.offers:
            wish["offers"] = self.offers
        transport = self.client.transport
        connection = transport.connect(self.wait + self.client.timeout)
        connection.connect()
        self._polling = connection
        try:
            # A stop that came before the connection was known would not have ended the wait.
            if self._stopping.is_set():
                connection.close()
                return []
            return transport.send(connection, "POST", "/v1/leases", wish)["items"]
        finally:
            self._polling = None

    def _start(self, lease: Dict[str, Any]) -> None:
        run = Run(lease, self.lease, self.client)
        with self._changed:
            self._runs[run._token] = run
        if self._stopping.is_set():
            self._report(run, {"outcome": "release"})
        else:
            # A daemon: a handler that does not look at 'stop' must not keep the process alive.
            threading.Thread(target=self._handle, args=(run,), name=f"reprise-run-{run.id}", daemon=True).start()

    def _handle(self, run: Run) -> None:
        try:
            result = self.handlers[run.type](run)
            self._report(run, {"outcome": "complete", "result": result})
        except Suspended as suspended:
            self._report(run, {"outcome": "fail", "failure": failure(suspended)})
        except Snooze as snooze:
            self._report(run, {"outcome": "snooze", "delay": _millis(snooze.seconds)})
        except Cancel as cancel:
            self._report(run, {"outcome": "cancel", "reason": cancel.reason[:2_000]})
        except BaseException as error:  # Whatever a handler raises is the job's affair.
            if run.stop_reason == "stopping":
                self._report(run, {"outcome": "release"})
            else:
                self._report(run, {"outcome": "fail", "failure": failure(error)})

    def _report(self, run: Run, report: Dict[str, Any]) -> None:
        if run._suspended:
            # The run ended in a sleep or a wait, whatever its handler did afterwards.
            self._drop(run._token)
            return
        if run._failed is not None and run.stop_reason != "stopping":
            report = {"outcome": "fail", "failure": run._failed}
        if run._cost and report["outcome"] != "release":
            report = {**report, "cost": dict(run._cost)}
        with self._changed:
            if run._reported:
                return
            run._reported = True
        unsent = run._unsent() if report["outcome"] != "release" else None
        if unsent is not None:
            report = {**report, "log": unsent}
        self._ended.put({"token": run._token, **report})

    def _finish(self) -> None:
        """Waits for handlers, asks the rest to stop, and gives back what still runs."""
        if not self._await_none(self.stop_grace):
            for run in self._held():
                run._end("stopping")
            if not self._await_none(min(SECONDS_AFTER_STOP, self.stop_grace)):
                for run in self._held():
                    self._report(run, {"outcome": "release"})
                self._await_none(self.client.patience)

    def _await_none(self, seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._runs, timeout=seconds)

    def _held(self) -> List[Run]:
        with self._changed:
            return list(self._runs.values())

    def _drop(self, token: str) -> None:
        with self._changed:
            self._runs.pop(token, None)
            self._changed.notify_all()

    # Heartbeats

    def _keep_leases(self) -> None:
        while not self._stopping.is_set() or self._held():
            now = time.monotonic()
            held = self._held()
            for run in held:
                if run._kept_until < now:
                    run._end("lost")
            due = sorted((run for run in held if run._beat_at <= now), key=lambda run: run._beat_at)
            for run in due:
                if not self._beat(run):
                    break
            upcoming = min((run._beat_at for run in self._held()), default=now + 0.2)
            time.sleep(max(0.02, min(0.2, upcoming - time.monotonic())))

    def _beat(self, run: Run) -> bool:
        """Renews one lease. Returns whether the server answered."""
        sent, progress = time.monotonic(), run._progress
        body: Dict[str, Any] = {"lease": _millis(self.lease)}
        if progress is not None:
            body["progress"] = progress
        unsent = run._unsent()
        if unsent is not None:
            body["log"] = unsent
        try:
            connection = self.client.transport.connect(max(1.0, self.lease / 3))
            answer = self.client.transport.send(connection, "POST", f"/v1/leases/{run._token}/heartbeat", body)
        except Problem as problem:
            if problem.may_pass:
                run._beat_at = sent + pause(0, problem.retry_after)
                return False
            run._end("lost")
            run._beat_at = sent + self.lease / 3
            return True
        except OSError:
            run._beat_at = sent + min(1.0, self.lease / 10)
            return False
        run._kept_until, run._beat_at = sent + self.lease, sent + self.lease / 3
        if run._progress is progress:
            run._progress = None
        if unsent is not None:
            run._sent = max(run._sent, unsent["from"] + len(unsent["lines"]))
        if answer["cancelled"]:
            run._end("cancelled")
        return True

    # Reports

    def _report_all(self) -> None:
        waiting: List[Dict[str, Any]] = []
        while True:
            first = waiting.pop(0) if waiting else self._ended.get()
            if first is None:
                return
            batch, length = [first], _length(first)
            while len(batch) < REPORTS_PER_REQUEST and not self._ended.empty():
                report = self._ended.get()
                if report is None:
                    self._ended.put(None)
                    break
                length += _length(report)
                if length > REPORT_CHARS:
                    waiting.append(report)
                    break
                batch.append(report)
            self._send(batch)

    def _send(self, batch: List[Dict[str, Any]]) -> None:
        """Repeats a batch until it is answered: under one token an outcome counts once."""
        failures = 0
        gives_up = None
        while True:
            if self._stopping.is_set():
                gives_up = gives_up or time.monotonic() + self.client.patience
                if time.monotonic() > gives_up:
                    log.warning("%d outcomes could not be reported; the leases end by themselves", len(batch))
                    break
            try:
                transport = self.client.transport
                answer = transport.send(
                    transport.connect(self.client.timeout), "POST", "/v1/leases/report", {"reports": batch}
                )
                for item in answer["items"]:
                    if not item["accepted"]:
                        log.warning("Outcome refused, the lease was lost before: %s", (item["problem"] or {}).get("detail"))
                break
            except Problem as problem:
                if not problem.may_pass:
                    self._refused(batch, problem)
                    break
                time.sleep(pause(failures, problem.retry_after))
            except OSError:
                time.sleep(pause(failures))
            except (TypeError, ValueError) as unwritable:
                self._refused(batch, unwritable)
                break
            failures += 1
        for report in batch:
            self._drop(report["token"])

    def _refused(self, batch: List[Dict[str, Any]], problem: Exception) -> None:
        """One report that cannot be read spoils the batch: each is sent by itself, and the bad one as a failure.

        The job has done its work, so the failure is permanent: no other attempt repeats it.
        """
        if len(batch) > 1:
            for report in batch:
                self._send([report])
            return
        log.error("The server refused a report: %s", problem)
        if batch[0]["outcome"] != "release" and (batch[0].get("failure") or {}).get("type") != "UnreportableOutcome":
            refused = {"type": "UnreportableOutcome", "message": str(problem)[:1000], "permanent": True}
            self._send([{"token": batch[0]["token"], "outcome": "fail", "failure": refused}])


def failure(error: BaseException) -> Dict[str, Any]:
    """Describes an exception for the server, with what rules of a policy look at.

    As in Java, rules see the causes too (``raise ... from ...``): their types, and what the first that knows it says of
    code, HTTP status, Retry-After and class.
    """
    chain = _chain(error)
    report: Dict[str, Any] = {
        "types": _types(chain),
        "message": _plain(error, 20_000),
        "trace": "".join(traceback.format_exception(type(error), error, error.__traceback__))[-100_000:].replace("\0", " "),
    }
    for each in reversed(chain):
        details = _details(each)
        if "class" in details or "permanent" in details:
            report.pop("class", None)
            report.pop("permanent", None)
        report.update(details)
    if isinstance(error, StepFailed) and not isinstance(error, JoinFailed):
        report["step"] = {"name": error.name}
    return report


def _details(error: BaseException) -> Dict[str, Any]:
    """What one exception says of itself."""
    details: Dict[str, Any] = {}
    status = getattr(error, "http_status", None)
    after = getattr(error, "retry_after", None)
    if isinstance(error, urllib.error.HTTPError):
        status = error.code
        after = _seconds((error.headers or {}).get("Retry-After"))
    if isinstance(status, int) and 100 <= status <= 599:
        details["httpStatus"] = status
    if isinstance(after, (int, float)) and after > 0:
        details["retryAfter"] = _millis(min(after, LONGEST_RETRY_AFTER))
    if getattr(error, "permanent", False) is True:
        details["permanent"] = True
    given = getattr(error, "failure_class", None)
    if isinstance(given, str):
        details["class"] = given
    code = getattr(error, "code", None)
    if isinstance(code, str) and 0 < len(code) <= 200:
        details["code"] = code
    return details


def _chain(error: BaseException) -> List[BaseException]:
    """The exception and its causes, the outermost first."""
    chain: List[BaseException] = []
    at: Optional[BaseException] = error
    while at is not None and at not in chain and len(chain) < MAX_CAUSES:
        chain.append(at)
        at = at.__cause__
    return chain


def _plain(value: Any, most: int) -> str:
    """Text that the server takes: not too long, and without the null character. Else it would refuse the whole report."""
    return str(value)[:most].replace("\0", " ")


def _types(chain: List[BaseException]) -> List[str]:
    """The name of the exception's class, then those of its parents and its causes: rules match any, as ``except`` does."""
    names: List[str] = []
    for error in chain:
        for parent in type(error).__mro__:
            name = parent.__name__[:500]
            if issubclass(parent, BaseException) and parent is not BaseException and name not in names:
                names.append(name)
    return names[:MAX_TYPES]


def _seconds(text: Optional[str]) -> Optional[float]:
    """How long Retry-After asks to wait: it has a number of seconds, or a date."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError):
        return None


def _millis(seconds: float) -> str:
    return f"{max(1, int(seconds * 1000))}ms"


def _length(report: Dict[str, Any]) -> int:
    return len(str(report))
