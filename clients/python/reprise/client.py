# SPDX-License-Identifier: Apache-2.0
"""Calls of the HTTP API, repeated until the server answers."""
from __future__ import annotations

import http.client
import json
import os
import random
import re
import socket
import ssl
import time
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Optional

Job = Dict[str, Any]
"""A job as the server shows it: id, type, state, attempts, retryCount, nextRetryAt, result and so on."""

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 10.0
LONGEST_WAIT = 30.0

_PLAIN = "".join(map(chr, range(ord(" "), ord("~") + 1))).replace("%", "")


class Problem(Exception):
    """The server refused the request. It is a problem document of RFC 9457."""

    def __init__(self, status: int, document: Dict[str, Any], retry_after: Optional[float] = None):
        self.status = status
        self.name = str(document.get("type", "")).replace("urn:reprise:problem:", "")
        self.errors: List[Dict[str, str]] = document.get("errors") or []
        self.retry_after = retry_after
        fields = "; ".join(f"{e.get('field', '')} {e.get('message', '')}".strip() for e in self.errors)
        super().__init__(f"{status} {self.name}: {document.get('detail') or document.get('title') or ''} {fields}".strip())

    @property
    def may_pass(self) -> bool:
        """Whether the same request can succeed later."""
        return self.status == 429 or self.status >= 500


class Unanswered(OSError):
    """The server did not answer in time. Whether it acted is unknown."""


class Enqueued(NamedTuple):
    id: str
    created: bool
    """False if the key led to a job that was there already."""
    due_at: Optional[str]


def pause(failures: int, retry_after: Optional[float] = None, chance: Callable[[], float] = random.random) -> float:
    """Seconds before the next try: exponential with full jitter, and never less than the server asked for."""
    drawn = chance() * min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(failures, 16))
    return max(retry_after or 0.0, drawn)


class Transport:
    """One HTTP request on a connection of its own. No call is repeated here."""

    def __init__(self, url: str, key: str, context: Optional[ssl.SSLContext] = None):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is not the URL of a server: write http://HOST:PORT or https://HOST")
        self._secure = parts.scheme == "https"
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._context = context or (ssl.create_default_context() if self._secure else None)
        self._key = key

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        if self._secure:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Any = None,
        headers: Optional[Dict[str, str]] = None,
    ) -> Any:
        """Returns the body of an answer with status 2xx. Raises Problem for any other, OSError without an answer."""
        all_headers = {"Authorization": "Bearer " + self._key, "Connection": "close", **(headers or {})}
        data = None
        if body is not None:
            data = json.dumps(body, allow_nan=False).encode()
            all_headers["Content-Type"] = "application/json"
        try:
            connection.request(method, self._prefix + path, data, all_headers)
            answer = connection.getresponse()
            text = answer.read()
        except http.client.HTTPException as error:
            raise Unanswered(f"{method} {path}: {error!r}") from error
        finally:
            connection.close()
        document = _json(text)
        if 200 <= answer.status < 300:
            return document
        raise Problem(
            answer.status, document if isinstance(document, dict) else {}, _seconds(answer.getheader("Retry-After"))
        )


def _json(text: bytes) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None


def _seconds(text: Optional[str]) -> Optional[float]:
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None


class Client:
    """A server and a key. Safe for threads.

    Every call is repeated with backoff and jitter until the server answers or ``patience`` seconds have passed.
    That is safe: an enqueue carries an idempotency key, and all other calls have the same effect twice as once.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        patience: float = 60.0,
        timeout: float = 30.0,
        ssl_context: Optional[ssl.SSLContext] = None,
    ):
        url = url or os.environ.get("REPRISE_URL", "http://127.0.0.1:8080")
        key = (key or os.environ.get("REPRISE_KEY", "")).strip()  # A key that was read from a file ends with a line.
        if not key:
            raise ValueError("no API key: pass key=… or set REPRISE_KEY")
        self.transport = Transport(url, key, ssl_context)
        self.patience = patience
        self.timeout = timeout

    def enqueue(
        self, type: str, payload: Any = None, *, idempotency_key: Optional[str] = None, **options: Any
    ) -> Enqueued:
        """Enqueues one job.

        Options are the fields of the API in snake or camel case: queue, priority, delay ("30s"), due_at, resource, group,
        needs, tags, version, key, key_rule, at_latest, timeout, policy, max_attempts, max_retries, and the jobs that follow
        it: then, when_dead. The same idempotency key with the same job returns the first job again; two types may use the
        same key. Without a key, one is made up for this call.
        """
        body = request({"type": type, "payload": payload, **options})
        own = f"{type} {idempotency_key}" if _is_given(idempotency_key) else None
        answer = self.call("POST", "/v1/jobs", body, _keyed(own))
        return _enqueued(answer)

    def enqueue_many(
        self, jobs: Iterable[Dict[str, Any]], *, idempotency_key: Optional[str] = None
    ) -> List[Enqueued]:
        """Enqueues up to 1000 jobs, all or none. Each is a dict with type, payload and the options of enqueue().

        The idempotency key is that of the whole call. Instead, every job may have an idempotency_key of its own.
        """
        bodies = [request(job) for job in jobs]
        if not bodies:
            return []
        own = [body for body in bodies if "idempotencyKey" in body]
        if own and (_is_given(idempotency_key) or len(own) < len(bodies)):
            raise ValueError("give an idempotency key to every job, to the call, or to none")
        answers = self.call("POST", "/v1/jobs", bodies, {} if own else _keyed(idempotency_key))
        return [_enqueued(answer) for answer in answers]

    def job(self, id: str) -> Job:
        """Returns a job with its history. Raises Problem with name 'not-found' if there is none."""
        return self.call("GET", "/v1/jobs/" + urllib.parse.quote(str(id), safe=""))

    def wait(self, id: str, timeout: float = 60.0) -> Job:
        """Waits until a job has ended and returns it: SUCCEEDED, FAILED or CANCELLED. Raises TimeoutError."""
        until = time.monotonic() + timeout
        while True:
            left = until - time.monotonic()
            wait = max(0.0, min(LONGEST_WAIT, left))
            path = f"/v1/jobs/{urllib.parse.quote(str(id), safe='')}/result?wait={int(wait * 1000)}ms"
            job = self.call("GET", path, timeout=wait + self.timeout)
            if job["state"] in ("SUCCEEDED", "FAILED", "CANCELLED"):
                return job
            if left <= 0:
                raise TimeoutError(f"job {id} is {job['state']} after {timeout} s")

    def retry(self, id: str, *, why: Optional[str] = None) -> Job:
        """Retries a dead letter now, or brings a waiting job forward."""
        return self.call("POST", f"/v1/jobs/{urllib.parse.quote(str(id), safe='')}/retry", {"why": why} if why else {})

    def cancel(self, id: str, *, why: Optional[str] = None) -> Job:
        """Cancels a job; its worker is told at the next heartbeat if it runs."""
        return self.call("POST", f"/v1/jobs/{urllib.parse.quote(str(id), safe='')}/cancel", {"why": why} if why else {})

    def tell(self, id: str, event: str, value: Any = None) -> bool:
        """Tells a live job an event. Returns False if it knew one of this name, or had waited too long."""
        body = {"name": event, "value": value}
        return self.call("POST", f"/v1/jobs/{urllib.parse.quote(str(id), safe='')}/events", body)["told"]

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Optional[Dict[str, str]] = None,
        *,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls any operation of the API, repeated as the class says."""
        until = time.monotonic() + self.patience
        failures = 0
        while True:
            try:
                return self.transport.send(self.transport.connect(timeout or self.timeout), method, path, body, headers)
            except Problem as problem:
                if not problem.may_pass:
                    raise
                error: Exception = problem
                wait = pause(failures, problem.retry_after)
            except OSError as trouble:
                error = trouble
                wait = pause(failures)
            failures += 1
            if time.monotonic() + wait >= until:
                if isinstance(error, Problem):
                    raise error
                raise Unanswered(f"no answer to {method} {path} within {self.patience} s: {error}") from error
            time.sleep(wait)


def interrupt(connection: Optional[http.client.HTTPConnection]) -> None:
    """Ends a request that another thread waits for."""
    sock = connection.sock if connection else None
    if sock is not None:
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def _is_given(key: Optional[str]) -> bool:
    """An empty key is refused: it comes from a variable that is not set, and all such jobs would be one, or none would be."""
    if key == "":
        raise ValueError("an idempotency key must not be empty")
    return key is not None


def _keyed(key: Optional[str]) -> Dict[str, str]:
    """The header with the key, or with one that is made up.

    A header is ASCII and has no spaces at its ends: of a key that is otherwise, UTF-8 and these spaces are percent-encoded.
    """
    text = str(key) if _is_given(key) else str(uuid.uuid4())
    if not all(" " <= letter <= "~" for letter in text) or text != text.strip():
        text = urllib.parse.quote(text, safe=_PLAIN)
        text = re.sub("^ +| +$", lambda spaces: "%20" * len(spaces[0]), text)
    return {"Idempotency-Key": text}


def request(job: Mapping[str, Any]) -> Dict[str, Any]:
    """A job as the API takes it, from a dict with type, payload and options in snake or camel case."""
    return {_camel(name): value for name, value in job.items() if value is not None}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _enqueued(answer: Dict[str, Any]) -> Enqueued:
    return Enqueued(answer["id"], answer["created"], answer.get("dueAt"))
