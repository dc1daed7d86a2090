# SPDX-License-Identifier: Apache-2.0
"""What the tests of the server run: the client and the worker in a process of their own.

    probe.py api                enqueues, finds and awaits, and checks what it gets
    probe.py load PREFIX COUNT  enqueues so many jobs of type 'task', each under a key
    probe.py work               runs jobs of type 'task' until SIGTERM
    probe.py verify SECRET      checks {"headers": {...}, "body": "..."} from standard input
"""
import json
import logging
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from reprise import Cancel, Client, InvalidSignature, JobError, Problem, Snooze, StepFailed, Worker, verify  # noqa: E402

lock = threading.Lock()


def say(*words):
    with lock:
        print(*words, flush=True)


class Parent(Exception):
    pass


class Child(Parent):
    pass


def task(run):
    wish = run.payload or {}
    say("ran", run.id, run.fence, run.attempt)
    if wish.get("stubborn"):
        time.sleep(wish["seconds"])
    elif run.stop.wait(wish.get("seconds", 0)):
        say("stopped", run.id, run.stop_reason)
        raise InterruptedError("stopped")
    if wish.get("steps"):
        return durable(run)
    if "join" in wish:
        run.log(f"joins {len(wish['join'])}")
        joined = run.join("parts", [part(value, run.job["queue"]) for value in wish["join"]])
        run.log("joined")
        return {"joined": joined}
    if "add" in wish:
        run.add_to_batch([{**part(value, run.job["queue"]), "idempotencyKey": f"{run.id} {value}"} for value in wish["add"]])
        return {"added": run.add_to_batch([part(value, run.job["queue"]) for value in wish["add"]])}
    if "failing" in wish:
        return failing(run, wish["failing"])
    if "percent" in wish:
        run.progress(wish["percent"], "under way")
        run.stop.wait(wish["thenSeconds"])
    if "snooze" in wish and run.job["snoozes"] == 0:
        raise Snooze(wish["snooze"])
    if "usd" in wish:
        run.cost(wish["usd"] / 2, "usd")
        run.cost(wish["usd"] / 2, "usd")
    if "cancel" in wish:
        raise Cancel(wish["cancel"])
    if wish.get("fail") == "kind":
        raise Child("a kind of Parent")
    if "fail" in wish:
        raise JobError(
            wish["fail"],
            code=wish.get("code"),
            http_status=wish.get("status"),
            retry_after=wish.get("retryAfter"),
            permanent=wish.get("permanent", False),
        )
    if wish.get("unwritable"):
        return {1, 2}
    if wish.get("huge"):
        return "x" * 2_000_000
    return {"value": wish.get("value"), "fence": run.fence}


def part(value, queue):
    payload = {"fail": "bad", "permanent": True} if value == "bad" else {"value": value}
    return {"type": "task", "queue": queue, "payload": payload}


def durable(run):
    """Steps, a sleep and an event; it says what it really did."""

    def do(name):
        say("did", run.id, name)
        return name.upper()

    first = run.step("first", lambda: do("first"))
    run.sleep("nap", 0.01)
    try:
        told = run.wait_for("approval", 3600)
    except Exception:
        say("swallowed", run.id)
        raise
    last = run.step("last", lambda: do("last"), at_most_once=True)
    return {"steps": [first, told, last]}


def failing(run, how):
    """A step that fails; the handler tries to catch what it raises, and then undoes."""

    def work():
        say("did", run.id, "work")
        raise JobError("the bank is closed")

    try:
        run.step("work", work, at_most_once=how == "once", retry={"maxAttempts": 2, "backoff": "fixed", "base": "10ms"})
    except StepFailed as failed:
        if how == "undo":
            return run.step("undo", lambda: f"undone after {failed.failure['reason']}")
        raise
    except Exception:
        say("swallowed", run.id)


def work():
    Worker(
        Client(patience=float(os.environ.get("PATIENCE", "60"))),
        {"task": task},
        queues=[os.environ["QUEUE"]],
        concurrency=int(os.environ.get("CONCURRENCY", "8")),
        lease=float(os.environ.get("LEASE", "30")),
        stop_grace=float(os.environ.get("GRACE", "20")),
        name=os.environ.get("NAME"),
    ).run()
    say("stopped in peace")


def api():
    client = Client(patience=20)
    first = client.enqueue("quiet", {"n": 1}, queue="api", max_retries=2, delay="1h", idempotency_key="python-1")
    again = client.enqueue("quiet", {"n": 1}, queue="api", max_retries=2, delay="1h", idempotency_key="python-1")
    assert first.created and not again.created and first.id == again.id, (first, again)
    try:
        client.enqueue("quiet", {"n": 2}, queue="api", idempotency_key="python-1")
        raise AssertionError("another body under the same key is refused")
    except Problem as problem:
        assert (problem.status, problem.name) == (422, "idempotency-key-reused"), problem
    assert client.enqueue("other", {"n": 1}, queue="api", delay="1h", idempotency_key="python-1").id != first.id
    many = [{"type": "quiet", "payload": {"n": n}, "queue": "api", "delay": "1h"} for n in range(5)]
    ids = [each.id for each in client.enqueue_many(many, idempotency_key="python-many")]
    assert len(set(ids)) == 5
    assert ids == [each.id for each in client.enqueue_many(many, idempotency_key="python-many")]
    assert client.enqueue_many([]) == []
    job = client.job(first.id)
    assert (job["state"], job["maxRetries"], job["queue"], job["payload"]) == ("PENDING", 2, "api", {"n": 1}), job
    try:
        client.wait(first.id, timeout=0.2)
        raise AssertionError("it has not ended")
    except TimeoutError:
        pass
    assert client.cancel(first.id, why="test")["state"] == "CANCELLED"
    assert client.wait(first.id)["state"] == "CANCELLED"
    for call in (lambda: client.job("123456789"), lambda: client.enqueue("quiet", priority=99)):
        try:
            call()
            raise AssertionError("it is refused")
        except Problem as problem:
            assert problem.status in (404, 400), problem
    say("ok")


def load(prefix, count):
    client = Client(patience=180)
    for n in range(int(count)):
        client.enqueue("task", {"value": n}, queue=os.environ["QUEUE"], idempotency_key=f"{prefix}-{n}")
    say("loaded")


def check(secret):
    given = json.load(sys.stdin)
    try:
        say("valid", verify(secret, given["headers"], given["body"])["type"])
    except InvalidSignature as error:
        say("invalid", error)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    {"api": api, "load": load, "work": work, "verify": check}[sys.argv[1]](*sys.argv[2:])
