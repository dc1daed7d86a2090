// SPDX-License-Identifier: Apache-2.0
// Queues, schedules, workers, webhooks, keys, audit, costs.
import {get, path, Problem, query, send} from './net.js';
import {act, confirmed, count, empty, facts, getSession, heading, html, link, nothing, panel, reveal, said, state, table, when, word} from './ui.js';
import {gauge, minutes, spark} from './charts.js';
import {clock, named, number, parseDuration, percent, person, plural, seconds, shortType, steady} from './text.js';

const enc = encodeURIComponent;

/** Rows of a series for each name as lists of as many hours, oldest first. */
export function byName(rows, hours) {
  const last = Math.floor(Date.now() / 3600000);
  const names = new Map();
  rows.forEach(r => {
    const list = names.get(r.name) || names.set(r.name, Array(hours).fill(0)).get(r.name);
    const at = hours - 1 - (last - Math.floor(Date.parse(r.at) / 3600000));
    if (at >= 0 && at < hours) list[at] += r.succeeded + r.failed;
  });
  return names;
}
const counted = (q, name, s) => count(q.counts[s] || 0, `/jobs?q=${enc(`state:${s.toLowerCase()} queue:${name}`)}`, q.countsAtLeast.includes(s));

function queueActions(q, reload) {
  const run = (action, body) => async ({why}) => { await send('POST', path`/v1/queues/${q.name}/${action}`, {why, ...body}); await reload(true); };
  const limit = () => confirmed({title: `Limit of queue ${q.name}`, verb: 'Set it', done: 'The limit is set.',
    about: 'So many jobs of this queue run at once in the whole fleet. Empty is no limit.',
    fields: [{name: 'maxRunning', label: 'Jobs at once', type: 'number', min: 1, value: q.maxRunning ?? ''}],
    run: async v => { await send('PUT', path`/v1/queues/${q.name}`, {maxRunning: v.maxRunning ? +v.maxRunning : null, why: v.why}); await reload(true); }});
  return html`${q.paused
    ? act('operate', 'Resume …', () => confirmed({title: `Resume queue ${q.name}?`, verb: 'Resume', about: `${plural(q.depth, 'job waits', 'jobs wait')}.`, run: run('resume'), done: 'The queue goes on.'}))
    : act('operate', 'Pause …', () => confirmed({title: `Pause queue ${q.name}?`, verb: 'Pause', about: `No job of it is started until it is resumed; ${plural(q.counts.RUNNING || 0, 'running job goes', 'running jobs go')} on.`, run: run('pause'), done: 'The queue is paused.'}))}
    ${act('operate', 'Limit …', limit)}`;
}

const PLACES = {queue: '/queues/', resource: '/resources/', type: '/jobs?q=type%3A'};

/** The reasons why jobs of a queue or type wait, each with a link to what can change it. */
export const waitView = why => html`<p class="why">${said(why.reasons.length ? why.looked ? 'The first of these that is true decides:' : why.sentence : why.sentence)}</p>
  ${why.reasons.length ? html`<ol class="reasons">${why.reasons.map(r => html`<li>${said(named(r.text))}${r.jobs && !/^[\d,]+ job/.test(r.text) ? html` <small class="soft">(${plural(r.jobs, 'job')})</small>` : nothing}${r.subject === 'worker' ? html` ${link('/workers', 'workers')}` : r.subject && r.name && location.hash !== `#${PLACES[r.subject]}${enc(r.name)}` ? html` ${link(PLACES[r.subject] + enc(r.name), `open ${r.subject}`)}` : nothing}</li>`)}</ol>` : nothing}`;

export const queues = {
  title: 'Queues', every: 3000,
  async load({signal}) {
    const [page, series] = await Promise.all([get('/v1/queues', signal), get('/v1/series?of=queue&step=1h&periods=24&each=true', signal)]);
    return {...page, hours: byName(series.items, 24)};
  },
  merge(old, fresh) {
    const now = new Map(fresh.items.map(q => [q.name, q]));
    const known = new Set(old.items.map(q => q.name));
    return {data: {...fresh, items: old.items.map(q => now.get(q.name) || q)}, fresh: fresh.items.filter(q => !known.has(q.name)).length};
  },
  render: ({items, hours}, {reload}) => html`${heading('Queues', 'Where jobs wait until a worker takes them. Ended jobs are counted as long as they are kept.')}${panel(plural(items.length, 'queue'), items.length ? table('Queues', [
    {name: 'queue', cell: q => html`${link(`/queues/${enc(q.name)}`, said(q.name))}${q.paused ? html`<br>${state('HALF_OPEN', 'paused')} <small class="soft">${said(q.pausedWhy || '')}</small>` : nothing}`},
    {name: 'waiting', num: true, cell: q => counted(q, q.name, 'PENDING')}, {name: 'running', num: true, cell: q => html`${counted(q, q.name, 'RUNNING')}${q.maxRunning ? html` <small class="soft">of ${q.maxRunning}</small>` : nothing}`},
    {name: 'dead', num: true, cell: q => counted(q, q.name, 'FAILED')}, {name: 'done', num: true, cell: q => counted(q, q.name, 'SUCCEEDED')},
    {name: 'attempts, 24 h', cell: q => spark(hours.get(q.name) || Array(24).fill(0), `Attempts of ${q.name} by hour, last 24 hours: ${(hours.get(q.name) || []).reduce((a, b) => a + b, 0)}`)},
    {name: 'oldest due', num: true, cell: q => q.oldestAge ? seconds(parseDuration(q.oldestAge)) : '–'},
    {name: '', cell: q => html`<div class="rowacts">${queueActions(q, reload)}</div>`},
  ], items, {to: q => `/queues/${enc(q.name)}`}) : empty('There is no queue yet.', 'A queue appears with its first job.'))}`,
};

/** Groups are counted job by job, so they are asked for less often than the rest of the page. */
const COUNT_EVERY = 15000;
const SHOWN_GROUPS = 20;

/** The settings of a queue with needs are those of the queue that its jobs name. A key of a tenant does not see settings. */
async function queueSettings(name, signal) {
  if (getSession()?.tenant) return null;
  try {
    const {queues: all = {}} = await get('/v1/settings', signal);
    return all[name] || all[name.split('@needs:')[0]] || {};
  } catch (e) {
    if (e instanceof Problem) return null;
    throw e;
  }
}

async function shares(name, own, signal) {
  if (!own.shares || Date.now() - own.countedAt > COUNT_EVERY) {
    const [groups, limits, told, {items}] = await Promise.all([get(path`/v1/queues/${name}/groups`, signal), queueSettings(name, signal), get(path`/v1/queues/${name}/limits`, signal), get('/v1/queues', signal)]);
    own.shares = {groups, limits: {...limits, items: told.items}, beside: items.filter(q => q.name.startsWith(`${name}@needs:`))};
    own.countedAt = Date.now();
  }
  return own.shares;
}

/** A limit in words. */
const limitWords = l => [l.inOrder ? 'one after the other, in order' : '', l.running ? `at most ${number(l.running)} at once` : '',
  l.starts ? `${plural(l.starts, 'start')} per ${seconds(parseDuration(l.per))}${l.burst ? `, ${number(l.burst)} at once after a pause` : ''}` : ''].filter(Boolean).join('; ') || 'no limit';

/** One row for each limit and weight of a queue: what it is of, and the limit in words. */
function limitRows(q, limits) {
  const whose = l => l.of === 'QUEUE' ? 'the queue' : l.name === '*' ? `each ${l.of.toLowerCase()}` : html`${l.of.toLowerCase()} ${said(l.name)}`;
  return [...(q.maxRunning ? [{of: 'the queue', text: limitWords({running: q.maxRunning}), from: 'the queue'}] : []),
    ...limits.items.map(l => ({of: whose(l), text: limitWords(l), from: l.workers ? `the code of ${plural(l.workers, 'worker')}` : 'the settings'})),
    ...Object.entries(limits.weights || {}).map(([name, w]) => ({of: html`group ${said(name)}`, text: `${plural(w, 'job')} per turn`, from: 'the settings'}))];
}

function limitsPanel(q, limits) {
  const rows = limitRows(q, limits);
  return rows.length ? panel('Limits', table('Limits', [{name: 'of', cell: r => r.of}, {name: 'limit', wide: true, cell: r => r.text}, {name: 'set in', cell: r => r.from}], rows), 'the settings come before the code; weights in the code are not listed') : nothing;
}

function levelPanel(groups, limits) {
  if (!limits?.startWithin && !groups.started) return nothing;
  const kind = groups.inTime < 0.95 ? 'bad' : 'ok';
  return panel('Service level', html`<p>${limits?.startWithin ? html`Jobs should start within <b>${seconds(parseDuration(limits.startWithin))}</b> after they are due${limits.lateFirst ? '; late ones come first' : ''}. ` : nothing}${groups.started
    ? html`<b>${percent(groups.inTime)}</b> of ${plural(groups.started, 'job')} started in time, ${number(groups.late)} late.` : 'No job has started yet.'}</p>
    ${groups.started ? gauge('Started in time', groups.started - groups.late, groups.started, {kind, mark: 0.95 * groups.started, text: percent(groups.inTime)}) : nothing}`, 'last 24 hours');
}

function groupsPanel(q, groups) {
  const shown = groups.items.slice(0, SHOWN_GROUPS);
  const most = Math.max(1, ...shown.map(g => g.jobs));
  return shown.length ? panel('Groups', html`${table('Groups with most jobs', [
    {name: 'group', cell: g => link(`/jobs?q=${enc(`group:"${g.group}"`)}`, said(g.group))}, {name: 'jobs', num: true, cell: g => count(g.jobs, `/jobs?q=${enc(`state:pending,running queue:${q.name} group:"${g.group}"`)}`)},
    {name: 'of the largest', cell: g => gauge(`Jobs of ${g.group}`, g.jobs, most)},
    ...(groups.started ? [{name: 'started, 24 h', num: true, cell: g => number(g.started)}, {name: 'late', num: true, cell: g => number(g.late)}] : []),
  ], shown)}<p class="soft">Groups of a queue take turns.</p>`, groups.items.length > shown.length ? `the ${SHOWN_GROUPS} with most jobs` : 'most jobs first') : nothing;
}

/** Jobs that need something of their worker wait in queues of their own. */
const besidePanel = beside => beside.length ? panel('Jobs with needs', table('Queues of jobs with needs', [{name: 'they need', cell: b => html`${link(`/queues/${enc(b.name)}`, b.name.split('@needs:')[1].split(':').join(', '))}`},
  {name: 'waiting', num: true, cell: b => counted(b, b.name, 'PENDING')}, {name: 'running', num: true, cell: b => counted(b, b.name, 'RUNNING')}, {name: 'dead', num: true, cell: b => counted(b, b.name, 'FAILED')}], beside, {to: b => `/queues/${enc(b.name)}`}), 'a pause of this queue holds for them too') : nothing;

const STATES = {PENDING: 'waiting', RUNNING: 'running', FAILED: 'dead', SUCCEEDED: 'succeeded', CANCELLED: 'cancelled'};

const aboutCount = (q, s) => s === 'PENDING' ? q.oldestAge ? `the oldest is due for ${seconds(parseDuration(q.oldestAge))}` : 'none is due' : s === 'RUNNING' ? q.maxRunning ? `of at most ${number(q.maxRunning)}` : 'in the whole fleet' : 'that are kept';

export const queue = {
  title: 'Queue', every: 3000,
  async load({params: {name}, signal, state: own}) {
    const [q, jobs, workers, why, series, shared] = await Promise.all([get(path`/v1/queues/${name}`, signal), get(path`/v1/jobs?queue=${name}&limit=20`, signal), get('/v1/workers', signal),
      get(path`/v1/queues/${name}/explain`, signal), get(path`/v1/series?of=queue&name=${name}&periods=60`, signal), shares(name, own, signal)]);
    return {q, ...shared, jobs: jobs.items, why, series: series.items, workers: workers.items.filter(w => w.queues.length === 0 || w.queues.includes(name) || w.queues.some(p => p.endsWith('*') && name.startsWith(p.slice(0, -1))))};
  },
  merge(old, fresh) {
    const jobs = steady(old.jobs, fresh.jobs);
    return {data: {...fresh, jobs: jobs.items}, fresh: jobs.fresh};
  },
  render: ({q, groups, limits, beside, jobs, why, series, workers}, {reload}) => html`${heading(html`Queue ${said(q.name)}`, q.paused ? html`Paused by ${said(person(q.pausedBy))} ${when(q.pausedAt)}: ${said(q.pausedWhy || 'no reason given')}` : 'Open: workers may take its jobs.', queueActions(q, reload))}
    <div class="tiles">${Object.keys(STATES).map(s => html`<a class="tile" href="#/jobs?q=${enc(`state:${s.toLowerCase()} queue:${q.name}`)}"><span>${STATES[s]}</span><b>${q.countsAtLeast.includes(s) ? '≥ ' : ''}${number(q.counts[s] || 0)}</b><small>${aboutCount(q, s)}</small></a>`)}</div>
    ${panel('Why do its jobs wait?', waitView(why), why.looked ? (why.more ? `of the newest ${why.looked} that wait` : `of all ${why.looked} that wait`) : '')}
    ${series.some(s => s.succeeded || s.failed) ? panel('The last hour', minutes(`Attempts of this queue by minute: ${number(series.reduce((s, x) => s + x.succeeded, 0))} succeeded, ${number(series.reduce((s, x) => s + x.failed, 0))} failed`, series, [{key: 'succeeded', name: 'succeeded', kind: 'ok'}, {key: 'failed', name: 'failed', kind: 'bad'}]), 'attempts per minute') : nothing}
    ${groupsPanel(q, groups)}${besidePanel(beside)}
    <div class="grid2">${levelPanel(groups, limits)}${limitsPanel(q, limits)}</div>
    ${panel('Workers that serve it', workers.length ? html`<p>${workers.map(w => html`<span class="tag">${said(w.name)} ${w.holding}/${w.concurrency}</span>`)}</p>` : html`<p>${state('OPEN', 'none')} No live worker serves this queue.</p>`)}
    ${panel('Newest jobs', jobs.length ? table('Newest jobs', [{name: 'job', cell: j => link(`/jobs/${j.id}`, j.id)}, {name: 'type', cell: j => said(j.type)}, {name: 'state', cell: j => state(j.state)}, {name: 'created', cell: j => when(j.createdAt)}], jobs, {to: j => `/jobs/${j.id}`}) : empty('None.'))}`,
};

const rule = s => s.cron ? html`<code>${s.cron}</code> <small class="soft">${s.zone}</small>` : s.every ? html`every ${seconds(parseDuration(s.every))}` : html`${seconds(parseDuration(s.fixedDelay))} after its last job`;

function scheduleActions(s, reload) {
  const run = action => async ({why}) => { const answer = await send('POST', path`/v1/schedules/${s.name}/${action}`, {why}); await reload(true); return answer; };
  return html`${act('operate', 'Trigger …', () => confirmed({title: `Run ${s.name} now?`, verb: 'Run it now', about: 'It makes one job now; the next run stays as planned.', run: run('trigger'), done: answer => `Job ${answer.id} was made.`}))}
    ${s.paused ? act('operate', 'Resume …', () => confirmed({title: `Resume ${s.name}?`, verb: 'Resume', run: run('resume'), done: 'It fires again.'}))
      : act('operate', 'Pause …', () => confirmed({title: `Pause ${s.name}?`, verb: 'Pause', about: 'It does not fire until it is resumed.', run: run('pause'), done: 'It is paused.'}))}`;
}

export const schedules = {
  title: 'Schedules', every: 10000,
  load: ({signal}) => get('/v1/schedules', signal),
  render: ({items}, {reload}) => html`${heading('Schedules', 'Jobs that come by the clock.')}${panel(plural(items.length, 'schedule'), items.length ? table('Schedules', [
    {name: 'schedule', cell: s => html`${link(`/schedules/${enc(s.name)}`, said(s.name))}${s.paused ? html`<br>${state('HALF_OPEN', 'paused')}` : nothing}`},
    {name: 'when', cell: rule}, {name: 'next', cell: s => s.paused ? '–' : s.nextAt ? when(s.nextAt) : 'ended'}, {name: 'job', cell: s => said(s.job.type)},
    {name: 'last job', cell: s => s.lastJob ? link(`/jobs/${s.lastJob}`, s.lastJob) : '–'}, {name: 'missed', cell: s => word(s.missed)},
    {name: '', cell: s => html`<div class="rowacts">${scheduleActions(s, reload)}</div>`},
  ], items, {to: s => `/schedules/${enc(s.name)}`}) : empty('There is no schedule.', 'PUT /v1/schedules/{name} makes one; so does reprise.schedule in Java.'))}`,
};

export const schedule = {
  title: 'Schedule', every: 10000,
  async load({params: {name}, signal}) {
    const [s, next, jobs] = await Promise.all([get(path`/v1/schedules/${name}`, signal), get(path`/v1/schedules/${name}/next?count=10`, signal), get(path`/v1/jobs?schedule=${name}&limit=20`, signal)]);
    return {s, next: next.items, jobs: jobs.items};
  },
  render: ({s, next, jobs}, {reload}) => html`${heading(html`Schedule ${said(s.name)}`, rule(s), scheduleActions(s, reload))}
    <div class="grid2">${panel('Next ten firings', s.paused ? empty('It is paused.') : !next.length ? empty('It has ended.') : html`<ol class="log">${next.map(t => html`<li>${when(t)} <span class="soft num">${clock(t)}</span></li>`)}</ol>`)}
    ${panel('What it makes', facts([['type', said(s.job.type)], ['queue', said(s.job.queue || 'default')], ['if firings were missed', word(s.missed)], ['while the last one runs', s.overlap ? 'fires all the same' : s.fixedDelay ? 'waits for its end' : 'skips'], ['from', s.start ? clock(s.start) : '–'], ['until', s.end ? clock(s.end) : '–'], ['spread over', s.jitter === '0s' || s.jitter === 'PT0S' ? '–' : seconds(parseDuration(s.jitter))]]))}</div>
    ${panel('Its jobs', jobs.length ? table('Jobs of this schedule', [{name: 'job', cell: j => link(`/jobs/${j.id}`, j.id)}, {name: 'state', cell: j => state(j.state)}, {name: 'created', cell: j => when(j.createdAt)}, {name: 'attempts', num: true, cell: j => j.attempts}], jobs, {to: j => `/jobs/${j.id}`}) : empty('It has not fired yet.'))}`,
};

export const workers = {
  title: 'Workers', every: 3000,
  load: ({signal}) => get('/v1/workers', signal),
  render: ({items}) => html`${heading('Workers', 'Those that reported within the last 30 seconds.')}${panel(plural(items.length, 'worker'), items.length ? table('Workers', [
    {name: 'worker', cell: w => said(w.name)}, {name: 'queues', cell: w => w.queues.length ? w.queues.map(q => html`<span class="tag">${q}</span>`) : 'all'},
    {name: 'types', cell: w => w.types.length ? w.types.map(t => html`<span class="tag">${t}</span>`) : '–'},
    {name: 'in hand', num: true, cell: w => `${w.holding} / ${w.concurrency}`}, {name: 'load', cell: w => gauge(`Load of ${w.name}`, w.holding, Math.max(1, w.concurrency))},
    {name: 'since', cell: w => when(w.since)}, {name: 'seen', cell: w => when(w.seenAt)},
  ], items) : empty('No worker is alive.', 'Jobs wait until one starts.'))}`,
};

const hookState = w => w.enabled ? state('CLOSED', 'on') : html`${state('OPEN', 'off')} <small class="soft">${said(w.disabledBecause)}</small>`;

export const webhooks = {
  title: 'Webhooks', every: 10000,
  load: ({signal}) => get('/v1/webhooks', signal),
  render: ({items}, {reload}) => html`${heading('Webhooks', 'Where the steps of jobs are sent.', act('operate', 'Subscribe …', () => confirmed({title: 'A new subscription', verb: 'Subscribe',
    fields: [{name: 'url', label: 'URL', required: true, value: 'https://'}, {name: 'description', label: 'What is it for?', max: 200}],
    run: async v => { const made = await send('POST', `/v1/webhooks${query({why: v.why})}`, {url: v.url, ...(v.description ? {description: v.description} : {})}); await reload(true); reveal('The signing secret', 'It is shown this once.', made.secret || made.signingSecret || ''); }}), 'main'))}
    ${panel(plural(items.length, 'subscription'), items.length ? table('Webhooks', [
      {name: 'URL', wide: true, cell: w => html`${link(`/webhooks/${enc(w.id)}`, said(w.url))}<br><small class="soft">${said(w.description || '')}</small>`},
      {name: 'events', cell: w => w.events.length ? w.events.map(e => html`<span class="tag">${e}</span>`) : 'all'},
      {name: 'state', cell: hookState}, {name: 'created', cell: w => when(w.createdAt)},
    ], items, {to: w => `/webhooks/${enc(w.id)}`}) : empty('Nobody is subscribed.'))}`,
};

export const webhook = {
  title: 'Webhook', every: 3000,
  async load({params: {id}, signal}) {
    const [w, deliveries] = await Promise.all([get(path`/v1/webhooks/${id}`, signal), get(path`/v1/webhooks/${id}/deliveries`, signal)]);
    return {w, deliveries: deliveries.items};
  },
  render: ({w, deliveries}, {reload}) => html`${heading(said(w.url), html`${hookState(w)} ${said(w.description || '')}`, html`
      ${act('operate', 'Ping …', () => confirmed({title: 'Send a ping?', why: false, verb: 'Send', run: async () => { await send('POST', path`/v1/webhooks/${w.id}/ping`); await reload(true); }, done: 'The ping is on its way.'}))}
      ${act('operate', 'New secret …', () => confirmed({title: 'Make a new secret?', about: 'The old one signs along for 24 hours.', verb: 'Make it', run: async ({why}) => { const made = await send('POST', `${path`/v1/webhooks/${w.id}/rotate-secret`}${query({why})}`, {}); reveal('The new secret', 'It is shown this once.', made.secret || ''); }}))}
      ${act('operate', 'Unsubscribe …', () => confirmed({title: 'Unsubscribe?', danger: true, about: 'What waits is not sent.', verb: 'Unsubscribe', run: async ({why}) => { await send('DELETE', `${path`/v1/webhooks/${w.id}`}${query({why})}`); location.hash = '/webhooks'; }}))}`)}
    ${panel('Deliveries', deliveries.length ? table('Deliveries', [{name: 'delivery', cell: d => link(`/jobs/${d.id}`, d.id)}, {name: 'event', cell: d => d.event || ''}, {name: 'job', cell: d => d.jobId ? link(`/jobs/${d.jobId}`, d.jobId) : ''},
      {name: 'state', cell: d => state(d.state)}, {name: 'attempts', num: true, cell: d => d.attempts}, {name: 'error', wide: true, cell: d => html`<span class="clip">${said(d.error || '')}</span>`}, {name: 'created', cell: d => when(d.createdAt)},
      {name: '', cell: d => act('operate', 'Send again …', () => confirmed({title: 'Send it again?', verb: 'Send', run: async ({why}) => { await send('POST', `${path`/v1/webhooks/${w.id}/deliveries/${d.id}/redeliver`}${query({why})}`); await reload(true); }, done: 'It is sent again.'}), 'quiet')},
    ], deliveries) : empty('Nothing was sent yet.'))}`,
};

const SCOPES = ['read', 'enqueue', 'work', 'operate', 'admin'];

export const keys = {
  title: 'Keys', every: 15000,
  load: ({signal}) => get('/v1/keys', signal),
  render: ({items}, {reload}) => html`${heading('Keys', 'Who may do what. A secret is shown once.', act('admin', 'Make a key …', () => confirmed({title: 'A new key', verb: 'Make it',
    fields: [{name: 'name', label: 'Name', required: true, max: 100}, {name: 'tenant', label: 'Tenant (optional)', max: 32}, ...SCOPES.map(s => ({name: s, label: s, type: 'checkbox', value: s === 'read'}))],
    run: async v => { const made = await send('POST', '/v1/keys', {name: v.name, scopes: SCOPES.filter(s => v[s]), ...(v.tenant ? {tenant: v.tenant} : {}), why: v.why}); await reload(true); reveal('The key', 'It is shown this once and stored nowhere.', made.key); }}), 'main'))}
    ${panel(plural(items.length, 'key'), table('Keys', [
      {name: 'name', cell: k => html`${said(k.name)}<br><small class="soft mono">${k.id}</small>`}, {name: 'scopes', cell: k => k.scopes.map(s => html`<span class="tag">${s}</span>`)}, {name: 'tenant', cell: k => said(k.tenant || 'all')},
      {name: 'owner', cell: k => said(k.owner || '–')}, {name: 'last used', cell: k => when(k.lastUsedAt)}, {name: 'expires', cell: k => k.expiresAt ? when(k.expiresAt) : 'never'},
      {name: '', cell: k => html`<div class="rowacts">${act('admin', 'New secret …', () => confirmed({title: `A new secret for ${k.name}`, verb: 'Make it', about: 'Sessions of the old secret end with it.', fields: [{name: 'grace', label: 'The old one counts for another', value: '1h'}],
        run: async v => { const made = await send('POST', path`/v1/keys/${k.id}/rotate`, {grace: v.grace || '0s', why: v.why}); reveal('The key', 'It is shown this once.', made.key); }}))}
        ${act('admin', 'Revoke …', () => confirmed({title: `Revoke ${k.name}?`, danger: true, verb: 'Revoke it', about: 'Its requests are refused from now on, and its sessions end.', run: async ({why}) => { await send('DELETE', `${path`/v1/keys/${k.id}`}${query({why})}`); await reload(true); }, done: 'It is revoked.'}))}</div>`},
    ], items))}`,
};

const SUBJECTS = {breaker: '/resources/', policy: '/policies/', webhook: '/webhooks/'};
/** What an action is done to, if its subject is a name alone. */
const OBJECTS = {pause: 'queue', resume: 'queue', limit: 'queue', 'put-schedule': 'schedule', 'pause-schedule': 'schedule', 'resume-schedule': 'schedule', 'trigger-schedule': 'schedule'};

/** What an entry of the audit log is about, as a link where its text says what it is. */
function subject(e) {
  if (e.job) return link(`/jobs/${e.job}`, `job ${e.job}`);
  if (OBJECTS[e.action]) return link(`/${OBJECTS[e.action]}s/${enc(e.subject)}`, html`${OBJECTS[e.action]} ${said(e.subject)}`);
  const [kind, name] = String(e.subject || '').split(/\/(.*)/s);
  // The rest is the hash of the session: it tells a reader nothing.
  if (kind === 'session') return kind;
  return SUBJECTS[kind] && name ? link(SUBJECTS[kind] + enc(name), said(e.subject)) : said(e.subject || '');
}

export const audit = {
  title: 'Audit', every: 5000,
  load: ({signal, state: own}) => { own.more = own.more || []; return get('/v1/audit?limit=100', signal); },
  merge(old, fresh) {
    const first = old.items[0]?.at || '';
    const added = fresh.items.filter(e => e.at > first).length;
    return {data: old, fresh: added};
  },
  render(page, {state: own, update, signal}) {
    const next = own.next === undefined ? page.next : own.next;
    const more = async () => { const p = await get(`/v1/audit${query({limit: 100, cursor: next})}`, signal); own.more = [...own.more, ...p.items]; own.next = p.next; update(); };
    const items = [...page.items, ...own.more];
    return html`${heading('Audit', 'What was done by hand: by whom, when and why.')}${panel('Entries', html`${items.length ? table('Audit log', [
      {name: 'when', cell: e => when(e.at)}, {name: 'who', cell: e => said(person(e.by))}, {name: 'what', cell: e => html`<span class="whole">${e.action}</span>`},
      {name: 'to', wide: true, cell: e => html`${subject(e)}${e.detail ? html`<small class="soft clip">${said(e.detail)}</small>` : nothing}`}, {name: 'why', wide: true, cell: e => said(e.why || '')},
    ], items) : empty('Nothing was done by hand yet.')}${next ? html`<div class="pager"><button type="button" @click=${more}>Older</button></div>` : nothing}`)}`;
  },
};

const SINCE = ['1d', '7d', '31d'];

/** Rows of hours as rows of days. */
const days = rows => [...rows.reduce((map, r) => { const at = r.at.slice(0, 10); const d = map.get(at) || map.set(at, {at: r.at, retries: 0, dead: 0}).get(at); d.retries += r.retries; d.dead += r.dead; return map; }, new Map()).values()];

/** Costs in time, summed by type or resource, the dearest first. */
const sums = (entries, of) => [...entries.filter(e => e.unit === 'seconds').reduce((map, e) => { const s = map.get(e[of]) || map.set(e[of], {name: e[of], runs: 0, amount: 0, wasted: 0}).get(e[of]); s.runs += e.runs; s.amount += e.amount; s.wasted += e.wasted; return map; }, new Map()).values()].sort((a, b) => b.amount - a.amount).slice(0, 20);

export const costs = {
  title: 'Costs', every: 10000,
  async load({signal, search}) {
    const since = search.get('since') || '7d';
    const [stats, series] = await Promise.all([get(`/v1/stats${query({since})}`, signal), get(`/v1/series?step=1h&periods=${since === '1d' ? 24 : since === '7d' ? 168 : 744}`, signal)]);
    return {stats, series: series.items};
  },
  render({stats, series}, {search}) {
    const since = search.get('since') || '7d';
    const c = stats.costs;
    if (!c) return html`${heading('Costs')}${panel('Costs', empty('Costs are kept for the whole fleet.', 'A key of a tenant does not see them.'))}`;
    const scope = `last ${seconds(parseDuration(since))}, whole fleet`;
    const retries = c.entries.filter(e => e.error);
    const sorted = [...retries].sort((a, b) => b.wasted - a.wasted);
    return html`${heading('Costs', c.sentence)}
      <ul class="chips" aria-label="How far back">${SINCE.map(s => html`<li><a href="#/costs?since=${s}" aria-current=${s === since ? 'true' : nothing}>${seconds(parseDuration(s))}</a></li>`)}</ul>
      <div class="tiles"><div class="tile"><span>jobs</span><b>${number(c.jobs)}</b><small>${scope}</small></div><div class="tile"><span>retries</span><b>${number(c.retries)}</b><small>${scope}</small></div><div class="tile"><span>jobs saved by retries</span><b>${number(c.saved)}</b><small>${scope}</small></div>
        <div class="tile"><span>time of retries</span><b>${seconds(parseDuration(c.retryTime))}</b><small>of workers, ${scope}</small></div><div class="tile ${parseDuration(c.wastedRetryTime) ? 'warn' : ''}"><span>of it for nothing</span><b>${seconds(parseDuration(c.wastedRetryTime))}</b><small>of runs that failed again</small></div></div>
      ${series.some(r => r.retries) ? panel('Trend', minutes(`Retries that were scheduled: ${number(series.reduce((s, x) => s + x.retries, 0))}`, since === '1d' ? series : days(series), [{key: 'retries', name: 'retries', kind: 'warn'}, {key: 'dead', name: 'dead letters', kind: 'bad'}], since === '1d' ? 'hour' : 'day'), `${since === '1d' ? 'by hour' : 'by day'}, whole fleet`) : nothing}
      <div class="grid2">${['type', 'resource'].map(of => panel(`By ${of}`, sums(retries, of).length ? table(`Time of retries by ${of}`, [{name: of, cell: e => e.name ? link(of === 'type' ? `/jobs?q=${enc(`type:${e.name}`)}` : `/resources/${enc(e.name)}`, said(e.name)) : 'none named'}, {name: 'retries', num: true, cell: e => number(e.runs)}, {name: 'time', num: true, cell: e => seconds(e.amount)}, {name: 'for nothing', num: true, cell: e => seconds(e.wasted)}], sums(retries, of)) : empty('No retry was needed.'), 'time of runs'))}</div>
      ${panel('What burns most', sorted.length ? table('Costs of retries by error', [
        {name: 'error', cell: e => link(`/errors/${e.error}`, shortType(e.errorType) || e.error)}, {name: 'type', cell: e => said(e.type)}, {name: 'resource', cell: e => said(e.resource || '–')}, {name: 'unit', cell: e => said(e.unit)},
        {name: 'retries', num: true, cell: e => number(e.runs)}, {name: 'helped', num: true, cell: e => e.runs ? percent(e.successes / e.runs) : '–'}, {name: 'cost', num: true, cell: e => number(e.amount)}, {name: 'for nothing', num: true, cell: e => number(e.wasted)},
      ], sorted, {to: e => `/errors/${e.error}`}) : empty('No retry was needed.'))}`;
  },
};
