// SPDX-License-Identifier: Apache-2.0
import { hostname } from "node:os";
import { Problem, Unanswered, pause, sleep } from "./client.js";

const LEASES_PER_REQUEST = 100;
const REPORTS_PER_REQUEST = 1000;
const REPORT_CHARS = 4_000_000;
// One line and one character more than the server keeps, so that it can say that something is missing.
const LOG_LINES = 1001;
const LOG_LENGTH = 4001;
const LOG_CHARS = 64 * 1024;
const MILLIS_AFTER_STOP = 2_000;
const MAX_TYPES = 32;
const MAX_CAUSES = 16;
const LONGEST_RETRY_AFTER = 36_500 * 86_400_000;
const UNIT = /^[A-Za-z0-9_.:/@-]{1,100}$/;

export class JobError extends Error {
  constructor(message, { code, httpStatus, retryAfter, permanent = false, failureClass, cause } = {}) {
    super(message, { cause });
    this.name = "JobError";
    this.code = code;
    this.httpStatus = httpStatus;
    this.retryAfter = retryAfter;
    this.permanent = permanent;
    this.failureClass = failureClass;
  }
}

export class Snooze extends Error {
  constructor(millis) {
    super(`snooze for ${millis} ms`);
    this.name = "Snooze";
    this.millis = millis;
  }
}

export class Cancel extends Error {
  constructor(reason = "") {
    super(reason);
    this.name = "Cancel";
    this.reason = reason;
  }
}

export class StepFailed extends Error {
  constructor(step, failure) {
    super(`step ${step} failed as ${failure.reason}: ${failure.message}`);
    this.name = "StepFailed";
    this.step = step;
    this.failure = failure;
  }
}

/** A job of a join is a dead letter or was cancelled. Retry that job and then this one, and the join goes on. */
export class JoinFailed extends StepFailed {
  constructor(step, message) {
    super(step, { reason: "PERMANENT", message });
    this.name = "JoinFailed";
    this.permanent = true;
  }
}

/** Where the handler called, for messages: the first line of the stack that is not of this file. */
function placeOf(stack) {
  const lines = String(stack).split("\n").slice(1);
  const calling = lines.find((line) => !line.includes(import.meta.url) && /:\d+:\d+\)?$/.test(line));
  return calling?.match(/([^/\\ (]+:\d+):\d+\)?$/)?.[1] ?? "an unknown place";
}

/** Leaves a handler whose run has ended in a step, a sleep or a wait. What the handler does with it changes nothing. */
export class Suspended extends Error {
  constructor(step) {
    super(`the run has ended in ${step}; let this pass`);
    this.name = "Suspended";
  }
}

export class Run {
  #stop = new AbortController();
  #client;
  #known;
  #used = new Map();
  #inside;
  #lines = [];
  #chars = 0;
  #sent = 0;
  #added = 0;
  #length;

  constructor(lease, length, client) {
    this.#length = length;
    this.#client = client;
    this._cost = new Map();
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
    this._suspended = false;
    this._failed = undefined;
  }

  async step(name, work, { atMostOnce = false, retry, resource } = {}) {
    const known = await this.#enter(name, "STEP");
    try {
      if (known?.state === "DONE" || known?.state === "FAILED") {
        return valueOf(known);
      }
      const step = { name, ...(retry === undefined ? {} : { policy: retry }), ...(resource ? { resource } : {}) };
      if (known?.state === "STARTED") {
        throw this.#failsIn(step, new JobError(`step ${name} has started, and nobody knows how it ended`));
      }
      if (atMostOnce) {
        await this.#post("step", { name, started: true });
      }
      let result;
      try {
        result = await work();
      } catch (error) {
        throw error instanceof Suspended || error instanceof Snooze || error instanceof Cancel ? error : this.#failsIn(step, error);
      }
      try {
        await this.#post("step", result === undefined ? { name } : { name, result });
      } catch (error) {
        if (!(error instanceof TypeError) && ![400, 413].includes(error.status)) {
          throw error;
        }
        // The work is done, but its result cannot be stored: no other run repeats it.
        const why = `step ${name} has a result that cannot be stored: ${error.message}`;
        throw this.#failsIn(step, new JobError(why, { permanent: true, cause: error }));
      }
      return result;
    } finally {
      this.#inside = undefined;
    }
  }

  async sleep(name, millis) {
    await this.#enter(name, "SLEEP");
    try {
      await this.#pause("sleep", name, millis);
    } finally {
      this.#inside = undefined;
    }
  }

  async waitFor(event, millis) {
    let known = await this.#enter(event, "EVENT");
    try {
      if (known === undefined || known.state === "OPEN") {
        await this.#pause("await", event, millis);
        this.#known = undefined;
        known = (await this.#steps()).get(event);
      }
      return valueOf(known);
    } finally {
      this.#inside = undefined;
    }
  }

  async join(name, jobs) {
    await this.#enter(name, "JOIN");
    try {
      await this.#flush();
      const answer = await this.#post("join", { name, jobs });
      if (answer.suspended) {
        this._suspended = true;
        throw new Suspended(name);
      }
      if (answer.failure !== null) {
        throw new JoinFailed(name, answer.failure);
      }
      return answer.results;
    } finally {
      this.#inside = undefined;
    }
  }

  async addToBatch(jobs) {
    const keyed = jobs.map((job) => ({ idempotencyKey: `${this.id}/${this.fence}/${++this.#added}`, ...job }));
    return keyed.length === 0 ? [] : (await this.#post("batch", { jobs: keyed })).ids;
  }

  /** What is beyond the bounds is never sent: the server would refuse a request that is too large. */
  log(line) {
    if (this.#lines.length < LOG_LINES && this.#chars <= LOG_CHARS) {
      const text = plain(line, LOG_LENGTH);
      this.#chars += text.length + 1;
      this.#lines.push(text);
    }
  }

  /** The lines that the server does not have, as a report takes them. */
  _unsent() {
    return this.#sent < this.#lines.length ? { from: this.#sent, lines: this.#lines.slice(this.#sent) } : undefined;
  }

  _sentLog(log) {
    this.#sent = Math.max(this.#sent, log === undefined ? 0 : log.from + log.lines.length);
  }

  /** Sends the lines that the server does not have, because the run is about to end in a wait. */
  async #flush() {
    const log = this._unsent();
    if (log !== undefined) {
      await this.#post("heartbeat", { lease: duration(this.#length), log });
      this._sentLog(log);
    }
  }

  async #enter(name, kind) {
    if (this._suspended || this._failed) {
      throw new Suspended(name);
    }
    const place = placeOf(new Error().stack);
    if (this.#inside !== undefined) {
      const outer = `${this.#inside} at ${this.#used.get(this.#inside)}`;
      throw new JobError(`step ${name} at ${place} begins inside step ${outer}: steps come one after another`, {
        permanent: true,
      });
    }
    if (this.#used.has(name)) {
      const first = this.#used.get(name);
      throw new JobError(`step ${name} at ${place} was used in this run before, at ${first}: put the number into its name`, {
        permanent: true,
      });
    }
    this.#used.set(name, place);
    this.#inside = name;
    try {
      const known = (await this.#steps()).get(name);
      if (known !== undefined && known.kind !== kind) {
        const stored = `job ${this.id} has stored it as ${known.kind} at ${known.at}`;
        throw new JobError(`step ${name} at ${place} is asked for as ${kind}, but ${stored}: give it another name`, {
          permanent: true,
        });
      }
      return known;
    } catch (error) {
      this.#inside = undefined;
      throw error;
    }
  }

  async #steps() {
    if (this.#known === undefined) {
      const answer = await this.#client.call("GET", `/v1/leases/${encodeURIComponent(this._token)}/steps`);
      this.#known = new Map(answer.items.map((step) => [step.name, step]));
    }
    return this.#known;
  }

  async #pause(how, name, millis) {
    await this.#flush();
    const answer = await this.#post(how, { name, duration: duration(millis) });
    if (answer.suspended) {
      this._suspended = true;
      throw new Suspended(name);
    }
  }

  #post(what, body) {
    return this.#client.call("POST", `/v1/leases/${encodeURIComponent(this._token)}/${what}`, body);
  }

  #failsIn(step, error) {
    this._failed = { ...failure(error), step };
    return new Suspended(step.name);
  }

  progress(percent, message = null) {
    const text = message === null ? null : plain(message, 500);
    this._progress = { percent: Math.max(0, Math.min(100, Math.trunc(percent))), message: text };
  }

  cost(amount, unit) {
    const sum = (this._cost.get(unit) ?? 0) + amount;
    if (!(amount >= 0 && sum <= 1e12) || unit === "seconds" || !UNIT.test(unit)) {
      throw new RangeError(`a cost is 0 to 1e12 of a unit such as usd, but not seconds; it was ${amount} '${unit}'`);
    }
    if (!this._cost.has(unit) && this._cost.size === 8) {
      throw new RangeError(`a run has at most 8 units of cost; '${unit}' is one too many`);
    }
    this._cost.set(unit, sum);
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
      offers: [],
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
    const { name, queues, offers, wait, lease } = this.#options;
    const wish = {
      worker: name,
      types: [...this.#handlers.keys()].sort(),
      max: Math.min(free, LEASES_PER_REQUEST),
      wait: duration(wait),
      lease: duration(lease),
      ...(queues.length > 0 ? { queues } : {}),
      ...(offers.length > 0 ? { offers } : {}),
    };
    const timeout = wait + this.#client.timeout;
    const answer = await this.#client.send("POST", "/v1/leases", wish, { timeout, signal: this.#stop.signal });
    return answer.items;
  }

  #start(lease) {
    const run = new Run(lease, this.#options.lease, this.#client);
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
      } else if (error instanceof Cancel) {
        this.#report(run, { outcome: "cancel", reason: error.reason.slice(0, 2_000) });
      } else if (run.stopReason === "stopping") {
        this.#report(run, { outcome: "release" });
      } else {
        this.#report(run, { outcome: "fail", failure: failure(error) });
      }
    }
  }

  #report(run, report) {
    if (run._suspended) {
      // The run ended in a sleep or a wait, whatever its handler did afterwards.
      this.#drop(run._token);
      return;
    }
    if (!run._reported) {
      run._reported = true;
      const failed = run._failed !== undefined && run.stopReason !== "stopping";
      const told = failed ? { outcome: "fail", failure: run._failed } : report;
      const cost = told.outcome !== "release" && run._cost.size > 0 ? { cost: Object.fromEntries(run._cost) } : {};
      const log = told.outcome === "release" ? undefined : run._unsent();
      this.#ended.push({ token: run._token, ...told, ...cost, ...(log ? { log } : {}) });
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
    const log = run._unsent();
    const body = { lease: duration(lease), ...(progress ? { progress } : {}), ...(log ? { log } : {}) };
    try {
      const path = `/v1/leases/${encodeURIComponent(run._token)}/heartbeat`;
      const answer = await this.#client.send("POST", path, body, { timeout: Math.max(1_000, lease / 3) });
      run._keptUntil = sent + lease;
      run._beatAt = sent + lease / 3;
      if (run._progress === progress) {
        run._progress = undefined;
      }
      run._sentLog(log);
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

function valueOf(step) {
  if (step.failure) {
    throw new StepFailed(step.name, step.failure);
  }
  return step.value ?? undefined;
}

function passes(error) {
  return error instanceof Unanswered || (error instanceof Problem && error.mayPass);
}

/**
 * Describes an error for the server, with what rules of a policy look at. As in Java, rules see the causes too: their types,
 * and what the first that knows it says of code, status, retryAfter and class.
 */
export function failure(error) {
  const isError = error instanceof Error;
  const chain = causes(error);
  const report = {
    types: types(chain),
    message: plain(isError ? error.message : error, 20_000),
    trace: plain((isError && error.stack) || error, 100_000),
  };
  for (const each of chain.reverse()) {
    const told = details(each);
    if (told.class !== undefined || told.permanent !== undefined) {
      delete report.class;
      delete report.permanent;
    }
    Object.assign(report, told);
  }
  if (error instanceof StepFailed && !(error instanceof JoinFailed)) {
    report.step = { name: error.step };
  }
  return report;
}

/** What one error says of itself. */
function details(error) {
  const told = {};
  const status = error?.httpStatus ?? error?.status ?? error?.statusCode;
  if (Number.isInteger(status) && status >= 100 && status <= 599) {
    told.httpStatus = status;
  }
  if (Number.isFinite(error?.retryAfter) && error.retryAfter > 0) {
    told.retryAfter = duration(Math.min(error.retryAfter, LONGEST_RETRY_AFTER));
  }
  if (error?.permanent === true) {
    told.permanent = true;
  }
  if (typeof error?.failureClass === "string") {
    told.class = error.failureClass;
  }
  if (typeof error?.code === "string" && error.code.length > 0 && error.code.length <= 200) {
    told.code = error.code;
  }
  return told;
}

/** The error and its causes, the outermost first. */
function causes(error) {
  const chain = [];
  for (let at = error; at !== undefined && at !== null && !chain.includes(at) && chain.length < MAX_CAUSES; at = at.cause) {
    chain.push(at);
  }
  return chain;
}

/** Text that the server takes: not too long, and without the null character. Else it would refuse the whole report. */
function plain(value, most) {
  return String(value).slice(0, most).replaceAll("\0", " ");
}

/**
 * The name of the error, then those of its class, its parents and its causes: rules match any, as instanceof does. Some
 * errors have a name that their class has not, such as the TimeoutError of a signal, which is a DOMException.
 */
function types(chain) {
  const names = new Set();
  for (const error of chain.filter((each) => each instanceof Error)) {
    const classes = [];
    for (let at = Object.getPrototypeOf(error); at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
      classes.push(at.constructor?.name);
    }
    [...(classes.includes(error.name) ? [] : [error.name]), ...classes]
      .filter((name) => typeof name === "string" && name !== "")
      .forEach((name) => names.add(name.slice(0, 500)));
  }
  return names.size > 0 ? [...names].slice(0, MAX_TYPES) : [typeof chain[0]];
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
