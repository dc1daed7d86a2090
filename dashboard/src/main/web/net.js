// SPDX-License-Identifier: Apache-2.0
// Every request of the page goes through here, to /v1 of its own origin, or below the path where an application serves it.

/** Where an application serves the page; empty on a server of our own. */
export const {base, csrfHeader, csrfToken} = document.documentElement.dataset;

/** An answer that is a problem document. */
export class Problem extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.detail || body?.title || `The server answered ${status}`);
    this.status = status;
    this.type = String(body?.type || '').replace('urn:reprise:problem:', '');
    this.errors = body?.errors || [];
  }
}

/** Raised when the server cannot be reached, or does not answer in time. */
export class Unreachable extends Error {}

/** @type {{lost: boolean, since: number, listener: () => void}} */
export const connection = {lost: false, since: Date.now(), listener() {}};

/** Counts requests, so that tests can see that a paused page sends none. */
export const counted = {requests: 0};

/** Takes down whether a question was answered. Since when nothing is answered: since the first of these questions. */
function connected(is, asked) {
  if (connection.lost === is) {
    connection.lost = !is;
    connection.since = asked;
    connection.listener();
  }
}

/** A dead network may refuse nothing for minutes. So who does not answer the pulse, or another question, within these times is lost. */
const PULSE_MILLIS = 5000;
const READ_MILLIS = 30000;

async function ask(method, path, {body, signal, headers = {}} = {}) {
  const options = {method, signal, headers: {...headers, 'X-Reprise': '1'}, credentials: 'same-origin', cache: 'no-store'};
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  if (csrfHeader) options.headers[csrfHeader] = csrfToken;
  counted.requests++;
  const asked = Date.now();
  let answer;
  try {
    answer = await fetch(base + path, options);
  } catch (e) {
    if (e.name === 'AbortError') throw e;
    connected(false, asked);
    throw new Unreachable('The server does not answer');
  }
  connected(true, asked);
  return answer;
}

async function failed(answer) {
  let body = null;
  try { body = JSON.parse(await answer.text()); } catch { /* not a problem document */ }
  return new Problem(answer.status, body);
}

/** Returns the text of an answer: numbers in it are as the server wrote them. */
export async function getText(path, signal) {
  const late = AbortSignal.timeout(READ_MILLIS);
  const answer = await ask('GET', path, {signal: signal ? AbortSignal.any([signal, late]) : late});
  if (!answer.ok) throw await failed(answer);
  return answer.text();
}

export async function get(path, signal) {
  return JSON.parse(await getText(path, signal));
}

/** Sends a change. A text as body is sent as it is. */
export async function send(method, path, body, headers) {
  const text = await sendText(method, path, body, headers);
  return text ? JSON.parse(text) : null;
}

/** Sends a change and returns the text of the answer: numbers in it are as the server wrote them. */
export async function sendText(method, path, body, headers) {
  const answer = await ask(method, path, {body, headers});
  if (!answer.ok) throw await failed(answer);
  return answer.text();
}

/** Sends a request whose answer has a line of JSON for each thing as it is done. */
export async function lines(path, body, signal, each) {
  const answer = await ask('POST', path, {body, signal});
  if (!answer.ok) throw await failed(answer);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const {done, value} = await reader.read();
    rest += value || '';
    const whole = rest.split('\n');
    rest = whole.pop();
    whole.filter(Boolean).forEach(line => each(JSON.parse(line)));
    if (done) return;
  }
}

const known = {tag: null, value: null};

let beating = null;

/** Returns the pulse; the same object if nothing was read since. Who asks while another does gets the same answer. */
export function pulse() {
  beating = beating || readPulse().finally(() => { beating = null; });
  return beating;
}

async function readPulse() {
  const answer = await ask('GET', '/v1/pulse', {headers: known.tag ? {'If-None-Match': known.tag} : {}, signal: AbortSignal.timeout(PULSE_MILLIS)});
  if (answer.status === 304) return known.value;
  if (!answer.ok) throw await failed(answer);
  known.tag = answer.headers.get('ETag');
  known.value = JSON.parse(await answer.text());
  return known.value;
}

/** Makes a path from parts that may hold any character. */
export function path(strings, ...parts) {
  return strings.reduce((text, piece, i) => text + piece + (i < parts.length ? encodeURIComponent(parts[i]) : ''), '');
}

/** Makes a query of the values that are set. */
export function query(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return pairs.length ? '?' + pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&') : '';
}
