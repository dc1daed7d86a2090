// SPDX-License-Identifier: Apache-2.0

/** Any JSON. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export type JobState = "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED" | "CANCELLED";

/** A job as the server shows it. `/openapi.json` of the server describes every field. */
export interface Job<P = Json, R = Json> {
  id: string;
  type: string;
  queue: string;
  state: JobState;
  waitReason: string | null;
  failReason: string | null;
  attempts: number;
  maxAttempts: number | null;
  retryCount: number;
  maxRetries: number | null;
  isRetryable: boolean;
  nextRetryAt: string | null;
  dueAt: string | null;
  payload?: P;
  result?: R | null;
  lastError: { type: string; message: string | null; fingerprint: string } | null;
  progress: { percent: number; message?: string | null } | null;
  [field: string]: unknown;
}

export interface JobOptions {
  queue?: string;
  /** -9 to 9. */
  priority?: number;
  /** Such as "30s" or "2h". */
  delay?: string;
  dueAt?: string;
  resource?: string;
  group?: string;
  /** What its worker must offer, such as "gpu". */
  needs?: string[];
  tags?: string[];
  /** Of the payload; 1 unless given. */
  version?: number;
  /** At most one live job holds it. */
  key?: string;
  /** What happens if a live job holds the key; KEEP unless given. */
  keyRule?: "REJECT" | "KEEP" | "REPLACE" | "FOLLOW";
  /** With keyRule REPLACE: due so long after the first request at the latest. */
  atLatest?: string;
  /** Longest time of one run, such as "5m". */
  timeout?: string;
  /** A policy, or the name of a preset or of a stored policy. */
  policy?: string | { [field: string]: Json };
  maxAttempts?: number;
  maxRetries?: number;
  /** Jobs that are stored when this one succeeds. */
  then?: JobRequest[];
  /** Jobs that are stored when this one becomes a dead letter. */
  whenDead?: JobRequest[];
}

export interface JobRequest<P = Json> extends JobOptions {
  type: string;
  payload?: P;
  /** A repeated request with it gets the first job; by type. */
  idempotencyKey?: string;
}

export interface Enqueued {
  id: string;
  /** False if the key led to a job that was there already. */
  created: boolean;
  dueAt: string | null;
}

export interface ClientOptions {
  /** REPRISE_URL, or http://127.0.0.1:8080. */
  url?: string;
  /** REPRISE_KEY. */
  key?: string;
  /** Milliseconds for which a call is repeated; 60000. */
  patience?: number;
  /** Milliseconds for one answer; 30000. */
  timeout?: number;
}

/**
 * A server and a key. Every call is repeated with backoff and jitter until the server answers or `patience` has passed.
 * An enqueue carries an idempotency key, so its repetition enqueues nothing twice.
 */
export class Client {
  constructor(options?: ClientOptions);
  /** The same idempotency key with the same job returns the first job again; two types may use the same key. Without one, a key is made up. */
  enqueue<P = Json>(type: string, payload?: P, options?: JobOptions & { idempotencyKey?: string }): Promise<Enqueued>;
  /** Up to 1000 jobs, all or none. The key is that of the whole call; instead, every job may have one of its own. */
  enqueueMany(jobs: JobRequest[], options?: { idempotencyKey?: string }): Promise<Enqueued[]>;
  /** Rejects with a Problem named 'not-found' if there is none. */
  job<P = Json, R = Json>(id: string): Promise<Job<P, R>>;
  /** Waits until a job has ended. Rejects with an Error named TimeoutError. */
  wait<P = Json, R = Json>(id: string, timeoutMillis?: number): Promise<Job<P, R>>;
  retry(id: string, options?: { why?: string }): Promise<Job>;
  cancel(id: string, options?: { why?: string }): Promise<Job>;
  /** Tells a live job an event. False if it knew one of this name, or had waited too long. */
  tell(id: string, event: string, value?: unknown): Promise<boolean>;
  /** Any operation of the API, repeated as the class says. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>, timeoutMillis?: number): Promise<any>;
}

/** The server refused the request: a problem document of RFC 9457. */
export class Problem extends Error {
  readonly status: number;
  /** Such as 'not-found' or 'stale-lease'. */
  readonly problem: string;
  readonly errors: { field?: string; message: string }[];
  /** Milliseconds. */
  readonly retryAfter: number | undefined;
  /** Whether the same request can succeed later. */
  readonly mayPass: boolean;
}

/** The server did not answer in time. Whether it acted is unknown. */
export class Unanswered extends Error {}

/** One run of a job, as a handler sees it. */
export interface Run<P = Json> {
  readonly job: Job<P>;
  readonly id: string;
  readonly type: string;
  readonly payload: P;
  readonly attempt: number;
  /** Grows with every lease of the job. Give it to the systems that you write to: they refuse a smaller one. */
  readonly fence: number;
  /** Aborted when the run must end: see `stopReason`. Pass it to fetch and timers. */
  readonly signal: AbortSignal;
  readonly stopReason: "cancelled" | "lost" | "stopping" | undefined;
  /** Shows how far it is, with the next heartbeat. */
  progress(percent: number, message?: string): void;
  /** Adds to what the run cost, such as `run.cost(0.25, "usd")`; up to 8 units. It is kept however the run ends. */
  cost(amount: number, unit: string): void;
  /**
   * Does the work once for the job and returns its result (any JSON). A result that is stored is returned again. If the
   * work throws, the run ends, and the policy decides; await what this returns, and let what it throws pass.
   */
  step<T = Json>(name: string, work: () => T | Promise<T>, options?: StepOptions): Promise<T>;
  /** Ends the run for so long, without an attempt. The next run goes on behind it. */
  sleep(name: string, millis: number): Promise<void>;
  /** Ends the run until somebody tells the job the event, and returns the event in the next run. */
  waitFor<T = Json>(event: string, millis: number): Promise<T>;
  /**
   * Stores other jobs once, ends the run until all have ended, and returns their results in the next run. Jobs have no
   * keys. If one is a dead letter or was cancelled, `JoinFailed` is thrown.
   */
  join<T = Json>(name: string, jobs: Array<Record<string, unknown>>): Promise<T[]>;
  /**
   * Stores up to 1000 more members of the batch that this job is in, all or none, and returns their ids. The batch may be
   * closed: while this job runs it cannot end. The jobs stay even if this run fails and is repeated. Give each an
   * `idempotencyKey`, so that the next run adds no second one; without it, one is made up for this run.
   */
  addToBatch(jobs: Array<Record<string, unknown>>): Promise<string[]>;
  /** Adds a line to the log of this run, for people to see beside the job; sent with heartbeats and at the end. */
  log(line: string): void;
}

export interface StepOptions {
  /** Stores the start first. A start without an end makes the job a dead letter, and a person says how it ended. */
  atMostOnce?: boolean;
  /** A policy, or the name of one. Its fields come before those of the job. */
  retry?: string | Record<string, unknown>;
  /** What the step calls: it takes the blame. */
  resource?: string;
}

/** Returns the result (any JSON), or throws. */
export type Handler<P = any> = (run: Run<P>) => unknown | Promise<unknown>;

export interface WorkerOptions {
  queues?: string[];
  /** What this worker offers to jobs that need it, such as "gpu". */
  offers?: string[];
  /** Jobs at once; 10. */
  concurrency?: number;
  /** Milliseconds after which another worker gets a job of which the server hears nothing; 30000. */
  lease?: number;
  /** Milliseconds that running jobs may take to finish when the worker stops; 20000. */
  stopGrace?: number;
  /** Milliseconds that one request waits for jobs, at most 60000; 20000. */
  wait?: number;
  name?: string;
  /** Lines about trouble; `console.error` unless given. */
  log?: (line: string) => void;
}

/** Leases jobs, runs handlers, keeps the leases and reports how the runs ended. */
export class Worker {
  constructor(client: Client, handlers: Record<string, Handler>, options?: WorkerOptions);
  /**
   * Works until stop() is called or, with `signals` (the default), SIGTERM or SIGINT arrives. Then it takes no more
   * jobs, lets those that run finish for `stopGrace`, and gives the rest back: they spend no attempt. Rejects with a
   * Problem if the server refuses the key or the request.
   */
  run(options?: { signals?: boolean }): Promise<void>;
  stop(): void;
}

/** A failure of which the handler knows more than a message. */
export class JobError extends Error {
  constructor(
    message: string,
    options?: {
      code?: string;
      httpStatus?: number;
      /** Milliseconds: the least time before the next attempt. */
      retryAfter?: number;
      /** No further attempt. */
      permanent?: boolean;
      /** Leaves nothing to the rules of the policy. */
      failureClass?: "TRANSIENT" | "THROTTLED" | "DEPENDENCY_DOWN" | "PERMANENT";
      cause?: unknown;
    },
  );
}

/** Thrown by a handler: call me again later. No attempt is spent. */
export class Snooze extends Error {
  constructor(millis: number);
}

/** Thrown by a handler: the job is no longer wanted. It ends as CANCELLED, with this reason. */
export class Cancel extends Error {
  constructor(reason?: string);
}

/** A step or an event failed for good. A handler may catch it and undo earlier steps. */
export class StepFailed extends Error {
  readonly step: string;
  readonly failure: { reason: string; failureClass: string; type: string; message: string | null };
}

/** A job of a join is a dead letter or was cancelled. Retry that job and then this one, and the join goes on. */
export class JoinFailed extends StepFailed {}

/** Leaves a handler whose run has ended in a step. What the handler does with it changes nothing. */
export class Suspended extends Error {}

/** The message is not from the holder of the secret, or it is too old. Answer 400 and do nothing. */
export class InvalidSignature extends Error {}

/**
 * Returns the message (JSON) of a webhook or `http` job if its signature is right and it is not older than the
 * tolerance. Pass the body as it arrived. Throws InvalidSignature.
 */
export function verify(
  secret: string,
  headers: Headers | Record<string, string | string[] | undefined>,
  body: string | Uint8Array | ArrayBuffer,
  options?: { toleranceSeconds?: number; now?: () => number },
): any;
