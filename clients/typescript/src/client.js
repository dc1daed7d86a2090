// SPDX-License-Identifier: Apache-2.0
import { randomUUID } from "node:crypto";

const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 10_000;
const LONGEST_WAIT = 30_000;
const ENDED = new Set(["SUCCEEDED", "FAILED", "CANCELLED"]);

export class Problem extends Error {
  constructor(status, document, retryAfter) {
    const problem = String(document.type ?? "").replace("urn:reprise:problem:", "");
    const errors = document.errors ?? [];
    const fields = errors.map((each) => `${each.field ?? ""} ${each.message ?? ""}`.trim()).join("; ");
    super(`${status} ${problem}: ${document.detail ?? document.title ?? ""} ${fields}`.trim());
    this.name = "Problem";
    this.status = status;
    this.problem = problem;
    this.errors = errors;
    this.retryAfter = retryAfter;
  }

  get mayPass() {
    return this.status === 429 || this.status >= 500;
  }
}

export class Unanswered extends Error {
  constructor(message, cause) {
    super(message, { cause });
    this.name = "Unanswered";
  }
}

/** Milliseconds before the next try: exponential with full jitter, and never less than the server asked for. */
export function pause(failures, retryAfter = 0, chance = Math.random) {
  const drawn = chance() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures, 16));
  return Math.max(retryAfter ?? 0, drawn);
}

/** Sleeps, or less if the signal is aborted. */
export function sleep(millis, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, millis);
    signal?.addEventListener("abort", wake);
  });
}

export class Client {
  #url;
  #key;

  constructor({ url, key, patience = 60_000, timeout = 30_000 } = {}) {
    this.#url = (url ?? process.env.REPRISE_URL ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
    this.#key = (key ?? process.env.REPRISE_KEY ?? "").trim(); // A key that was read from a file ends with a line.
    if (!/^https?:\/\/[^/]/.test(this.#url)) {
      throw new TypeError(`'${this.#url}' is not the URL of a server: write http://HOST:PORT or https://HOST`);
    }
    if (!this.#key) {
      throw new TypeError("no API key: pass { key } or set REPRISE_KEY");
    }
    this.patience = patience;
    this.timeout = timeout;
  }

  async enqueue(type, payload, { idempotencyKey, ...options } = {}) {
    const body = { ...options, type, ...(payload === undefined ? {} : { payload }) };
    return this.call("POST", "/v1/jobs", body, keyed(isGiven(idempotencyKey) ? `${type} ${idempotencyKey}` : undefined));
  }

  async enqueueMany(jobs, { idempotencyKey } = {}) {
    if (jobs.length === 0) {
      return [];
    }
    const own = jobs.filter((job) => job.idempotencyKey !== undefined).length;
    if (own > 0 && (isGiven(idempotencyKey) || own < jobs.length)) {
      throw new TypeError("give an idempotency key to every job, to the call, or to none");
    }
    return this.call("POST", "/v1/jobs", jobs, own > 0 ? {} : keyed(idempotencyKey));
  }

  async job(id) {
    return this.call("GET", `/v1/jobs/${encodeURIComponent(id)}`);
  }

  async wait(id, timeoutMillis = 60_000) {
    const until = performance.now() + timeoutMillis;
    for (;;) {
      const left = until - performance.now();
      const wait = Math.floor(Math.max(0, Math.min(LONGEST_WAIT, left)));
      const path = `/v1/jobs/${encodeURIComponent(id)}/result?wait=${wait}ms`;
      const job = await this.call("GET", path, undefined, {}, wait + this.timeout);
      if (ENDED.has(job.state)) {
        return job;
      }
      if (left <= 0) {
        const error = new Error(`job ${id} is ${job.state} after ${timeoutMillis} ms`);
        error.name = "TimeoutError";
        throw error;
      }
    }
  }

  async retry(id, { why } = {}) {
    return this.call("POST", `/v1/jobs/${encodeURIComponent(id)}/retry`, why ? { why } : {});
  }

  async tell(id, event, value = null) {
    const answer = await this.call("POST", `/v1/jobs/${encodeURIComponent(id)}/events`, { name: event, value });
    return answer.told;
  }

  async cancel(id, { why } = {}) {
    return this.call("POST", `/v1/jobs/${encodeURIComponent(id)}/cancel`, why ? { why } : {});
  }

  async call(method, path, body, headers = {}, timeoutMillis = this.timeout) {
    const until = performance.now() + this.patience;
    for (let failures = 0; ; failures++) {
      let error;
      try {
        return await this.send(method, path, body, { headers, timeout: timeoutMillis });
      } catch (trouble) {
        if (!(trouble instanceof Unanswered || (trouble instanceof Problem && trouble.mayPass))) {
          throw trouble;
        }
        error = trouble;
      }
      const wait = pause(failures, error.retryAfter);
      if (performance.now() + wait >= until) {
        throw error;
      }
      await sleep(wait);
    }
  }

  /** One request, not repeated. Rejects with a Problem, or with Unanswered if there was no answer. */
  async send(method, path, body, { headers = {}, timeout = this.timeout, signal } = {}) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const ended = AbortSignal.timeout(Math.ceil(timeout));
    let answer;
    let content;
    try {
      answer = await fetch(this.#url + path, {
        method,
        body: text,
        headers: {
          Authorization: `Bearer ${this.#key}`,
          ...(text === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        redirect: "error",
        signal: signal ? AbortSignal.any([signal, ended]) : ended,
      });
      content = await answer.text();
    } catch (cause) {
      if (cause instanceof TypeError && cause.cause === undefined) {
        throw cause; // The request itself is wrong, such as a header that is no text: nothing was sent.
      }
      throw new Unanswered(`no answer to ${method} ${path}: ${cause?.cause?.message ?? cause?.message}`, cause);
    }
    const document = parsed(content);
    if (answer.ok) {
      return document;
    }
    throw new Problem(answer.status, document ?? {}, millis(answer.headers.get("Retry-After")));
  }
}

/** An empty key is refused: it comes from a variable that is not set, and all such jobs would be one. */
function isGiven(key) {
  if (key === "") {
    throw new TypeError("an idempotency key must not be empty");
  }
  return key !== undefined && key !== null;
}

/**
 * The header with the key, or with one that is made up. A header is ASCII and has no spaces at its ends: of a key that is
 * otherwise, UTF-8 and these spaces are percent-encoded.
 */
export function keyed(key) {
  const text = isGiven(key) ? String(key) : randomUUID();
  const encoded = () => text.replaceAll(/[^ -$&-~]+/g, encodeURIComponent).replaceAll(/^ +| +$/g, (spaces) => "%20".repeat(spaces.length));
  return { "Idempotency-Key": /^[ -~]*$/.test(text) && text === text.trim() ? text : encoded() };
}

function parsed(text) {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function millis(seconds) {
  const number = Number.parseFloat(seconds ?? "");
  return Number.isFinite(number) && number >= 0 ? number * 1000 : undefined;
}
