// SPDX-License-Identifier: Apache-2.0
// The frame: login, routes, keyboard, and the one place that decides when something is fetched.
import {base, connection, get, Problem, pulse, send, Unreachable} from './net.js';
import {announce, can, empty, getSession, heading, html, link, nothing, problemView, render, setSession, toast} from './ui.js';
import {ago, compact, person, plural, seconds} from './text.js';

// A screen is fetched when it is opened first, so that the first one does not wait for all the others.
const FILES = {
  now: () => import('./now.js'), errors: () => import('./errors.js'), jobs: () => import('./jobs.js'), batches: () => import('./batches.js'),
  resources: () => import('./resources.js'), fleet: () => import('./fleet.js'), policies: () => import('./policies.js'),
};

const ROUTES = [
  ['/', 'now', 'now'], ['/errors', 'errors', 'errors'], ['/errors/:fingerprint', 'errors', 'group'], ['/jobs', 'jobs', 'jobs'], ['/jobs/:id', 'jobs', 'job'],
  ['/batches', 'batches', 'batches'], ['/batches/:name', 'batches', 'batch'], ['/resources', 'resources', 'resources'], ['/resources/:name', 'resources', 'resource'],
  ['/policies', 'policies', 'policies'], ['/policies/:name', 'policies', 'policy'], ['/simulator', 'policies', 'simulator'],
  ...['queues', 'schedules', 'workers', 'webhooks', 'keys', 'audit', 'costs'].map(name => [`/${name}`, 'fleet', name]),
  ['/queues/:name', 'fleet', 'queue'], ['/schedules/:name', 'fleet', 'schedule'], ['/webhooks/:id', 'fleet', 'webhook'],
];

const NAV = [
  [['/', 'Now'], ['/errors', 'Errors'], ['/jobs', 'Jobs'], ['/resources', 'Resources'], ['/queues', 'Queues'], ['/batches', 'Batches'], ['/schedules', 'Schedules']],
  [['/policies', 'Policies'], ...(base ? [] : [['/simulator', 'Simulator']]), ['/costs', 'Costs']],
  [['/workers', 'Workers'], ...(base ? [] : [['/webhooks', 'Webhooks'], ['/keys', 'Keys', 'admin']]), ['/audit', 'Audit']],
];

const GO = {n: '/', e: '/errors', j: '/jobs', r: '/resources', q: '/queues', b: '/batches', s: '/schedules', p: '/policies', w: '/workers', a: '/audit', c: '/costs'};

const PULSE_MILLIS = 1000;
const root = document.getElementById('app');

/** What is shown. A fresh object for each navigation, so that a late answer changes nothing that is newer. */
let shown = null;
let beat = null;
let paused = false;
let timer;

function matchRoute(path) {
  for (const [pattern, file, name] of ROUTES) {
    const names = [];
    const regex = new RegExp('^' + pattern.replace(/:(\w+)/g, (_, part) => { names.push(part); return '([^/]+)'; }) + '$');
    const found = regex.exec(path);
    if (found) return {file, name, params: Object.fromEntries(names.map((part, i) => [part, decodeURIComponent(found[i + 1])]))};
  }
  return null;
}

function navigate() {
  const [path, search = ''] = (location.hash.slice(1) || '/').split('?');
  const params = new URLSearchParams(search);
  shown?.abort.abort();
  if (path === '/login') { login(params.get('link')); return; }
  if (!getSession()) {
    begin();
    // Who was logged in before is likely to be so: the screen's data are asked for at the same time as the session.
    if (!remembered()) return;
  }
  const match = matchRoute(path);
  const abort = new AbortController();
  shown = {path, abort, match, view: null, data: null, error: null, fresh: 0, at: 0, state: {}, reading: false,
    ctx: {params: match?.params || {}, search: params, signal: abort.signal, state: {}, beat, now: Date.now(), update: draw, reload, can}};
  if (!match) document.title = 'Not found · Reprise';
  draw();
  // A screen that arrives late must not take the focus from what a person types meanwhile.
  reload(true).then(() => { if (!isField(document.activeElement)) root.querySelector('h1')?.focus(); window.scrollTo(0, 0); });
}

/** Reads what the view shows. Only this reads for views; a late answer of a view that is gone is dropped. */
async function reload(first) {
  const view = shown;
  if (!view?.match || view.reading) return;
  view.reading = true;
  try {
    if (!view.view) {
      view.view = (await FILES[view.match.file]())[view.match.name];
      if (shown !== view) return;
      document.title = `${view.view.title} · Reprise`;
    }
    view.ctx.beat = beat;
    const data = await view.view.load(view.ctx);
    if (shown !== view) return;
    const merged = !first && view.data && view.view.merge ? view.view.merge(view.data, data) : {data, fresh: 0};
    view.data = merged.data;
    view.newest = data;
    view.fresh = merged.fresh;
    view.error = null;
    view.at = Date.now();
    if (view.fresh) announce(plural(view.fresh, 'new row'));
  } catch (e) {
    if (e.name === 'AbortError' || shown !== view) return;
    if (e instanceof Problem && e.status === 401) { loggedOut(); return; }
    if (!((e instanceof Unreachable || e.name === 'TimeoutError') && view.data)) view.error = e;
    view.at = Date.now() + (e instanceof Problem && e.status === 404 ? 10000 : 0);
  } finally {
    view.reading = false;
  }
  draw();
}

function showFresh() {
  shown.data = shown.newest;
  shown.fresh = 0;
  draw();
}

/** The only clock. A hidden or paused page asks for nothing. */
async function tick() {
  clearTimeout(timer);
  if (getSession() && !document.hidden && !paused) {
    try {
      const fresh = await pulse();
      if (fresh !== beat) {
        beat = fresh;
        announce(fresh.sentence);
      }
    } catch (e) {
      if (e instanceof Problem && e.status === 401) { loggedOut(); return; }
    }
    const every = shown?.view?.every;
    // Not awaited: a question that is never answered must not stop the clock.
    if (every && Date.now() - shown.at >= every && !document.querySelector('dialog[open]')) reload();
    draw();
  }
  timer = setTimeout(tick, PULSE_MILLIS);
}

document.addEventListener('visibilitychange', () => { if (!document.hidden) tick(); });
connection.listener = () => { if (connection.lost) announce('The connection is lost', true); draw(); };

function draw() {
  if (!getSession() || !shown) return;
  shown.ctx.beat = beat;
  shown.ctx.now = Date.now();
  document.getElementById('boot')?.remove();
  const body = !shown.match ? html`${heading('Not found')}${empty('There is no such page.', link('/', 'Go to Now'))}`
    : shown.error ? html`${heading(shown.view?.title || 'Reprise')}${problemView(shown.error, () => { shown.error = null; reload(true); })}`
    : shown.data === null ? html`<p class="soft" role="status">Reading …</p>`
    : shown.view.render(shown.data, shown.ctx);
  const focused = document.activeElement;
  render(frame(body), root);
  // Who walks by keyboard goes on from the heading if the focused row or button is gone.
  if (focused && !focused.isConnected) root.querySelector('h1')?.focus({preventScroll: true});
}

const badge = (text, bad) => text ? html`<span class="badge ${bad ? 'bad' : ''}">${text}</span>` : nothing;

function badgeOf(to) {
  if (!beat) return nothing;
  if (to === '/errors') return badge(beat.counts.FAILED ? `${compact(beat.counts.FAILED)} dead` : '', true);
  if (to === '/resources') {
    const open = beat.resources.filter(r => r.phase !== 'CLOSED').length;
    return badge(open ? `${open} open` : '', true);
  }
  if (to === '/jobs') return badge(beat.counts.RUNNING ? `${compact(beat.counts.RUNNING)} running` : '');
  return nothing;
}

const current = to => to === '/' ? shown.path === '/' : shown.path.startsWith(to);

/** New rows are announced beside the search, so that they do not push down what one looks at. */
function frame(body) {
  const session = getSession();
  const old = connection.lost;
  return html`<a class="skip" href="#main" @click=${e => { e.preventDefault(); root.querySelector('main').focus(); }}>To the content</a><div class="frame">
    <nav class="side" aria-label="Screens"><a class="brand" href="#/">Reprise</a>
      <div class="lists">${NAV.map(part => html`<ul>${part.filter(([, , scope]) => !scope || can(scope)).map(([to, text]) =>
        html`<li><a href="#${to}" aria-current=${current(to) ? 'page' : nothing}>${text}${badgeOf(to)}</a></li>`)}</ul>`)}</div>
      <div class="me"><b title=${session.name}>${person(session.name)}</b><span>${session.tenant ? `tenant ${session.tenant}` : 'all tenants'} · ${can('operate') ? 'may act' : 'may only look'}</span>
        <button type="button" class="quiet" @click=${help}>Help <kbd>?</kbd></button>${base ? nothing : html`<button type="button" class="quiet" @click=${logOut}>Log out</button>`}</div></nav>
    <main id="main" tabindex="-1">
      <div class="top"><form role="search" @submit=${search}><label class="unseen" for="q">Search jobs</label>
        <input id="q" name="q" type="search" placeholder="Search jobs: 42, state:failed type:bill, tag:may …   /" autocomplete="off" spellcheck="false" list="q-ends" @input=${suggest} .value=${shown.path === '/jobs' ? shown.ctx.search.get('q') || '' : ''}><datalist id="q-ends">${suggestions.map(s => html`<option value=${s}></option>`)}</datalist></form>
        ${shown.fresh ? html`<button type="button" class="fresh" @click=${showFresh}>${shown.fresh} new, show</button>` : nothing}
        <span class="live ${paused ? 'paused' : old ? 'off' : ''}"><i></i><button type="button" class="quiet" aria-pressed=${paused} @click=${() => { paused = !paused; draw(); tick(); }}>${paused ? 'Paused: go on' : old ? 'Not connected' : `Live${beat ? `, ${ago(beat.at, Date.now())}` : ''}`}</button></span></div>
      ${old ? html`<div class="lost" role="alert">The server has not answered for ${seconds(Math.max(1, (Date.now() - connection.since) / 1000))}. What you see is old.</div>` : nothing}
      <div class=${old ? 'old' : nothing}>${body}</div>
    </main></div>`;
}

let suggestions = [];
const ENDS = {state: ['pending', 'running', 'succeeded', 'failed', 'cancelled'], reason: ['new', 'delayed', 'retry', 'snooze', 'sleep', 'event', 'batch', 'follow', 'breaker', 'budget', 'no-handler', 'manual'], attempt: ['>1', '>3', '>10'], due: ['<1h', '>1h'], since: ['1h', '1d'], before: ['1h', '1d'],
  queue: () => beat?.queues.map(q => q.name), resource: () => beat?.resources.map(r => r.name), type: [], group: [], tag: [], error: [], schedule: [], batch: [], id: []};

/** Ways in which the last word of a search can go on. The server reads the search; this only helps to type it. */
function suggest(event) {
  const text = event.target.value;
  const begin = text.lastIndexOf(' ') + 1;
  const last = text.slice(begin);
  const [name, value] = last.split(':');
  const ends = value === undefined ? Object.keys(ENDS).map(n => `${n}:`) : ((typeof ENDS[name] === 'function' ? ENDS[name]() : ENDS[name]) || []).map(v => `${name}:${v}`);
  suggestions = ends.filter(e => e.startsWith(last) && e !== last).slice(0, 12).map(e => text.slice(0, begin) + e);
  draw();
}

const isField = element => /^(INPUT|TEXTAREA|SELECT)$/.test(element?.tagName);

function search(event) {
  event.preventDefault();
  document.activeElement?.blur();
  const q = new FormData(event.target).get('q').trim();
  location.hash = /^\d+$/.test(q) ? `/jobs/${q}` : `/jobs${q ? `?q=${encodeURIComponent(q)}` : ''}`;
}

/* Login */

const LOGGED_IN = 'reprise-logged-in';
function remembered() { try { return !!base || !!localStorage.getItem(LOGGED_IN); } catch { return false; } }
function remember(is) { try { if (is) localStorage.setItem(LOGGED_IN, '1'); else localStorage.removeItem(LOGGED_IN); } catch { /* private mode */ } }

async function begin() {
  const eager = remembered();
  try {
    entered(await get('/v1/session'));
    if (eager) draw();
    else navigate();
    tick();
  } catch (e) {
    if (e.status === 401) remember(false);
    loginForm(e.status === 401 ? null : e);
  }
}

function entered(session) {
  setSession(session);
  remember(true);
}

async function enter(authorization) {
  const answer = await fetch('/v1/session', {method: 'POST', headers: {Authorization: authorization, 'X-Reprise': '1'}, cache: 'no-store'});
  if (!answer.ok) throw new Problem(answer.status, await answer.json().catch(() => null));
  entered(await answer.json());
}

async function login(token) {
  history.replaceState(null, '', '#/');
  if (!token) { loginForm(null); return; }
  try {
    await enter(`Link ${token}`);
    navigate();
    tick();
  } catch {
    loginForm(new Error('This link was used already, or is too old. Log in with a key.'));
  }
}

function loggedOut() {
  setSession(null);
  remember(false);
  shown?.abort.abort();
  loginForm(new Error('The session is over.'));
}

async function logOut() {
  try { await send('DELETE', '/v1/session'); } catch { /* it ends by itself */ }
  setSession(null);
  remember(false);
  beat = null;
  loginForm(null);
}

function loginForm(error) {
  document.getElementById('boot')?.remove();
  document.title = 'Log in · Reprise';
  if (base) {
    render(html`<main class="login"><div class="brand">Reprise</div><h1 class="unseen">Log in</h1>
      <p class="problem" role="alert">${error?.message || 'You are not logged in to the application.'}</p><p><a href="${base}/">Load the page again</a></p></main>`, root);
    return;
  }
  const submit = async event => {
    event.preventDefault();
    const key = new FormData(event.target).get('key').trim();
    try {
      await enter(`Bearer ${key}`);
      navigate();
      tick();
    } catch (e) {
      loginForm(e);
    }
  };
  render(html`<main class="login"><form @submit=${submit}><div class="brand">Reprise</div><h1 class="unseen">Log in</h1>
    <div class="field"><label for="key">API key</label><input id="key" name="key" type="password" autocomplete="current-password" required placeholder="reprise_…">
    <span class="hint">A key with scope read sees everything and changes nothing.</span></div>
    ${error ? html`<p class="problem" role="alert">${error.message}</p>` : nothing}
    <button type="submit" class="main">Log in</button></form></main>`, root);
  root.querySelector('#key')?.focus();
}

/* Keyboard */

let leader = false;

function rows() { return [...root.querySelectorAll('main tr[data-to]')]; }

function walk(step) {
  const all = rows();
  if (!all.length) return;
  const at = all.findIndex(row => row.classList.contains('at'));
  const next = all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + step))];
  all.forEach(row => row.classList.toggle('at', row === next));
  next.scrollIntoView({block: 'nearest'});
  next.querySelector('a')?.focus();
}

function help() {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'help-title');
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  render(html`<h2 id="help-title">Keys</h2><dl class="keys">
    <dt><kbd>/</kbd></dt><dd>search jobs</dd><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row; <kbd>Enter</kbd> opens it</dd>
    ${Object.entries(GO).map(([key, to]) => html`<dt><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${NAV.flat().find(([path]) => path === to)[1]}</dd>`)}
    <dt><kbd>?</kbd></dt><dd>this list</dd></dl><div class="buttons"><button type="button" class="main" @click=${() => dialog.close()}>Close</button></div>`, dialog);
  dialog.showModal();
}

document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || document.querySelector('dialog[open]') || !getSession()) return;
  const key = event.key;
  if (leader) {
    leader = false;
    if (GO[key]) { event.preventDefault(); location.hash = GO[key]; }
    return;
  }
  if (key === 'g') leader = true;
  else if (key === '/') { event.preventDefault(); document.getElementById('q')?.focus(); }
  else if (key === 'j') walk(1);
  else if (key === 'k') walk(-1);
  else if (key === '?') help();
  else return;
  if (leader) setTimeout(() => { leader = false; }, 1500);
});

window.addEventListener('hashchange', navigate);
// Charts are drawn for the width of the window.
window.addEventListener('resize', draw);
window.addEventListener('unhandledrejection', event => { if (event.reason?.name !== 'AbortError') toast(event.reason?.message || 'Something failed', true); });
navigate();
