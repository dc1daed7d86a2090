// SPDX-License-Identifier: Apache-2.0
import { hostname } from "node:os";
import { Problem, Unanswered, pause, sleep } from "./client.js";

const LEASES_PER_REQUEST = 100;
const REPORTS_PER_REQUEST = 1000;
const REPORT_CHARS = 4_000_000;
const MILLIS_AFTER_STOP = 2_000;

export class JobError extends Error {
  constructor(message, { code, httpStatus, retryAfter, permanent = false, cause } = {}) {
    super(message, { cause });
    this.name = "JobError";
    this.code = code;
    this.httpStatus = httpStatus;
    this.retryAfter = retryAfter;
    this.permanent = permanent;
  }
}

export class Snooze extends Error {
  constructor(millis) {
    super(`snooze for ${millis} ms`);
    this.name = "Snooze";
    this.millis = millis;
  }
}

class Run {
  #stop = new AbortController();

  constructor(lease, length) {
    this.job = lease.job;
    this.id = lease.job.id;
    this.type = lease.job.type;
    this.payload = lease.job.payload;
    this.attempt = lease.attempt;
    this.fence = lease.fence;
    this.signal = this.#stop.signal;
    this.stopReason = undefined;
    this._token = lease.token;
    this._keptUntil = performance.now() + length;
    this._beatAt = performance.now() + length / 3;
    this._progress = undefined;
    this._reported = false;
  }

  progress(percent, message = null) {
    this._progress = { percent: Math.max(0, Math.min(100, Math.trunc(percent))), message };
  }

  _end(reason) {
    this.stopReason ??= reason;
    this.#stop.abort(new Error(reason));
  }
}

export class Worker {
  #client;
  #handlers;
  #options;
  #stop = new AbortController();
  #runs = new Map();
  #changed = [];
  #ended = [];
  #reporting = Promise.resolve();
  #isReporting = false;
  #isOver = false;

  constructor(client, handlers, options = {}) {
    if (Object.keys(handlers).length === 0) {
      throw new TypeError("a worker needs at least one handler");
    }
    this.#client = client;
    this.#handlers = new Map(Object.entries(handlers));
    this.#options = {
      queues: [],
      concurrency: 10,
      lease: 30_000,
      stopGrace: 20_000,
      wait: 20_000,
      name: `node-${hostname()}-${process.pid}-${Math.floor(Math.random() * 65536).toString(16)}`,
      log: (line) => console.error(line),
      ...options,
    };
    if (!(this.#options.concurrency >= 1)) {
      throw new TypeError(`concurrency is ${this.#options.concurrency}; it must be at least 1`);
    }
  }

  async run({ signals = true } = {}) {
    const stop = () => this.stop();
    const caught = signals ? ["SIGTERM", "SIGINT"] : [];
    caught.forEach((name) => process.on(name, stop));
    const beats = this.#keepLeases();
    try {
      await this.#work();
    } finally {
      this.stop();
      await this.#finish();
      this.#isOver = true;
      await beats;
      await this.#reporting;
      caught.forEach((name) => process.off(name, stop));
    }
  }

  stop() {
    this.#stop.abort();
  }

  async #work() {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      const free = this.#options.concurrency - this.#runs.size;
      if (free <= 0) {
        await this.#change(1_000);
        continue;
      }
      try {
        const leases = await this.#take(free);
        failures = 0;
        leases.forEach((lease) => this.#start(lease));
      } catch (error) {
        if (!passes(error)) {
          throw error;
        }
        if (!this.#stop.signal.aborted && error instanceof Unanswered) {
          this.#options.log(`The server does not answer: ${error.message}`);
        }
        await sleep(pause(failures++, error.retryAfter), this.#stop.signal);
      }
    }
  }

  async #take(free) {
    const { name, queues, wait, lease } = this.#options;
    const wish = {
      worker: name,
      types: [...this.#handlers.keys()].sort(),
      max: Math.min(free, LEASES_PER_REQUEST),
      wait: duration(wait),
      lease: duration(lease),
      ...(queues.length > 0 ? { queues } : {}),
    };
    const timeout = wait + this.#client.timeout;
    const answer = await this.#client.send("POST", "/v1/leases", wish, { timeout, signal: this.#stop.signal });
    return answer.items;
  }

  #start(lease) {
    const run = new Run(lease, this.#options.lease);
    this.#runs.set(run._token, run);
    if (this.#stop.signal.aborted) {
      this.#report(run, { outcome: "release" });
    } else {
      void this.#handle(run);
    }
  }

  async #handle(run) {
    try {
      const result = await this.#handlers.get(run.type)(run);
      this.#report(run, { outcome: "complete", result: result ?? null });
    } catch (error) {
      if (error instanceof Snooze) {
        this.#report(run, { outcome: "snooze", delay: duration(error.millis) });
      } else if (run.stopReason === "stopping") {
        this.#report(run, { outcome: "release" });
      } else {
        this.#report(run, { outcome: "fail", failure: failure(error) });
      }
    }
  }

  #report(run, report) {
    if (!run._reported) {
      run._reported = true;
      this.#ended.push({ token: run._token, ...report });
      if (!this.#isReporting) {
        this.#isReporting = true;
        this.#reporting = this.#reportAll();
      }
    }
  }

  /** Waits for handlers, asks the rest to stop, and gives back what still runs. */
  async #finish() {
    const { stopGrace } = this.#options;
    if (!(await this.#none(stopGrace))) {
      this.#runs.forEach((run) => run._end("stopping"));
      if (!(await this.#none(Math.min(MILLIS_AFTER_STOP, stopGrace)))) {
        this.#runs.forEach((run) => this.#report(run, { outcome: "release" }));
        await this.#none(this.#client.patience);
      }
    }
  }

  async #none(millis) {
    const until = performance.now() + millis;
    while (this.#runs.size > 0 && performance.now() < until) {
      await this.#change(until - performance.now());
    }
    return this.#runs.size === 0;
  }

  /** Waits until a run was dropped, the worker stops, or the time is over. */
  async #change(millis) {
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#changed.push(wake);
    if (!this.#stop.signal.aborted) {
      this.#stop.signal.addEventListener("abort", wake);
    }
    await sleep(millis, woken.signal);
    this.#stop.signal.removeEventListener("abort", wake);
    this.#changed = this.#changed.filter((each) => each !== wake);
  }

  #drop(token) {
    this.#runs.delete(token);
    this.#changed.forEach((wake) => wake());
  }

  async #keepLeases() {
    while (!this.#isOver) {
      const now = performance.now();
      const due = [];
      for (const run of this.#runs.values()) {
        if (run._keptUntil < now) {
          run._end("lost");
        }
        if (run._beatAt <= now) {
          due.push(run);
        }
      }
      due.forEach((run) => (run._beatAt = Infinity));
      due.forEach((run) => void this.#beat(run));
      await sleep(Math.min(100, this.#options.lease / 10));
    }
  }

  async #beat(run) {
    const { lease } = this.#options;
    const sent = performance.now();
    const progress = run._progress;
    const body = { lease: duration(lease), ...(progress ? { progress } : {}) };
    try {
      const path = `/v1/leases/${encodeURIComponent(run._token)}/heartbeat`;
      const answer = await this.#client.send("POST", path, body, { timeout: Math.max(1_000, lease / 3) });
      run._keptUntil = sent + lease;
      run._beatAt = sent + lease / 3;
      if (run._progress === progress) {
        run._progress = undefined;
      }
      if (answer.cancelled) {
        run._end("cancelled");
      }
    } catch (error) {
      if (passes(error)) {
        run._beatAt = performance.now() + Math.max(Math.min(1_000, lease / 10), error.retryAfter ?? 0);
      } else {
        run._end("lost");
        run._beatAt = sent + lease / 3;
      }
    }
  }

  async #reportAll() {
    while (this.#ended.length > 0) {
      const batch = [];
      let length = 0;
      while (this.#ended.length > 0 && batch.length < REPORTS_PER_REQUEST) {
        length += lengthOf(this.#ended[0]);
        if (batch.length > 0 && length > REPORT_CHARS) {
          break;
        }
        batch.push(this.#ended.shift());
      }
      await this.#send(batch);
    }
    this.#isReporting = false;
  }

  /** Repeats a batch until it is answered: under one token an outcome counts once. */
  async #send(batch) {
    let givesUp;
    for (let failures = 0; ; failures++) {
      if (this.#stop.signal.aborted) {
        givesUp ??= performance.now() + this.#client.patience;
        if (performance.now() > givesUp) {
          this.#options.log(`${batch.length} outcomes could not be reported; the leases end by themselves`);
          break;
        }
      }
      try {
        const answer = await this.#client.send("POST", "/v1/leases/report", { reports: batch });
        answer.items
          .filter((item) => !item.accepted)
          .forEach((item) => this.#options.log(`Outcome refused, the lease was lost before: ${item.problem?.detail}`));
        break;
      } catch (error) {
        if (!passes(error)) {
          await this.#refused(batch, error);
          break;
        }
        await sleep(pause(failures, error.retryAfter));
      }
    }
    batch.forEach((report) => this.#drop(report.token));
  }

  /**
   * One report that cannot be read spoils the batch: each is sent by itself, and the bad one as a failure. The job has
   * done its work, so the failure is permanent: no other attempt repeats it.
   */
  async #refused(batch, problem) {
    if (batch.length > 1) {
      for (const report of batch) {
        await this.#send([report]);
      }
      return;
    }
    this.#options.log(`The server refused a report: ${problem.message}`);
    const [report] = batch;
    if (report.outcome !== "release" && report.failure?.type !== "UnreportableOutcome") {
      const refused = { type: "UnreportableOutcome", message: problem.message.slice(0, 1_000), permanent: true };
      await this.#send([{ token: report.token, outcome: "fail", failure: refused }]);
    }
  }
}

function passes(error) {
  return error instanceof Unanswered || (error instanceof Problem && error.mayPass);
}

/** Describes an error for the server, with what rules of a policy look at. */
export function failure(error) {
  const isError = error instanceof Error;
  const report = {
    type: (isError ? error.constructor?.name || error.name : typeof error).slice(0, 500) || "Error",
    message: String(isError ? error.message : error).slice(0, 20_000),
    trace: String((isError && error.stack) || error).slice(0, 100_000),
  };
  const status = error?.httpStatus ?? error?.status ?? error?.statusCode;
  if (Number.isInteger(status) && status >= 100 && status <= 599) {
    report.httpStatus = status;
  }
  if (Number.isFinite(error?.retryAfter) && error.retryAfter > 0) {
    report.retryAfter = duration(error.retryAfter);
  }
  if (error?.permanent === true) {
    report.permanent = true;
  }
  const code = error?.code ?? error?.cause?.code;
  if (typeof code === "string" && code.length > 0 && code.length <= 200) {
    report.code = code;
  }
  return report;
}

function duration(millis) {
  return `${Math.max(1, Math.trunc(millis))}ms`;
}

function lengthOf(report) {
  try {
    return JSON.stringify(report).length;
  } catch {
    return 0;
  }
}
