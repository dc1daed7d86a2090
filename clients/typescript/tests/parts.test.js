// SPDX-License-Identifier: Apache-2.0
// What needs no server: npm test
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { Problem, pause } from "../src/client.js";
import { Client, InvalidSignature, JobError, Suspended, verify } from "../src/index.js";
import { Run, failure } from "../src/worker.js";

const KEY = Buffer.from("0123456789abcdef0123456789abcdef");
const SECRET = `whsec_${KEY.toString("base64")}`;
const at = (seconds) => ({ now: () => seconds * 1000 });

function signed(body, sent = 1000, key = KEY) {
  const mac = createHmac("sha256", key).update(`m1.${sent}.${body}`).digest("base64");
  return { "Webhook-Id": "m1", "Webhook-Timestamp": String(sent), "Webhook-Signature": `v1,AAAA v1,${mac}` };
}

test("pauses grow and are drawn from zero to the bound", () => {
  assert.deepEqual([0, 1, 2, 3].map((n) => pause(n, undefined, () => 1)), [200, 400, 800, 1600]);
  assert.equal(pause(50, undefined, () => 1), 10_000);
  assert.equal(pause(50, undefined, () => 0), 0);
  assert.equal(pause(0, 7_000, () => 1), 7_000);
});

test("a right signature is accepted and any change refused", () => {
  const body = JSON.stringify({ type: "job.failed" });
  assert.deepEqual(verify(SECRET, signed(body), body, at(1200)), { type: "job.failed" });
  assert.equal(verify(SECRET, new Headers(signed(body)), Buffer.from(body), at(1200)).type, "job.failed");
  const wrong = [
    [signed(body), `${body} `, 1200],
    [signed(body, 1000, Buffer.alloc(32, "x")), body, 1200],
    [signed(body), body, 1301],
    [signed(body), body, 699],
    [{ ...signed(body), "Webhook-Id": "m2" }, body, 1200],
    [{ ...signed(body), "Webhook-Timestamp": "soon" }, body, 1200],
    [{}, body, 1200],
  ];
  for (const [headers, text, now] of wrong) {
    assert.throws(() => verify(SECRET, headers, text, at(now)), InvalidSignature);
  }
  for (const secret of ["whsec_?", "whsec_A", "whsec_", "", undefined, 7]) {
    const anybody = signed(body, 1000, Buffer.alloc(0));
    assert.throws(() => verify(secret, anybody, body, at(1200)), { name: "TypeError", message: /secret is not whsec_/ });
  }
});

test("a body is text or bytes as they arrived", () => {
  const body = JSON.stringify({ type: "job.failed" });
  const bytes = new TextEncoder().encode(body);
  for (const each of [body, bytes, bytes.buffer, Buffer.from(body), new DataView(bytes.buffer)]) {
    assert.equal(verify(SECRET, signed(body), each, at(1200)).type, "job.failed");
  }
  for (const each of [{ type: "job.failed" }, undefined, null, 7]) {
    assert.throws(() => verify(SECRET, signed(body), each, at(1200)), { name: "TypeError", message: /as it arrived/ });
  }
});

test("what the server would refuse is not sent", () => {
  const lease = { token: "1-1", attempt: 1, fence: 1, job: { id: "1", type: "task" } };
  const size = (lines) => lines.reduce((sum, line) => sum + line.length, 0);
  const long = new Run(lease, 30_000);
  long.log("a\0b" + "x".repeat(30_000));
  assert.equal(long._unsent().lines[0].slice(0, 3), "a b");
  for (let n = 0; n < 2_000; n++) {
    long.log("y".repeat(4_000));
  }
  assert.ok(size(long._unsent().lines) > 64 * 1024);
  assert.ok(size(long._unsent().lines) < 80_000);
  const short = new Run(lease, 30_000);
  for (let n = 0; n < 2_000; n++) {
    short.log("short");
  }
  assert.equal(short._unsent().lines.length, 1_001);
  short.progress(5, "c\0" + "z".repeat(5_000));
  assert.equal(short._progress.message.length, 500);
  const told = failure(new TypeError("embedded \0 character"));
  assert.ok(!(told.message + told.trace).includes("\0"));
});

test("a failure tells what rules look at", () => {
  const told = failure(
    new JobError("no", { code: "card_declined", httpStatus: 402, retryAfter: 1500, permanent: true }),
  );
  assert.deepEqual(told.types, ["JobError", "Error"]);
  class Refused extends TypeError {}
  assert.deepEqual(failure(new Refused("no")).types, ["Refused", "TypeError", "Error"]);
  assert.equal(failure(new JobError("slow down", { failureClass: "THROTTLED" })).class, "THROTTLED");
  assert.deepEqual(
    [told.code, told.httpStatus, told.retryAfter, told.permanent],
    ["card_declined", 402, "1500ms", true],
  );
  assert.deepEqual(failure("text").types, ["string"]);
  assert.equal(failure(Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } })).code, "ECONNREFUSED");
});

test("rules see the causes of a failure, and the name of an error", () => {
  const busy = Object.assign(new Error("busy"), { status: 503, retryAfter: 30_000 });
  const told = failure(new TypeError("cannot bill", { cause: busy }));
  assert.deepEqual([told.message, told.httpStatus, told.retryAfter], ["cannot bill", 503, "30000ms"]);
  assert.deepEqual(told.types, ["TypeError", "Error"]);
  const declined = new JobError("no", { code: "card_declined", permanent: true });
  const wrapped = failure(new RangeError("cannot bill", { cause: declined }));
  assert.deepEqual(wrapped.types, ["RangeError", "Error", "JobError"]);
  assert.deepEqual([wrapped.code, wrapped.permanent], ["card_declined", true]);
  const again = failure(new JobError("it may pass", { failureClass: "TRANSIENT", cause: declined }));
  assert.deepEqual([again.class, again.permanent], ["TRANSIENT", undefined]);
  declined.cause = declined;
  assert.equal(failure(declined).code, "card_declined");
  assert.equal(failure(new DOMException("too slow", "TimeoutError")).types[0], "TimeoutError");
  assert.deepEqual(failure(undefined).types, ["undefined"]);
});

test("any text is an idempotency key", async () => {
  const sent = [];
  const client = new Client({ key: "reprise_a_b\n" });
  client.call = async (method, path, body, headers) => sent.push([headers, body]);
  await client.enqueue("resize", {}, { idempotencyKey: "order 17" });
  await client.enqueue("resize", {}, { idempotencyKey: "Größe – 100 %" });
  await client.enqueueMany([{ type: "a", idempotencyKey: "one" }, { type: "b", idempotencyKey: "two" }]);
  assert.deepEqual(
    sent.map(([headers]) => headers["Idempotency-Key"]),
    ["resize order 17", "resize Gr%C3%B6%C3%9Fe %E2%80%93 100 %25", undefined],
  );
  await assert.rejects(client.enqueueMany([{ type: "a", idempotencyKey: "one" }, { type: "b" }]), /to every job/);
  await assert.rejects(client.enqueueMany([{ type: "a", idempotencyKey: "one" }], { idempotencyKey: "all" }), /to every job/);
  sent.length = 0;
  await client.enqueue("resize", {}, { idempotencyKey: " 17  " });
  await client.enqueueMany([{ type: "a" }], { idempotencyKey: " 17  " });
  await client.enqueue("resize", {}, { idempotencyKey: null });
  assert.deepEqual(
    sent.map(([headers]) => headers["Idempotency-Key"]).slice(0, 2),
    ["resize  17%20%20", "%2017%20%20"],
  );
  assert.match(sent[2][0]["Idempotency-Key"], /^[0-9a-f-]{36}$/);
  await assert.rejects(client.enqueue("resize", {}, { idempotencyKey: "" }), /must not be empty/);
  await assert.rejects(client.enqueueMany([{ type: "a" }], { idempotencyKey: "" }), /must not be empty/);
});

test("a request that cannot be sent is not repeated", async () => {
  const client = new Client({ url: "http://127.0.0.1:9", key: "k", patience: 60_000 });
  await assert.rejects(client.call("POST", "/v1/jobs", {}, { "Idempotency-Key": "–" }), TypeError);
});

/** A run on a server that answers as the real one does, and keeps what it was sent. */
function runOn(sent, stored = []) {
  const call = async (method, path, body) => {
    if (method === "GET") {
      return { items: stored };
    }
    if (JSON.parse(JSON.stringify(body)).result === "too long") {
      throw new Problem(400, { type: "urn:reprise:problem:invalid-request", detail: "it is too long" });
    }
    sent.push([path.slice(path.lastIndexOf("/") + 1), body]);
    return { stored: true, ids: (body.jobs ?? []).map((_, n) => String(n)) };
  };
  const job = { id: "7", type: "task", queue: "default" };
  return new Run({ job, attempt: 1, fence: 3, token: "t" }, 30_000, { call });
}

test("a step inside a step is refused and ends the run", async () => {
  const sent = [];
  const did = [];
  const run = runOn(sent);
  await assert.rejects(run.step("outer", () => run.step("inner", () => did.push("inner"))), Suspended);
  assert.match(
    run._failed.message,
    /step inner at parts.test.js:\d+ begins inside step outer at parts.test.js:\d+: /,
  );
  assert.equal(run._failed.permanent, true);
  await assert.rejects(run.step("next", () => did.push("next")), Suspended);
  assert.deepEqual([did, sent], [[], []]);
});

test("a name that means another kind now is refused", async () => {
  const sent = [];
  const did = [];
  const run = runOn(sent, [{ name: "nap", kind: "SLEEP", state: "DONE", at: "10:00", value: null, failure: null }]);
  await assert.rejects(
    run.step("nap", () => did.push("nap")),
    /step nap at parts.test.js:\d+ is asked for as STEP, but job 7 has stored it as SLEEP at 10:00: /,
  );
  assert.deepEqual([did, sent], [[], []]);
});

test("work whose result cannot be stored is not repeated", async () => {
  for (const result of ["too long", 17n]) {
    const run = runOn([]);
    await assert.rejects(run.step("charge", () => result), Suspended);
    assert.equal(run._failed.permanent, true);
    assert.deepEqual(run._failed.step, { name: "charge" });
    assert.match(run._failed.message, /^step charge has a result that cannot be stored: /);
  }
});

test("a wait that fails is over, and the next step is no step inside it", async () => {
  const job = { id: "7", type: "task", queue: "default" };
  const call = async (method, path) => {
    if (method === "GET") {
      return { items: [] };
    }
    if (path.endsWith("/step")) {
      return { stored: true };
    }
    throw new Error("no answer");
  };
  const run = new Run({ job, attempt: 1, fence: 3, token: "t" }, 30_000, { call });
  await assert.rejects(run.sleep("nap", 1), /no answer/);
  await assert.rejects(run.waitFor("approval", 1), /no answer/);
  await assert.rejects(run.join("labels", [{ type: "label" }]), /no answer/);
  assert.equal(await run.step("next", () => 5), 5);
});

test("a name is used once in a run", async () => {
  const run = runOn([]);
  await run.step("charge", () => 1);
  await assert.rejects(run.step("charge", () => 2), /step charge at parts.test.js:\d+ was used in this run before, at parts.test.js:\d+: /);
});

test("jobs for the batch get keys, so that a repeated request adds them once", async () => {
  const sent = [];
  const run = runOn(sent);
  assert.deepEqual(await run.addToBatch([]), []);
  assert.deepEqual(await run.addToBatch([{ type: "part" }, { type: "part", idempotencyKey: "own" }]), ["0", "1"]);
  await run.addToBatch([{ type: "part" }]);
  const keys = sent.flatMap(([, body]) => body.jobs.map((job) => job.idempotencyKey));
  assert.deepEqual(keys, ["7/3/1", "own", "7/3/3"]);
});
