// SPDX-License-Identifier: Apache-2.0
// Pure functions from values to text. Nothing here touches the page.

const NUMBERS = new Intl.NumberFormat('en', {maximumFractionDigits: 1});
const COMPACT = new Intl.NumberFormat('en', {notation: 'compact', maximumFractionDigits: 1});

export const number = value => NUMBERS.format(value);
export const compact = value => value < 10000 ? NUMBERS.format(value) : COMPACT.format(value);
export const percent = value => `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
export const plural = (count, one, many = one + 's') => `${number(count)} ${count === 1 ? one : many}`;

const UNITS = [['d', 86400], ['h', 3600], ['min', 60], ['s', 1]];

/** Seconds as one or two units: 1 h 5 min, 14 s, 320 ms. */
export function seconds(value) {
  if (value < 0) return '-' + seconds(-value);
  if (value < 1) return value === 0 ? '0 s' : `${Math.max(1, Math.round(value * 1000))} ms`;
  if (value < 10) return `${Math.round(value * 10) / 10} s`;
  let rest = Math.round(value);
  for (let i = 0; i < UNITS.length; i++) {
    const [name, size] = UNITS[i];
    if (rest >= size) {
      const whole = Math.floor(rest / size);
      const next = UNITS[i + 1];
      const more = next ? Math.floor((rest - whole * size) / next[1]) : 0;
      return more && whole < 10 ? `${whole} ${name} ${more} ${next[0]}` : `${whole} ${name}`;
    }
  }
  return '0 s';
}

/** Reads a duration as the API writes it: 1h30m, 500ms, PT1M. Returns seconds. */
export function parseDuration(text) {
  if (!text) return 0;
  const factors = {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, d: 86400};
  if (/^P/i.test(text)) {
    const iso = /^P(?:([\d.]+)D)?(?:T(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?$/i.exec(text);
    return iso ? (+iso[1] || 0) * 86400 + (+iso[2] || 0) * 3600 + (+iso[3] || 0) * 60 + (+iso[4] || 0) : NaN;
  }
  let sum = 0;
  let rest = text;
  while (rest) {
    const part = /^([\d.]+)(ns|us|ms|s|m|h|d)/.exec(rest);
    if (!part) return NaN;
    sum += part[1] * factors[part[2]];
    rest = rest.slice(part[0].length);
  }
  return sum;
}

/** A duration of ISO 8601 as people type it: PT1H30M becomes 1h30m. */
export const briefly = text => String(text).replace(/^P(?:(\d+)D)?T?/, (_, days) => days ? `${days}d` : '').toLowerCase();

/** How long ago, or in how long. */
export function ago(time, now = Date.now()) {
  if (!time) return '';
  const away = (now - Date.parse(time)) / 1000;
  if (Math.abs(away) < 1.5) return 'now';
  return away > 0 ? `${seconds(away)} ago` : `in ${seconds(-away)}`;
}

/** How long something has been so: "12 s". */
export const lasted = (time, now = Date.now()) => time ? seconds(Math.max(0, (now - Date.parse(time)) / 1000)) : '';

/** Keeps rows where they are while one looks: rows that are gone go, new ones wait to be asked for. */
export function steady(old, fresh, id = row => row.id) {
  const now = new Map(fresh.map(row => [id(row), row]));
  const known = new Set(old.map(id));
  const kept = old.filter(row => now.has(id(row))).map(row => now.get(id(row)));
  return kept.length ? {items: kept, fresh: fresh.filter(row => !known.has(id(row))).length} : {items: fresh, fresh: 0};
}

export function clock(time) {
  const date = new Date(time);
  return isNaN(date) ? '' : date.toISOString().replace('T', ' ').replace(/\.(\d{3})\d*Z$/, '.$1 UTC').replace(/Z$/, ' UTC');
}

/** An hour of the last day: "06:00". */
export const shortHour = time => new Date(time).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit'});

/** An hour of the last days: "Wed 06:00". */
export const dayHour = time => new Date(time).toLocaleString('en-GB', {weekday: 'short', hour: '2-digit', minute: '2-digit'}).replace(',', '');

export const shortClock = time => new Date(time).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit', second: '2-digit'});

/**
 * Returns the text of a member of a JSON object as it stands there. JSON.parse would change numbers above 2^53.
 * @param {string} json @param {string} name
 */
export function rawMember(json, name) {
  let at = skipSpace(json, 0);
  if (json[at] !== '{') return undefined;
  at = skipSpace(json, at + 1);
  while (at < json.length && json[at] !== '}') {
    const keyEnd = endOfText(json, at);
    const key = JSON.parse(json.slice(at, keyEnd));
    const start = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = endOfValue(json, start);
    if (key === name) return json.slice(start, end);
    at = skipSpace(json, end);
    if (json[at] === ',') at = skipSpace(json, at + 1);
  }
  return undefined;
}

/** Returns the texts of the elements of an array that is a member of a JSON object, each as it stands there. */
export function rawItems(json, name) {
  const array = rawMember(json, name) || '[]';
  const items = [];
  let at = skipSpace(array, 1);
  while (at < array.length && array[at] !== ']') {
    const end = endOfValue(array, at);
    items.push(array.slice(at, end));
    at = skipSpace(array, end);
    if (array[at] === ',') at = skipSpace(array, at + 1);
  }
  return items;
}

function skipSpace(json, at) {
  while (at < json.length && ' \t\r\n'.includes(json[at])) at++;
  return at;
}

function endOfText(json, at) {
  at++;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfValue(json, at) {
  let depth = 0;
  while (at < json.length) {
    const c = json[at];
    if (c === '"') {
      at = endOfText(json, at);
      if (depth === 0) return at;
      continue;
    }
    if (c === '{' || c === '[') depth++;
    else if (c === '}' || c === ']') {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (c === ',' || ' \t\r\n'.includes(c))) return at;
    at++;
  }
  return at;
}

/** Indents JSON without reading it: every token stays as it is. */
export function indent(json) {
  let out = '';
  let depth = 0;
  let at = 0;
  const line = () => '\n' + '  '.repeat(depth);
  while (at < json.length) {
    const c = json[at];
    if (c === '"') {
      const end = endOfText(json, at);
      out += json.slice(at, end);
      at = end;
      continue;
    }
    if (' \t\r\n'.includes(c)) { at++; continue; }
    if (c === '{' || c === '[') {
      const next = skipSpace(json, at + 1);
      if (json[next] === '}' || json[next] === ']') {
        out += c + json[next];
        at = next + 1;
        continue;
      }
      depth++;
      out += c + line();
    } else if (c === '}' || c === ']') {
      depth = Math.max(0, depth - 1);
      out += line() + c;
    } else if (c === ',') out += c + line();
    else if (c === ':') out += ': ';
    else out += c;
    at++;
  }
  return out;
}

/** A short name of an error's type: the class without its package. */
export const shortType = type => String(type || '').replace(/^.*\.(?=[A-Z])/, '');

/** A sentence of the server with its persons as people call them: by key NAME (id) becomes by NAME. */
export const named = text => String(text || '').replace(/\bby (?:key|user) (.+?) \([0-9a-f]{6,}\)/g, 'by $1');

/** The person of an audit entry: key NAME (id) becomes NAME. */
export const person = by => String(by || '').replace(/^(?:key|user) (.*) \([^()]*\)$/, '$1');

const FOREIGN = /^at (?:[\w.]+\/\/?)?(?:java|javax|jdk|sun|com\.sun|io\.reprise|org\.springframework|org\.eclipse|kotlin|scala|reactor|org\.hibernate|com\.zaxxer|org\.postgresql)\./;

/** The frames of a trace that are in the user's own code, with the lines that name the errors. */
export const ownFrames = trace => String(trace || '').split('\n').filter(line => !/^\s*(?:at |\.\.\. )/.test(line) || (/^\s*at /.test(line) && !FOREIGN.test(line.trim())));

/** A policy in a few words: its delays, jitter and deadline. What it does not set is left out. */
export function policyWords(policy) {
  const time = text => seconds(parseDuration(text));
  const {backoff, delays, base, factor, cap, jitter, deadline, rules, branches} = policy;
  const steps = delays ? `delays of ${delays.map(time).join(', ')}`
    : [backoff, base && `from ${time(base)}`, backoff !== 'linear' && backoff !== 'fixed' && factor && `× ${factor}`, cap && `up to ${time(cap)}`].filter(Boolean).join(' ');
  return [steps, jitter && (jitter === 'none' ? 'no jitter' : `jitter ${jitter}`), deadline && `deadline ${time(deadline)}`,
    rules?.length && plural(rules.length, 'rule'), branches?.length && plural(branches.length, 'branch', 'branches')].filter(Boolean).join('; ');
}

/** A policy in Java. The text block holds it as it is, so nothing is lost. */
export const javaPolicy = policy => `RetryPolicy.fromJson("""\n        ${JSON.stringify(policy, null, 2).replaceAll('\\', '\\\\').replaceAll('\n', '\n        ')}\n        """)`;
