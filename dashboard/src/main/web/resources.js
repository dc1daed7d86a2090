// SPDX-License-Identifier: Apache-2.0
import {get, path, send} from './net.js';
import {byName} from './fleet.js';
import {act, confirmed, count, due, empty, facts, heading, html, link, nothing, panel, said, state, table, when} from './ui.js';
import {bars, curves, gauge, minutes, phases, spark} from './charts.js';
import {lasted, named, number, parseDuration, percent, plural, seconds, steady} from './text.js';

/** A resource of which the fleet has nothing to tell: its breaker is closed, its budget full. */
const quiet = name => ({name, quiet: true, phase: 'CLOSED', why: '', since: null, nextProbe: null, ramp: null, budget: null, parked: 0, forcedBy: null, calls: null});

const level = b => gauge('Retry budget', Math.max(0, b.level), b.capacity, {kind: b.level < 14 ? 'bad' : 'ok', text: `${number(b.level)} of ${number(b.capacity)} credits`});

export const resources = {
  title: 'Resources',
  every: 2000,
  // Resources that were called and have nothing to tell are closed; the API does not list them.
  async load({signal}) {
    const [page, series] = await Promise.all([get('/v1/resources', signal), get('/v1/series?of=resource&step=1h&periods=24&each=true', signal)]);
    const hours = byName(series.items, 24);
    const known = new Set(page.items.map(r => r.name));
    return {items: [...page.items, ...[...hours.keys()].filter(name => !known.has(name) && name !== 'other').map(quiet)], hours};
  },
  merge(old, fresh) {
    const now = new Map(fresh.items.map(r => [r.name, r]));
    const known = new Set(old.items.map(r => r.name));
    return {data: {...fresh, items: old.items.map(r => now.get(r.name) || quiet(r.name))}, fresh: fresh.items.filter(r => !known.has(r.name)).length};
  },
  render: page => html`${heading('Resources', 'What jobs call. Each has a breaker and a retry budget, the same for the whole fleet.')}
    ${panel(plural(page.items.length, 'resource'), page.items.length ? table('Resources', [
      {name: 'resource', cell: r => link(`/resources/${encodeURIComponent(r.name)}`, said(r.name))},
      {name: 'breaker', cell: r => html`${state(r.phase)}${r.forcedBy ? html`<br><small class="soft">forced</small>` : nothing}`},
      {name: 'for', cell: r => r.since ? lasted(r.since) : ''},
      {name: 'parked', num: true, cell: r => count(r.parked, `/jobs?q=${encodeURIComponent(`state:pending reason:breaker resource:${r.name}`)}`)},
      {name: 'next probe', cell: r => r.nextProbe ? due(r.nextProbe) : ''},
      {name: 'retry budget', cell: r => r.budget ? level(r.budget) : 'full'},
      {name: 'calls, 24 h', cell: r => spark(page.hours.get(r.name) || Array(24).fill(0), `Calls of ${r.name} by hour, last 24 hours: ${(page.hours.get(r.name) || []).reduce((a, b) => a + b, 0)}`)},
      {name: 'why', wide: true, cell: r => said(named(r.why))},
    ], page.items, {to: r => `/resources/${encodeURIComponent(r.name)}`}) : empty('No resource is known yet.', 'A job names what it calls with resource; its breaker appears here.'))}`,
};

const PHASES = {BREAKER_OPENED: 'OPEN', BREAKER_HALF_OPENED: 'HALF_OPEN', BREAKER_RAMPING: 'RAMPING', BREAKER_CLOSED: 'CLOSED'};
const CHANGES = {BREAKER_OPENED: 'opened', BREAKER_HALF_OPENED: 'sent a probe', BREAKER_RAMPING: 'let jobs go slowly', BREAKER_CLOSED: 'closed', RESOURCE_BUDGET_EMPTIED: 'its retry budget was empty', BUDGET_EMPTIED: 'the retry budget of all was empty'};

/** The phases of the last hour, or further back if the breaker changed little. What is now comes from the breaker itself. */
export function phaseStrip(r, history, now) {
  const changes = history.filter(c => PHASES[c.kind]).map(c => ({phase: PHASES[c.kind], at: c.at})).reverse();
  const last = changes[changes.length - 1];
  if (!last || last.phase !== r.phase) changes.push({phase: r.phase, at: r.since || new Date(now).toISOString()});
  const hour = now - 3600000;
  const late = changes.filter(c => Date.parse(c.at) >= hour);
  // Trouble of the last hour fills the strip; without any it shows as far back as something changed.
  const begin = late.length ? Date.parse(late[0].at) : changes.length ? Math.max(Date.parse(changes[0].at), now - 31 * 86400000) : hour;
  const recent = Math.min(now - 60000, begin - (now - begin) / 8);
  const before = changes.filter(c => Date.parse(c.at) <= recent).pop();
  const items = changes.filter(c => Date.parse(c.at) > recent);
  return {items: [before ? {...before, at: new Date(recent).toISOString()} : {phase: 'CLOSED', at: new Date(recent).toISOString()}, ...items], from: recent, about: `the last ${seconds((now - recent) / 1000)}`};
}

function failureShare(rows) {
  const failed = rows.reduce((s, r) => s + r.failed, 0), all = failed + rows.reduce((s, r) => s + r.succeeded, 0);
  return all ? `${percent(failed / all)} of ${plural(all, 'call')} failed` : 'no call is reported';
}

/** What a closed breaker counts, against what would open it. */
function callsView(r, series) {
  const c = r.calls;
  if (r.phase !== 'CLOSED') return html`<p class="why">Of the last 10 minutes, ${failureShare(series.slice(-10))}.</p><p class="soft">What would open it is not counted while the breaker holds jobs back${r.why ? html`: ${said(named(r.why))}` : nothing}.</p>`;
  if (!c) return html`<p class="soft">The breaker counts no failed call now: what failed is too long ago, or was before it closed.</p>`;
  const share = c.calls ? c.failed / c.calls : 0;
  return html`<p class="why">${percent(share)} of ${plural(c.calls, 'call')} failed; it opens at ${percent(c.opensAt)}.</p>
    ${gauge('Failure rate', share, 1, {mark: c.opensAt, kind: share >= c.opensAt ? 'bad' : share >= c.opensAt / 2 ? 'warn' : 'ok', text: `${percent(share)}, opens at ${percent(c.opensAt)}`})}
    <p class="soft">Within ${seconds(parseDuration(c.within))}${c.calls < c.leastCalls ? `; the share counts from ${number(c.leastCalls)} calls on` : ''}. ${plural(c.streak, 'failure')} in a row; ${number(c.opensAfter)} open it too.</p>`;
}

/** Probes of the last changes, each with what came of it. */
function probes(history) {
  const all = [];
  history.forEach((c, i) => {
    if (c.kind !== 'BREAKER_HALF_OPENED') return;
    const next = history.slice(0, i).reverse().find(n => PHASES[n.kind]);
    all.push({at: c.at, how: !next ? 'PENDING' : next.kind === 'BREAKER_OPENED' ? 'FAILED' : 'SUCCEEDED', why: next?.why});
  });
  return all.slice(0, 10);
}

const PREVIEW = {
  'force-open': r => html`<p>No job that calls <b>${said(r.name)}</b> is started, and no probe is sent, until you leave the breaker to itself again. ${r.parked ? html`<b>${plural(r.parked, 'job')}</b> stay parked.` : ''} No attempt is spent.</p>`,
  'force-close': r => html`<p><b>${plural(r.parked, 'parked job')}</b> will be let go, whatever state ${said(r.name)} is in. Failures will not open the breaker while you force it.</p>`,
  automatic: r => html`<p>The breaker decides by itself again. ${r.parked ? html`<b>${plural(r.parked, 'job')}</b> stay parked until probes succeed; then they are let go at a growing rate.` : ''}</p>`,
};

export const resource = {
  title: 'Resource',
  every: 1000,
  async load({params: {name}, signal, state: own}) {
    const [r, parked, running, history, series, ages] = await Promise.all([get(path`/v1/resources/${name}`, signal).catch(e => { if (e.status === 404) return quiet(name); throw e; }), get(path`/v1/jobs?resource=${name}&state=pending&limit=100`, signal), get(path`/v1/jobs?resource=${name}&state=running&limit=1000`, signal),
      get(path`/v1/resources/${name}/history`, signal), get(path`/v1/series?of=resource&name=${name}&periods=60`, signal), get(path`/v1/resources/${name}/parked`, signal)]);
    // What this page has seen itself: nobody stores a rate or a level second by second.
    own.seen = [...(own.seen || []), {parked: r.parked, rate: r.ramp?.rate || 0, level: Math.max(0, r.budget?.level ?? 0), phase: r.phase, at: Date.now()}].slice(-300);
    return {r, jobs: parked.items, running, history: history.items, series: series.items, ages};
  },
  merge(old, fresh) {
    const jobs = steady(old.jobs, fresh.jobs);
    return {data: {...fresh, jobs: jobs.items}, fresh: jobs.fresh};
  },
  render({r, jobs, running, history, series, ages}, {reload, state: own, now}) {
    // Any name may be one: who mistyped it must not read that its breaker is closed.
    if (r.quiet && !jobs.length && !running.items.length && !history.length && !series.some(s => s.succeeded || s.failed)) {
      return html`${heading(said(r.name))}${panel('Nothing is known', empty('No job that waits or runs names this resource, and none called it within the last hour.', html`Is the name right? ${link('/resources', 'Resources')} has those that jobs called within a day.`))}`;
    }
    const strip = phaseStrip(r, history, now);
    const force = (action, title, verb, danger) => act('operate', title, () => confirmed({title: `${title.replace(' …', '')}: ${r.name}`, about: PREVIEW[action](r), verb, danger,
      run: async ({why}) => { await send('POST', path`/v1/resources/${r.name}/${action}`, {why}); await reload(true); }, done: 'Done.'}));
    const tried = probes(history);
    const minute = series[series.length - 2];
    const until = own.seen.length > 1 ? (own.seen[own.seen.length - 1].at - own.seen[0].at) / 1000 : 0;
    return html`${heading(said(r.name), html`${state(r.phase)} ${r.since ? html`for ${lasted(r.since, now)}` : nothing}${r.why ? html`: ${said(named(r.why))}` : nothing}`, html`
      ${r.forcedBy ? force('automatic', 'Leave it to itself …', 'Leave it to itself') : nothing}${force('force-open', 'Force open …', 'Force it open', true)}${force('force-close', 'Force closed …', 'Force it closed', true)}`)}
      <div class="tiles">
        <a class="tile ${r.parked ? 'warn' : ''}" href="#/jobs?q=${encodeURIComponent(`state:pending reason:breaker resource:${r.name}`)}"><span>parked</span><b>${number(r.parked)}</b><small>by its breaker</small></a>
        <div class="tile"><span>next probe</span><b>${r.nextProbe ? due(r.nextProbe) : '–'}</b><small>${r.nextProbe ? 'one job tries' : r.phase === 'HALF_OPEN' ? 'one job tries now' : 'none is planned'}</small></div>
        <div class="tile"><span>may start per second</span><b>${r.ramp ? number(r.ramp.rate) : r.phase === 'CLOSED' ? 'any' : '0'}</b><small>in the whole fleet</small></div>
        <a class="tile" href="#/jobs?q=${encodeURIComponent(`state:running resource:${r.name}`)}"><span>in flight</span><b>${running.next ? '≥ ' : ''}${number(running.items.length)}</b><small>${r.ramp?.inFlight ? `of at most ${number(r.ramp.inFlight)} while it ramps` : 'jobs that run now'}</small></a>
      </div>
      ${panel('Phases', html`${phases(strip.items, strip.from, now)}
        ${history.length ? html`<details class="data"><summary>What it went through</summary><ol class="log">${history.map(c => html`<li>${state(PHASES[c.kind] || 'LOST', CHANGES[c.kind])} <span class="soft">${when(c.at)}</span>${c.why ? html`<br>${said(c.why)}` : nothing}</li>`)}</ol></details>` : html`<p class="soft">No change of the last 31 days is written down; workers report every 10 s.</p>`}`, strip.about)}
      <div class="grid2">
      ${panel('Failure rate', callsView(r, series), 'whole fleet; workers report every 10 s')}
      ${panel('Probes', tried.length ? html`<ol class="canaries" aria-label="Probes, newest first">${tried.map(p => html`<li title=${p.why || ''}>${state(p.how, p.how === 'PENDING' ? 'runs' : p.how === 'FAILED' ? 'failed' : 'succeeded')} <small class="soft">${when(p.at)}</small></li>`)}</ol>` : html`<p class="soft">None is written down; workers report every 10 s.</p>`, r.nextProbe ? html`next ${due(r.nextProbe)}` : 'newest first')}
      ${panel('Parked by age', ages.looked ? html`${bars(`Parked jobs by age: ${ages.items.map(a => `${a.upTo ? `up to ${a.upTo}` : 'older'} ${a.jobs}`).join(', ')}`, ages.items.map((a, i) => ({name: a.upTo ? `${i ? `${seconds(parseDuration(ages.items[i - 1].upTo))} to ` : 'up to '}${seconds(parseDuration(a.upTo))}` : 'older', value: a.jobs})))}
        <p class="soft">The oldest waits for ${lasted(ages.oldest, now)}.</p>` : html`<p class="soft">${r.parked ? 'None among the newest 10,000 jobs that wait.' : 'No job is parked.'}</p>`, ages.looked ? (ages.more ? `those among the newest 10,000 that wait` : plural(ages.looked, 'job')) : '')}
      ${panel('Retry budget', !r.budget ? html`<p class="soft">It is full: nothing was retried lately.</p>` : html`${level(r.budget)}<p class="soft">${number(r.budget.level)} of ${number(r.budget.capacity)} credits. A success pays in 1, a retry costs 14 and pays in 21 if it succeeds.${minute ? ` In the last whole minute: ${plural(minute.succeeded, 'success', 'successes')} paid in, ${plural(minute.retries, 'retry', 'retries')} cost ${number(14 * minute.retries)}.` : ''}</p>
        ${r.budget.waiting ? html`<p>${link(`/jobs?q=${encodeURIComponent(`state:pending reason:budget resource:${r.name}`)}`, plural(r.budget.waiting, 'retry waits', 'retries wait'))} for credits${r.budget.throughInSeconds ? `, through in about ${seconds(r.budget.throughInSeconds)}` : ''}.</p>` : nothing}`)}
      </div>
      ${series.some(s => s.succeeded || s.failed) ? panel('Calls', minutes(`Calls of the last hour by minute: ${number(series.reduce((s, x) => s + x.succeeded, 0))} succeeded, ${number(series.reduce((s, x) => s + x.failed, 0))} failed`, series, [{key: 'succeeded', name: 'succeeded', kind: 'ok'}, {key: 'failed', name: 'failed', kind: 'bad'}]), `last 10 minutes: ${failureShare(series.slice(-10))}`) : nothing}
      ${r.ramp ? panel('Ramp', html`<p class="why">${said(r.ramp.why)}</p>${facts([['rate now', `${number(r.ramp.rate)} per second`], ['grows to', r.ramp.aim ? `${number(r.ramp.aim)} per second` : 'as it goes'], ['parked jobs are through in', seconds(r.ramp.throughInSeconds)]])}`) : nothing}
      <div class="grid2">${[['Parked, since you look', 'parked', s => s.parked], ['Ramp, since you look', 'may start per second', s => s.rate]].map(([title, name, of]) => panel(title, own.seen.length > 2
        ? curves(`${title}: ${number(of(own.seen[own.seen.length - 1]))} ${name} now, ${number(Math.max(...own.seen.map(of)))} at most`, [{name, values: own.seen.map(of)}], until, '', 430) : html`<p class="soft">A curve appears as the page looks on.</p>`))}</div>
      ${panel('Jobs that wait', jobs.length ? table('Waiting jobs of this resource', [
        {name: 'job', cell: j => link(`/jobs/${j.id}`, j.id)}, {name: 'type', cell: j => said(j.type)}, {name: 'waits because', cell: j => String(j.waitReason).toLowerCase().replaceAll('_', ' ')},
        {name: 'attempts', num: true, cell: j => j.attempts}, {name: 'created', cell: j => when(j.createdAt)}, {name: 'last error', wide: true, cell: j => html`<span class="clip">${said(j.lastError?.message)}</span>`},
      ], jobs.slice(0, 25), {to: j => `/jobs/${j.id}`}) : empty('No job waits.'), jobs.length > 25 ? html`the newest 25; ${link(`/jobs?q=${encodeURIComponent(`state:pending resource:${r.name}`)}`, 'all of them')}` : '')}`;
  },
};
