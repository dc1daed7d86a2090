// SPDX-License-Identifier: Apache-2.0
import {get, getText, path, query, send} from './net.js';
import {act, confirmed, copyButton, due, empty, facts, heading, html, link, nothing, panel, said, state, table, typeName, when, word} from './ui.js';
import {chance, gauge, timeline} from './charts.js';
import {waitView} from './fleet.js';
import {logView, readSteps, stepsView} from './steps.js';
import {indent, named, parseDuration, person, plural, rawMember, seconds, shortType} from './text.js';

const VIEWS = [['', 'All'], ['state:running', 'Running'], ['state:pending reason:retry', 'Being retried'], ['state:pending reason:breaker', 'Held by a breaker'], ['state:failed', 'Dead'], ['state:pending attempt:>3', 'Tried more than 3 times'], ['state:succeeded', 'Succeeded']];
const SAVED = 'reprise-views';
const LOOKING_MILLIS = 5000;

function savedViews() {
  try { return JSON.parse(localStorage.getItem(SAVED) || '[]').filter(v => typeof v === 'string').slice(0, 20); } catch { return []; }
}

function saveView(q, keep) {
  const others = savedViews().filter(v => v !== q);
  try { localStorage.setItem(SAVED, JSON.stringify(keep ? [...others, q] : others)); } catch { /* private mode */ }
}

/** The terms of a search, each as it was written. */
export const terms = q => q.match(/(?:"[^"]*"|[^\s"])+/g) || [];

const HIDDEN = 'reprise-hidden-columns';
const hidden = () => { try { return new Set(JSON.parse(localStorage.getItem(HIDDEN) || '["group"]')); } catch { return new Set(); } };
const hide = (name, away) => { const now = hidden(); if (away) now.add(name); else now.delete(name); try { localStorage.setItem(HIDDEN, JSON.stringify([...now])); } catch { /* private mode */ } };

const COLUMNS = [
  {name: 'job', always: true, cell: j => link(`/jobs/${j.id}`, j.id)},
  {name: 'type', cell: j => said(j.type)},
  {name: 'state', cell: j => j.gone ? html`<span class="soft">was ${word(j.state)}</span>` : html`${state(j.state)}${j.waitReason && j.state === 'PENDING' ? html`<br><small class="soft">${word(j.waitReason)}</small>` : nothing}`},
  {name: 'queue', cell: j => said(j.queue)},
  {name: 'group', cell: j => j.group ? link(`/jobs?q=${encodeURIComponent(`group:"${j.group}"`)}`, said(j.group)) : ''},
  {name: 'attempts', num: true, cell: j => `${j.attempts}${j.maxAttempts ? ` / ${j.maxAttempts}` : ''}`},
  {name: 'next', cell: j => j.state === 'PENDING' ? due(j.dueAt) : ''},
  {name: 'created', cell: j => when(j.createdAt)},
  {name: 'last error', wide: true, cell: j => j.lastError ? html`${link(`/errors/${j.lastError.fingerprint}`, typeName(j.lastError.type))} <span class="soft clip">${said(j.lastError.message)}</span>` : ''},
];

export const jobs = {
  title: 'Jobs',
  every: 2000,
  async load({search, signal, state: own}) {
    own.more = own.more || [];
    const type = /(?:^|\s)type:([A-Za-z0-9_.-]+)(?:\s|$)/.exec(search.get('q') || '');
    const [{items: bulks}, why, page] = await Promise.all([get('/v1/bulks', signal), type ? get(path`/v1/types/${type[1]}/explain`, signal) : null, get(`/v1/jobs${query({q: search.get('q'), limit: 50})}`, signal)]);
    own.why = why && why.looked ? {...why, type: type[1]} : null;
    own.bulk = bulks.find(b => b.id === own.bulk?.id) || bulks.find(b => b.state === 'RUNNING') || own.bulk;
    return page;
  },
  merge(old, fresh) {
    const now = new Map(fresh.items.map(j => [j.id, j]));
    const known = new Set(old.items.map(j => j.id));
    if (old.items.length === 0) return {data: fresh, fresh: 0};
    const added = fresh.items.filter(j => !known.has(j.id)).length;
    // A row stays in its place when its job no longer matches, and says so. Below the last row nothing is known.
    const last = fresh.items[fresh.items.length - 1]?.id;
    const gone = id => !fresh.next || (last && BigInt(id) > BigInt(last));
    return {data: {...old, items: old.items.map(j => now.get(j.id) || {...j, gone: gone(j.id)})}, fresh: added};
  },
  render(page, {search, state: own, update, signal, reload}) {
    const q = search.get('q') || '';
    const rest = own.next === undefined ? page.next : own.next;
    const items = [...page.items, ...own.more];
    // One page looks at some thousands of jobs. Where few match, it goes on for a while until some are found.
    const more = async () => {
      const end = Date.now() + LOOKING_MILLIS;
      let page = {next: rest, items: []};
      do page = await get(`/v1/jobs${query({q, limit: 50, cursor: page.next})}`, signal);
      while (!page.items.length && page.next && Date.now() < end);
      own.more = [...own.more, ...page.items];
      own.next = page.next;
      own.further = !page.items.length && page.next ? page.next : null;
      update();
    };
    const views = savedViews();
    const away = hidden();
    const words = terms(q);
    const isSaved = views.includes(q);
    return html`${heading('Jobs', q ? html`Those that match <code>${q}</code>, newest first.` : 'Newest first.', html`
        ${q && !VIEWS.some(([v]) => v === q) ? html`<button type="button" @click=${() => { saveView(q, !isSaved); update(); }}>${isSaved ? 'Forget this view' : 'Save this view'}</button>` : nothing}
        ${(q.includes('state:failed') ? ['replay', 'discard'] : q.includes('state:pending') ? ['retry', 'cancel'] : []).map(action => act('operate', `${BULKS[action][0]} all that match …`, () => bulk(q, action, own, reload)))}`)}
      ${own.bulk ? bulkView(own.bulk, reload) : nothing}
      ${own.why ? html`<details class="panel"><summary>Why do jobs of type ${said(own.why.type)} wait? (of ${own.why.more ? `the newest ${own.why.looked}` : `all ${own.why.looked}`} that wait)</summary>${waitView(own.why)}</details>` : nothing}
      <ul class="chips" aria-label="Views">${[...VIEWS, ...views.map(v => [v, v])].map(([view, name]) => html`<li><a href="#/jobs${view ? `?q=${encodeURIComponent(view)}` : ''}" aria-current=${view === q ? 'true' : nothing}>${name}</a></li>`)}</ul>
      ${words.length > 1 ? html`<ul class="chips terms" aria-label="Terms of the search">${words.map((w, i) => html`<li><a href="#/jobs?q=${encodeURIComponent(words.filter((_, k) => k !== i).join(' '))}" aria-label="Without ${w}">${w} <span aria-hidden="true">✕</span></a></li>`)}</ul>` : nothing}
      ${panel(plural(items.length, 'job') + (rest ? ', and more' : ''), html`${items.length ? table('Jobs', COLUMNS.filter(c => c.always || !away.has(c.name)), items, {to: j => `/jobs/${j.id}`}) : empty(rest ? 'None among the newest that were looked at.' : 'No job matches.', rest ? 'Look further to search older ones.' : 'Qualifiers: id, state, type, queue, group, batch, resource, tag, error, reason, attempt, due, schedule, since, before.')}
      ${rest ? html`<div class="pager"><button type="button" @click=${more}>Look further</button>${own.further ? html` <span class="soft" role="status">None more down to job ${own.further}.</span>` : nothing}</div>` : nothing}`,
        html`<details class="columns"><summary>Columns</summary><div>${COLUMNS.filter(c => !c.always).map(c => html`<label class="check"><input type="checkbox" .checked=${!away.has(c.name)} @change=${e => { hide(c.name, !e.target.checked); update(); }}> ${c.name}</label>`)}</div></details>`)}`;
  },
};

const BULKS = {retry: ['Retry', 'They are brought forward, or put back under their ids.'], cancel: ['Cancel', 'They will not run; workers of running ones are asked to stop.'],
  replay: ['Replay', 'They are put back step by step; an error group can be replayed slowly, with canaries.'], discard: ['Delete', 'They are deleted with their histories. Nothing brings them back.']};

/** Acts on all jobs that match, as an operation of the server: this page may be closed meanwhile. */
export async function bulk(q, action, own, reload) {
  const dry = await send('POST', '/v1/bulks', {action, q, dryRun: true});
  const [name, about] = BULKS[action];
  const many = `${dry.matchedAtLeast ? 'at least ' : ''}${plural(dry.matched, 'job')}`;
  confirmed({
    title: `${name} ${many}?`, about: html`<p>All jobs that match <code>${q}</code>. ${about}</p>`,
    danger: action === 'discard' || action === 'cancel', verb: `${name} them`, typed: dry.matched > 1000 || dry.matchedAtLeast ? dry.matched : undefined,
    run: async ({why}) => { own.bulk = await send('POST', '/v1/bulks', {action, q, why}); await reload(true); },
    done: 'It has begun.',
  });
}

export function bulkView(b, reload) {
  const cancel = () => confirmed({title: 'Change no more jobs?', about: 'What was done stays done.', verb: 'Cancel the bulk', danger: true,
    run: async ({why}) => { await send('POST', path`/v1/bulks/${b.id}/cancel`, {why}); await reload(true); }, done: 'It is cancelled.'});
  return panel(`${BULKS[b.action][0]}: ${b.q}`, html`<p>${state(b.state === 'LOST' ? 'STOPPED' : b.state)} ${plural(b.done, 'job')} changed, ${b.refused} refused, of ${b.matchedAtLeast ? 'at least ' : ''}${b.matched}. ${said(b.note || '')}</p>
    ${gauge('Progress', b.looked, Math.max(1, b.matched, b.looked))}${b.state === 'RUNNING' ? html`<div class="buttons">${act('operate', 'Cancel the bulk …', cancel)}</div>` : nothing}`);
}

const ENDINGS = {SUCCEEDED: 'ok', FAILED: 'bad', LOST: 'warn', INTERRUPTED: 'warn'};
const SHOWN = 100000;

function stored(title, raw, own, update) {
  const json = raw !== undefined && raw !== 'null' ? raw : null;
  if (json === null) return nothing;
  const text = json.startsWith('"') ? JSON.parse(json) : json;
  const shape = own[title] ? text : json.startsWith('"') ? text : indent(text);
  const cut = shape.length > SHOWN && !own[`${title} whole`];
  return panel(title, html`<pre class="payload" tabindex="0" aria-label=${title}><bdi>${cut ? shape.slice(0, SHOWN) : shape}</bdi></pre>
    ${cut ? html`<div class="pager"><button type="button" @click=${() => { own[`${title} whole`] = true; update(); }}>Show all ${plural(shape.length, 'character')}</button></div>` : nothing}`,
    html`<button type="button" class="quiet" @click=${() => { own[title] = !own[title]; update(); }}>${own[title] ? 'Indent' : 'As stored'}</button>${copyButton(text)}`);
}

function actions(job, raw, reload) {
  const done = job.state === 'FAILED' || job.state === 'CANCELLED' || job.state === 'SUCCEEDED';
  const again = async (method, to, body, name) => { const answer = await send(method, to, body); await reload(true); return answer; };
  const retry = () => confirmed({
    title: `Retry job ${job.id}`, verb: 'Retry', done: 'The job is to be retried.',
    about: job.state === 'FAILED' ? 'It goes back into its queue under the same id.' : 'It is brought forward.',
    fields: [{name: 'grant', label: 'Attempts to add', type: 'number', min: 0, value: job.state === 'FAILED' ? 1 : 0},
      {name: 'at', label: 'Not before (your local time; empty is at once)', type: 'datetime-local', step: 1},
      {name: 'backoff', label: 'After the delay of its policy, instead of at once', type: 'checkbox'},
      {name: 'reset', label: 'Start all counters at zero', type: 'checkbox'},
      {name: 'force', label: 'Even if it is not retryable or has spent its attempts', type: 'checkbox', value: job.state === 'FAILED'}],
    run: v => again('POST', path`/v1/jobs/${job.id}/retry`, {grant: +v.grant || 0, backoff: v.backoff, reset: v.reset, force: v.force, why: v.why, ...(v.at ? {at: new Date(v.at).toISOString()} : {})})});
  const cancel = () => confirmed({title: `Cancel job ${job.id}?`, verb: 'Cancel the job', danger: true, done: 'Cancelled.',
    about: job.state === 'RUNNING' ? 'Its worker is asked to stop.' : 'It will not run.',
    run: ({why}) => again('POST', path`/v1/jobs/${job.id}/cancel`, {why})});
  const edit = () => confirmed({title: `Edit and replay job ${job.id}`, verb: 'Replay', done: answer => `Replayed as job ${answer.id}.`,
    fields: [{name: 'payload', label: 'Payload as JSON', type: 'textarea', value: raw},
      {name: 'queue', label: 'Queue', value: job.queue}, {name: 'newId', label: 'As a new job, discarding this one', type: 'checkbox', value: true}],
    run: async v => {
      try { JSON.parse(v.payload); } catch (e) { throw new Error(`The payload is not JSON: ${e.message}`); }
      // The payload is sent as it was typed: reading it as numbers could change them.
      const rest = {newId: v.newId, why: v.why, ...(v.queue !== job.queue ? {queue: v.queue} : {})};
      const answer = await send('POST', path`/v1/dead-letters/${job.id}/replay`, `${JSON.stringify(rest).slice(0, -1)},"payload":${v.payload}}`);
      location.hash = `/jobs/${answer.id}`;
      return answer;
    }});
  const discard = () => confirmed({title: `Delete job ${job.id} for good?`, verb: 'Delete it', danger: true, done: 'Deleted.', about: 'It is deleted with its history.',
    run: async ({why}) => { await send('POST', path`/v1/dead-letters/${job.id}/discard`, {why}); location.hash = '/errors'; }});
  return html`${job.state === 'FAILED' || job.state === 'PENDING' ? act('operate', 'Retry …', retry, 'main') : nothing}
    ${job.state === 'FAILED' ? act('operate', 'Edit and replay …', edit) : nothing}
    ${!done ? act('operate', 'Cancel …', cancel) : nothing}${job.state === 'FAILED' ? act('operate', 'Delete …', discard) : nothing}`;
}

const decisionText = d => {
  if (!d) return nothing;
  const what = d.kind === 'RETRY' ? html`retry after <b>${seconds(parseDuration(d.delay))}</b>${d.rawDelay && d.rawDelay !== d.delay ? html` (${seconds(parseDuration(d.rawDelay))} before jitter)` : nothing}` : d.kind === 'FAIL' ? html`give up: <b>${word(d.reason)}</b>` : d.kind === 'SNOOZE' ? html`snooze for <b>${seconds(parseDuration(d.delay))}</b>` : 'let go';
  return html`<p>Decided: ${what}, by rule <code>${d.rule}</code>${d.failureClass ? html` (${word(d.failureClass)})` : nothing}${d.counts ? '' : ', not counted as an attempt'}. ${d.prediction ? html`Known then: ${chance(d.prediction)}` : nothing}</p>`;
};

const FOLLOW = {SUCCEEDED: 'when it succeeds', FAILED: 'when it is dead'};

/** The batch of a job; for a part of a join, the job that waits for it and those beside it. */
function batchOf(j) {
  if (!j.batch) return '–';
  if (!j.batch.startsWith('#')) return link(`/batches/${encodeURIComponent(j.batch)}`, said(j.batch));
  const parent = j.batch.slice(1).split('/')[0];
  return html`part of a join of ${link(`/jobs/${parent}`, `job ${parent}`)}, ${link(`/jobs?q=${encodeURIComponent(`batch:"${j.batch}"`)}`, 'all its parts')}`;
}

/** The log as it is now. A run that is known is not read again, and nothing is read while the job stays as it was. */
async function logged(id, job, text, {lines, of}, signal) {
  if (text === of && job.state !== 'RUNNING') return {lines, of};
  const from = lines.length ? lines[lines.length - 1].fence : 0;
  const fresh = await get(`${path`/v1/jobs/${id}/log`}${query({from})}`, signal);
  return {lines: [...lines.filter(l => l.fence < from), ...fresh.items], of: text};
}

export const job = {
  title: 'Job',
  every: 2000,
  async load({params: {id}, signal, state: own}) {
    const [text, plan, explain, audit, steps, whole] = await Promise.all([getText(path`/v1/jobs/${id}`, signal), get(path`/v1/jobs/${id}/plan`, signal),
      get(path`/v1/jobs/${id}/explain`, signal), get(path`/v1/audit?job=${id}`, signal), getText(path`/v1/jobs/${id}/steps`, signal), own.log ? null : get(path`/v1/jobs/${id}/log`, signal)]);
    const job = JSON.parse(text);
    // The first log may be older than the job beside it, so it is read once more.
    own.log = whole ? {lines: whole.items} : await logged(id, job, text, own.log, signal);
    return {steps: readSteps(steps), log: own.log.lines, job, payload: rawMember(text, 'payload'), result: rawMember(text, 'result'), policy: rawMember(text, 'policy'), plan, explain, audit: audit.items};
  },
  render({job: j, payload, result, policy, plan, explain, audit, steps, log}, {now, state: own, update, reload}) {
    const history = [...(j.history || [])].reverse();
    const next = plan.planned[0];
    return html`${heading(html`Job ${j.id}`, html`${state(j.state)} ${link(`/jobs?q=${encodeURIComponent(`type:${j.type}`)}`, said(j.type))} in queue ${link(`/queues/${encodeURIComponent(j.queue)}`, said(j.queue))}${j.resource ? html`, calls ${link(`/resources/${encodeURIComponent(j.resource)}`, said(j.resource))}` : nothing}`, actions(j, payload, reload))}
      ${panel('Why', explain.reasons.length > 1 ? html`<p class="why">Job ${j.id}: ${said(named(explain.reasons[0].text))}.</p><p class="soft">Besides:</p><ol class="reasons">${explain.reasons.slice(1).map(r => html`<li>${said(named(r.text))}</li>`)}</ol>` : html`<p class="why">${said(named(explain.sentence))}</p>`, explain.nextAt ? html`next: ${due(explain.nextAt)}` : '')}
      ${panel('Attempts', html`${timeline(j, plan, now)}
        ${plan.planned.length ? html`<p class="soft">${j.state === 'RUNNING' ? 'It runs now' : html`The next attempt is number ${next.attempt}, ${due(next.earliest)}`}${plan.givesUpAfter ? html`; it gives up after attempt ${plan.givesUpAfter}` : '; attempts are not limited'}${plan.deadlineFirst ? ', unless the deadline comes first' : ''}. Later ones assume that each before them fails at once.</p>` : nothing}`,
        html`${j.attempts} of ${j.maxAttempts ?? 'any number'}`)}
      ${stepsView(j, steps, reload)}
      ${logView(log)}
      <div class="two"><div>
        ${panel('History', history.length ? html`<ol class="log">${history.map(a => html`<li class=${ENDINGS[a.ending] || ''}><b>${a.number ? `Attempt ${a.number}` : 'Not counted'}</b> ${state(a.ending === 'SUCCEEDED' ? 'SUCCEEDED' : a.ending === 'FAILED' ? 'FAILED' : 'LOST', word(a.ending))} <span class="soft">${when(a.endedAt)}, ran ${seconds((Date.parse(a.endedAt) - Date.parse(a.startedAt)) / 1000)} on ${said(a.worker)}</span>
          ${a.failure ? html`<p>${link(`/errors/${a.failure.fingerprint}`, shortType(a.failure.type))}${a.failure.httpStatus ? ` (HTTP ${a.failure.httpStatus})` : ''} ${said(a.failure.message)}</p>` : nothing}
          ${decisionText(a.decision)}
          ${a.failure?.trace ? html`<details><summary>Trace</summary><pre tabindex="0">${a.failure.trace}</pre></details>` : nothing}</li>`)}</ol>` : empty('It has not run yet.'))}
        ${panel('Audit', audit.length ? html`<ol class="log">${audit.map(a => html`<li><b>${a.action}</b> by ${said(person(a.by))} ${when(a.at)}${a.why ? html`<br>${said(a.why)}` : nothing}</li>`)}</ol>` : html`<p class="soft">Nobody has touched it.</p>`)}
      </div><div>
        ${panel('Facts', facts([['next attempt', j.state === 'PENDING' ? due(j.dueAt) : '–'], ['waits because', j.waitReason && j.state === 'PENDING' ? word(j.waitReason) : '–'], ['chance of the next attempt', chance(j.prediction)],
          ['created', when(j.createdAt)], ['started', when(j.startedAt)], ['ended', when(j.finishedAt)], ['deadline', j.deadline ? when(j.deadline) : 'none'],
          ['priority', j.priority], ['lost, interrupted, snoozed', `${j.losses}, ${j.interruptions}, ${j.snoozes}`], ['worker', said(j.worker || '–')], ['key', said(j.key || '–')],
          ['group', j.group ? link(`/jobs?q=${encodeURIComponent(`group:"${j.group}"`)}`, said(j.group)) : '–'], ['batch', batchOf(j)], ['follows', j.follows ? link(`/jobs/${j.follows}`, `job ${j.follows}`) : '–'], ['followed by', j.followers?.length ? html`<ul class="plain">${j.followers.map(f => html`<li>${said(f.type)} in ${link(`/queues/${encodeURIComponent(f.queue)}`, said(f.queue))} <small class="soft">${FOLLOW[f.when] || word(f.when)}</small></li>`)}</ul>` : '–'],
          ['schedule', j.schedule ? link(`/schedules/${encodeURIComponent(j.schedule)}`, said(j.schedule)) : '–'], ['timeout', j.timeout || 'none'],
          ['tags', j.tags.length ? j.tags.map(t => html`<a class="tag" href="#/jobs?q=${encodeURIComponent(`tag:${t}`)}">${t}</a>`) : '–'],
          j.progress ? ['progress', html`${j.progress.percent} % ${said(j.progress.message || '')}`] : null]))}
        ${stored('Payload', payload, own, update)}${stored('Result', result, own, update)}${stored('Policy', policy, own, update)}
      </div></div>`;
  },
};
