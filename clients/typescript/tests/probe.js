// SPDX-License-Identifier: Apache-2.0
// What the tests of the server run; the same words as clients/python/tests/probe.py.
import assert from "node:assert/strict";
import { Cancel, Client, InvalidSignature, JobError, Problem, Snooze, StepFailed, Worker, verify } from "../src/index.js";

const say = (...words) => console.log(...words);

/** Sleeps. Returns whether the run was told to end before. */
function stoppedWithin(run, seconds) {
  return new Promise((resolve) => {
    if (run.signal.aborted) {
      resolve(true);
      return;
    }
    const timer = setTimeout(() => resolve(false), seconds * 1000);
    run.signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Steps, a sleep and an event; it says what it really did. */
async function durable(run) {
  const doing = (name) => () => {
    say("did", run.id, name);
    return name.toUpperCase();
  };
  const first = await run.step("first", doing("first"));
  await run.sleep("nap", 10);
  const told = await run.waitFor("approval", 3_600_000);
  const last = await run.step("last", doing("last"), { atMostOnce: true });
  return { steps: [first, told, last] };
}

class Parent extends Error {}

class Child extends Parent {}

function part(value, queue) {
  const payload = value === "bad" ? { fail: "bad", permanent: true } : { value };
  return { type: "task", queue, payload };
}

/** A step that fails; the handler undoes it. */
async function failing(run, how) {
  const work = () => {
    say("did", run.id, "work");
    throw new JobError("the bank is closed");
  };
  try {
    await run.step("work", work, { atMostOnce: how === "once", retry: { maxAttempts: 2, backoff: "fixed", base: "10ms" } });
  } catch (error) {
    if (error instanceof StepFailed && how === "undo") {
      return run.step("undo", () => `undone after ${error.failure.reason}`);
    }
    if (error instanceof StepFailed) {
      throw error;
    }
    return "swallowed";
  }
}

async function task(run) {
  const wish = run.payload ?? {};
  say("ran", run.id, run.fence, run.attempt);
  if (wish.stubborn) {
    await new Promise((resolve) => setTimeout(resolve, wish.seconds * 1000).unref());
  } else if (await stoppedWithin(run, wish.seconds ?? 0)) {
    say("stopped", run.id, run.stopReason);
    throw new Error("stopped");
  }
  if (wish.steps) {
    return durable(run);
  }
  if (wish.join !== undefined) {
    run.log(`joins ${wish.join.length}`);
    const joined = await run.join("parts", wish.join.map((value) => part(value, run.job.queue)));
    run.log("joined");
    return { joined };
  }
  if (wish.add !== undefined) {
    const parts = wish.add.map((value) => part(value, run.job.queue));
    await run.addToBatch(parts.map((job, i) => ({ ...job, idempotencyKey: `${run.id} ${wish.add[i]}` })));
    return { added: await run.addToBatch(parts) };
  }
  if (wish.failing !== undefined) {
    return failing(run, wish.failing);
  }
  if (wish.percent !== undefined) {
    run.progress(wish.percent, "under way");
    await stoppedWithin(run, wish.thenSeconds);
  }
  if (wish.snooze !== undefined && run.job.snoozes === 0) {
    throw new Snooze(wish.snooze * 1000);
  }
  if (wish.usd !== undefined) {
    run.cost(wish.usd / 2, "usd");
    run.cost(wish.usd / 2, "usd");
  }
  if (wish.cancel !== undefined) {
    throw new Cancel(wish.cancel);
  }
  if (wish.fail === "kind") {
    throw new Child("a kind of Parent");
  }
  if (wish.fail !== undefined) {
    throw new JobError(wish.fail, {
      code: wish.code,
      httpStatus: wish.status,
      retryAfter: wish.retryAfter === undefined ? undefined : wish.retryAfter * 1000,
      permanent: wish.permanent,
    });
  }
  if (wish.unwritable) {
    return { n: 1n };
  }
  if (wish.huge) {
    return "x".repeat(2_000_000);
  }
  return { value: wish.value ?? null, fence: run.fence };
}

const env = (name, otherwise) => Number(process.env[name] ?? otherwise);

const commands = {
  async work() {
    const client = new Client({ patience: env("PATIENCE", 60) * 1000 });
    await new Worker(
      client,
      { task },
      {
        queues: [process.env.QUEUE],
        concurrency: env("CONCURRENCY", 8),
        lease: env("LEASE", 30) * 1000,
        stopGrace: env("GRACE", 20) * 1000,
        ...(process.env.NAME ? { name: process.env.NAME } : {}),
      },
    ).run();
    say("stopped in peace");
    process.exit(0);
  },

  async api() {
    const client = new Client({ patience: 20_000 });
    const options = { queue: "api", maxRetries: 2, delay: "1h", idempotencyKey: "node-1" };
    const first = await client.enqueue("quiet", { n: 1 }, options);
    const again = await client.enqueue("quiet", { n: 1 }, options);
    assert.equal(first.created, true);
    assert.equal(again.created, false);
    assert.equal(first.id, again.id);
    await assert.rejects(
      client.enqueue("quiet", { n: 2 }, { queue: "api", idempotencyKey: "node-1" }),
      (error) => error instanceof Problem && error.status === 422 && error.problem === "idempotency-key-reused",
    );
    const many = [0, 1, 2, 3, 4].map((n) => ({ type: "quiet", payload: { n }, queue: "api", delay: "1h" }));
    const ids = (await client.enqueueMany(many, { idempotencyKey: "node-many" })).map((each) => each.id);
    assert.equal(new Set(ids).size, 5);
    assert.deepEqual(
      (await client.enqueueMany(many, { idempotencyKey: "node-many" })).map((each) => each.id),
      ids,
    );
    assert.deepEqual(await client.enqueueMany([]), []);
    const job = await client.job(first.id);
    assert.deepEqual([job.state, job.maxRetries, job.queue, job.payload], ["PENDING", 2, "api", { n: 1 }]);
    await assert.rejects(client.wait(first.id, 200), { name: "TimeoutError" });
    assert.equal((await client.cancel(first.id, { why: "test" })).state, "CANCELLED");
    assert.equal((await client.wait(first.id)).state, "CANCELLED");
    await assert.rejects(client.job("123456789"), (error) => error.status === 404);
    await assert.rejects(client.enqueue("quiet", {}, { priority: 99 }), (error) => error.status === 400);
    say("ok");
  },

  async load(prefix, count) {
    const client = new Client({ patience: 180_000 });
    for (let n = 0; n < Number(count); n++) {
      await client.enqueue("task", { value: n }, { queue: process.env.QUEUE, idempotencyKey: `${prefix}-${n}` });
    }
    say("loaded");
  },

  async verify(secret) {
    let text = "";
    for await (const part of process.stdin) {
      text += part;
    }
    const given = JSON.parse(text);
    try {
      say("valid", verify(secret, given.headers, given.body).type);
    } catch (error) {
      assert.ok(error instanceof InvalidSignature, error);
      say("invalid", error.message);
    }
  },
};

const [command, ...words] = process.argv.slice(2);
await commands[command](...words);
