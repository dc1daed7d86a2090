#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A whole remote worker for 'reprise serve', with nothing but Python's standard library.

    REPRISE_KEY=reprise_... python3 worker.py            # runs until Ctrl-C
    REPRISE_KEY=reprise_... python3 worker.py --count 3  # ends after three jobs

The key needs the scope 'work'. REPRISE_URL is http://127.0.0.1:8080 unless set. This shows what happens on the wire;
clients/python has the same as a library, with concurrency, batches of reports and a graceful stop.
"""
import json, os, socket, sys, threading, time, traceback, urllib.error, urllib.request

URL = os.environ.get("REPRISE_URL", "http://127.0.0.1:8080")
KEY = os.environ["REPRISE_KEY"]
NAME = f"python-{socket.gethostname()}-{os.getpid()}"
LEASE = float(os.environ.get("REPRISE_LEASE", "30"))  # seconds that the server waits for a heartbeat


class StaleLease(Exception):
    """409: the lease is gone. Another worker has the job, or the job has ended."""


def call(path, body):
    request = urllib.request.Request(
        URL + path, json.dumps(body).encode(),
        {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == 409:
            raise StaleLease(path) from None
        raise


def handle(job, stop):
    """Your code: returns a result, or raises. A long handler checks 'stop' now and then."""
    payload = job["payload"] or {}
    print("working on job", job["id"], payload, flush=True)
    if payload.get("fail"):
        raise ValueError("asked to fail")
    if stop.wait(payload.get("seconds", 0)):
        raise InterruptedError("stopped")
    return {"done": True}


# snippet:run
def heartbeats(token, ended, stop):
    """Renews the lease three times within its length, until the run has ended or must stop."""
    while not ended.wait(LEASE / 3):
        try:
            if call(f"/v1/leases/{token}/heartbeat", {"lease": f"{LEASE:.0f}s"})["cancelled"]:
                stop.set()
        except StaleLease:
            return stop.set()
        except OSError:
            pass  # the server is away for a moment: the next heartbeat may reach it


def run(lease):
    token, ended, stop = lease["token"], threading.Event(), threading.Event()
    beat = threading.Thread(target=heartbeats, args=(token, ended, stop), daemon=True)
    beat.start()
    try:
        outcome, body = "complete", {"result": handle(lease["job"], stop)}
    except Exception as error:
        outcome, body = "fail", {"type": type(error).__name__, "message": str(error), "trace": traceback.format_exc()}
    ended.set()
    beat.join()
    report(f"/v1/leases/{token}/{outcome}", body)


def report(path, body):
    """Repeats the report until it is answered: under one token it counts once."""
    while True:
        try:
            return call(path, body)
        except StaleLease:
            return print("too late, the lease is gone:", path, flush=True)
        except OSError as error:
            give_up_if_refused(error)
            time.sleep(1)


def give_up_if_refused(error):
    """A wrong key or a wrong request does not become right; 429 and 5xx may."""
    if isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code != 429:
        raise error


def main(count):
    wish = {"worker": NAME, "types": ["resize"], "max": 1, "wait": "20s", "lease": f"{LEASE:.0f}s"}
    while count != 0:
        try:
            for lease in call("/v1/leases", wish)["items"]:
                run(lease)
                count -= 1
        except OSError as error:
            give_up_if_refused(error)
            time.sleep(1)
# end


if __name__ == "__main__":
    main(int(sys.argv[2]) if sys.argv[1:2] == ["--count"] else -1)
