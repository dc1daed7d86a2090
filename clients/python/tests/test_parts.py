# SPDX-License-Identifier: Apache-2.0
"""What needs no server. python3 -m unittest discover tests"""
import base64
import datetime
import email.utils
import hashlib
import hmac
import json
import pathlib
import sys
import unittest
import urllib.error

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from reprise import Client, InvalidSignature, JobError, verify  # noqa: E402
from reprise.client import Problem, pause  # noqa: E402
from reprise.worker import Run, Suspended, failure  # noqa: E402

KEY = b"0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(KEY).decode()


def signed(body, at=1000, key=KEY):
    mac = base64.b64encode(hmac.new(key, f"m1.{at}.{body}".encode(), hashlib.sha256).digest()).decode()
    return {"Webhook-Id": "m1", "Webhook-Timestamp": str(at), "Webhook-Signature": "v1,AAAA v1," + mac}


class Server:
    """Answers as the server does, and keeps what it was sent."""

    def __init__(self):
        self.sent = []
        self.stored = []
        self.refuses = None

    def call(self, method, path, body=None):
        if method == "GET":
            return {"items": self.stored}
        json.dumps(body, allow_nan=False)
        if self.refuses is not None and body.get("result") == self.refuses:
            raise Problem(400, {"type": "urn:reprise:problem:invalid-request", "detail": "it is too long"})
        self.sent.append((path.rsplit("/", 1)[1], body))
        return {"stored": True, "suspended": True, "ids": [str(n) for n in range(len((body or {}).get("jobs", [])))]}


def run_on(server):
    job = {"id": "7", "type": "task", "queue": "default"}
    return Run({"job": job, "attempt": 1, "fence": 3, "token": "t"}, 30.0, server)


class Parts(unittest.TestCase):
    def test_a_step_inside_a_step_is_refused_and_ends_the_run(self):
        server = Server()
        run = run_on(server)
        did = []
        with self.assertRaises(Suspended):
            run.step("outer", lambda: run.step("inner", lambda: did.append("inner")))
        self.assertRegex(
            run._failed["message"], r"step inner at test_parts.py:\d+ begins inside step outer at test_parts.py:\d+: "
        )
        self.assertTrue(run._failed["permanent"])
        with self.assertRaises(Suspended):
            run.step("next", lambda: did.append("next"))
        self.assertEqual((did, server.sent), ([], []))

    def test_a_name_is_used_once_in_a_run(self):
        run = run_on(Server())
        run.step("charge", lambda: 1)
        with self.assertRaisesRegex(JobError, r"step charge at test_parts.py:\d+ was used in this run before, at test_parts.py:\d+: "):
            run.step("charge", lambda: 2)

    def test_a_name_that_means_another_kind_now_is_refused(self):
        server = Server()
        server.stored = [{"name": "nap", "kind": "SLEEP", "state": "DONE", "at": "10:00", "value": None, "failure": None}]
        did = []
        with self.assertRaisesRegex(JobError, r"step nap at test_parts.py:\d+ is asked for as STEP, but job 7 has stored it as SLEEP at 10:00"):
            run_on(server).step("nap", lambda: did.append("nap"))
        self.assertEqual((did, server.sent), ([], []))

    def test_work_whose_result_cannot_be_stored_is_not_repeated(self):
        for result in ({1, 2}, "too long"):
            server = Server()
            server.refuses = "too long"
            run = run_on(server)
            with self.assertRaises(Suspended):
                run.step("charge", lambda: result)
            self.assertTrue(run._failed["permanent"])
            self.assertEqual(run._failed["step"], {"name": "charge"})
            self.assertIn("step charge has a result that cannot be stored: ", run._failed["message"])

    def test_jobs_for_the_batch_get_keys_so_that_a_repeated_request_adds_them_once(self):
        server = Server()
        run = run_on(server)
        self.assertEqual(run.add_to_batch([]), [])
        self.assertEqual(run.add_to_batch([{"type": "part"}, {"type": "part", "idempotencyKey": "own"}]), ["0", "1"])
        run.add_to_batch([{"type": "part"}])
        keys = [job["idempotencyKey"] for what, body in server.sent for job in body["jobs"]]
        self.assertEqual(keys, ["7/3/1", "own", "7/3/3"])

    def test_jobs_have_the_same_options_wherever_they_are_enqueued(self):
        server = Server()
        run = run_on(server)
        job = {"type": "part", "payload": 7, "max_retries": 2, "due_at": None, "idempotency_key": "own"}
        run.add_to_batch([job])
        self.assertEqual(server.sent[-1][1]["jobs"], [{"type": "part", "payload": 7, "maxRetries": 2, "idempotencyKey": "own"}])
        with self.assertRaises(Suspended):
            run.join("labels", [{"type": "label", "max_retries": 2}])
        self.assertEqual(server.sent[-1][1]["jobs"], [{"type": "label", "maxRetries": 2}])

    def test_pauses_grow_and_are_drawn_from_zero_to_the_bound(self):
        self.assertEqual([pause(n, chance=lambda: 1.0) for n in range(4)], [0.2, 0.4, 0.8, 1.6])
        self.assertEqual(pause(50, chance=lambda: 1.0), 10.0)
        self.assertEqual(pause(50, chance=lambda: 0.0), 0.0)
        self.assertEqual(pause(0, 7.0, chance=lambda: 1.0), 7.0)

    def test_a_right_signature_is_accepted_and_any_change_refused(self):
        body = json.dumps({"type": "job.failed"})
        self.assertEqual(verify(SECRET, signed(body), body, now=lambda: 1200), {"type": "job.failed"})
        self.assertEqual(verify(SECRET, signed(body), body.encode(), now=lambda: 1200)["type"], "job.failed")
        for headers, text, now in [
            (signed(body), body + " ", 1200),
            (signed(body, key=b"x" * 32), body, 1200),
            (signed(body), body, 1301),
            (signed(body), body, 699),
            ({**signed(body), "Webhook-Id": "m2"}, body, 1200),
            ({**signed(body), "Webhook-Timestamp": "soon"}, body, 1200),
            ({}, body, 1200),
        ]:
            with self.assertRaises(InvalidSignature):
                verify(SECRET, headers, text, now=lambda: now)
        for secret in ("whsec_?", "whsec_A", "whsec_", ""):
            with self.assertRaises(ValueError):
                verify(secret, signed(body, key=b""), body, now=lambda: 1200)

    def test_headers_that_nobody_sends_in_good_faith_are_refused_as_all_others(self):
        body = '{"type":"job.failed"}'
        for name, value in [
            ("Webhook-Timestamp", "9" * 400),
            ("Webhook-Timestamp", "1_000"),
            ("Webhook-Timestamp", "nan"),
            ("Webhook-Id", "\udcff"),
            ("Webhook-Signature", "v1,\udcff"),
            ("Webhook-Signature", None),
            ("Webhook-Signature", ""),
        ]:
            with self.assertRaises(InvalidSignature, msg=name):
                verify(SECRET, {**signed(body), name: value}, body, now=lambda: 1200)
        with self.assertRaises(InvalidSignature):
            verify(SECRET, signed(body), "\udcff", now=lambda: 1200)

    def test_what_the_server_would_refuse_is_not_sent(self):
        lease = {"token": "1-1", "attempt": 1, "fence": 1, "job": {"id": "1", "type": "task"}}
        run = Run(lease, 30.0)
        run.log("a\0b" + "x" * 30_000)
        self.assertEqual(run._unsent()["lines"][0][:3], "a b")
        for _ in range(2_000):
            run.log("y" * 4_000)
        lines = run._unsent()["lines"]
        self.assertGreater(sum(map(len, lines)), 64 * 1024)
        self.assertLess(sum(map(len, lines)), 80_000)
        run = Run(lease, 30.0)
        for _ in range(2_000):
            run.log("short")
        self.assertEqual(len(run._unsent()["lines"]), 1_001)
        run.progress(5, "c\0" + "z" * 5_000)
        self.assertEqual(len(run._progress["message"]), 500)
        told = failure(ValueError("embedded \0 character"))
        self.assertNotIn("\0", told["message"] + told["trace"])

    def test_a_failure_tells_what_rules_look_at(self):
        told = failure(JobError("no", code="card_declined", http_status=402, retry_after=1.5, permanent=True))
        wanted = {"code": "card_declined", "httpStatus": 402, "retryAfter": "1500ms", "permanent": True}
        self.assertEqual({name: told.get(name) for name in wanted}, wanted)
        refused = failure(ConnectionRefusedError("no"))
        self.assertEqual(refused["types"], ["ConnectionRefusedError", "ConnectionError", "OSError", "Exception"])
        self.assertEqual(failure(JobError("slow down", failure_class="THROTTLED"))["class"], "THROTTLED")
        http = failure(urllib.error.HTTPError("http://x", 503, "busy", {"Retry-After": "30"}, None))
        self.assertEqual((http["types"][0], http["httpStatus"], http["retryAfter"]), ("HTTPError", 503, "30000ms"))
        date = email.utils.format_datetime(datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2))
        dated = failure(urllib.error.HTTPError("http://x", 429, "slow down", {"Retry-After": date}, None))
        self.assertGreater(int(dated["retryAfter"][:-2]), 3_600_000)
        for odd in ("inf", "nan", "soon", "-5", "Wed, 99 Foo 2026 00:00:00 GMT"):
            told = failure(urllib.error.HTTPError("http://x", 503, "busy", {"Retry-After": odd}, None))
            self.assertEqual(told.get("retryAfter"), "3153600000000ms" if odd == "inf" else None, odd)

    def test_rules_see_the_causes_of_a_failure(self):
        def wrapped(cause, outer=None):
            try:
                raise outer or RuntimeError("cannot bill") from cause
            except RuntimeError as error:
                return failure(error)

        told = wrapped(urllib.error.HTTPError("http://x", 503, "busy", {"Retry-After": "30"}, None))
        self.assertEqual((told["httpStatus"], told["retryAfter"]), (503, "30000ms"))
        self.assertEqual(told["types"], ["RuntimeError", "Exception", "HTTPError", "URLError", "OSError"])
        declined = JobError("no", code="card_declined", permanent=True)
        told = wrapped(declined)
        self.assertEqual((told["message"], told["code"], told["permanent"]), ("cannot bill", "card_declined", True))
        outer = RuntimeError("it may pass")
        outer.failure_class = "TRANSIENT"
        told = wrapped(declined, outer)
        self.assertEqual((told["class"], told.get("permanent")), ("TRANSIENT", None))
        declined.__cause__ = declined
        self.assertEqual(wrapped(declined)["code"], "card_declined")

    def test_any_text_is_an_idempotency_key(self):
        sent = []

        class Told(Client):
            def call(self, method, path, body=None, headers=None, *, timeout=None):
                sent.append((headers, body))
                answer = {"id": "1", "created": True, "dueAt": None}
                return [answer] * len(body) if isinstance(body, list) else answer

        client = Told(key="reprise_a_b\n")
        client.enqueue("resize", idempotency_key="order 17")
        client.enqueue("resize", idempotency_key="Größe – 100 %")
        client.enqueue_many([{"type": "a", "idempotency_key": "one"}, {"type": "b", "idempotencyKey": "two"}])
        self.assertEqual([headers.get("Idempotency-Key") for headers, _ in sent], [
            "resize order 17", "resize Gr%C3%B6%C3%9Fe %E2%80%93 100 %25", None])
        self.assertEqual([job["idempotencyKey"] for job in sent[2][1]], ["one", "two"])
        with self.assertRaisesRegex(ValueError, "to every job"):
            client.enqueue_many([{"type": "a", "idempotency_key": "one"}, {"type": "b"}])
        with self.assertRaisesRegex(ValueError, "to every job"):
            client.enqueue_many([{"type": "a", "idempotency_key": "one"}], idempotency_key="all")
        self.assertNotIn("\n", client.transport._key)
        del sent[:]
        client.enqueue("resize", idempotency_key=" 17  ")
        client.enqueue_many([{"type": "a"}], idempotency_key=" 17  ")
        self.assertEqual([headers["Idempotency-Key"] for headers, _ in sent], ["resize  17%20%20", "%2017%20%20"])
        for request in (
            lambda: client.enqueue("resize", idempotency_key=""),
            lambda: client.enqueue_many([{"type": "a"}], idempotency_key=""),
            lambda: client.enqueue_many([{"type": "a", "idempotency_key": "one"}], idempotency_key=""),
        ):
            self.assertRaisesRegex(ValueError, "must not be empty", request)


if __name__ == "__main__":
    unittest.main()
