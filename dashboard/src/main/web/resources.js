// SPDX-License-Identifier: Apache-2.0
import {get, path, send} from './net.js';
import {act, confirmed, count, empty, facts, heading, html, link, nothing, panel, said, state, table, when} from './ui.js';
import {curves, gauge} from './charts.js';
import {number, plural, seconds} from './text.js';

const level = b => gauge('Retry budget', Math.max(0, b.level), b.capacity, {kind: b.level < 14 ? 'bad' : 'ok', text: `${number(b.level)} of ${number(b.capacity)} credits`});

export const resources = {
  title: 'Resources',
  every: 2000,
  load: ({signal}) => get('/v1/resources', signal),
  render: page => html`${heading('Resources', 'What jobs call. Each has a breaker and a retry budget, the same for the whole fleet.')}
    ${panel(plural(page.items.length, 'resource'), page.items.length ? table('Resources', [
      {name: 'resource', cell: r => link(`/resources/${encodeURIComponent(r.name)}`, said(r.name))},
      {name: 'breaker', cell: r => html`${state(r.phase)}${r.forcedBy ? html`<br><small class="soft">forced</small>` : nothing}`},
      {name: 'since', cell: r => r.since ? when(r.since) : ''},
      {name: 'parked', num: true, cell: r => count(r.parked, `/jobs?q=${encodeURIComponent(`state:pending resource:${r.name}`)}`)},
      {name: 'next probe', cell: r => r.nextProbe ? when(r.nextProbe) : ''},
      {name: 'retry budget', cell: r => level(r.budget)},
      {name: 'why', wide: true, cell: r => said(r.why)},
    ], page.items, {to: r => `/resources/${encodeURIComponent(r.name)}`}) : empty('No resource is known yet.', 'A job names what it calls with resource; its breaker appears here.'))}`,
};

const PREVIEW = {
  'force-open': r => html`<p>No job that calls <b>${said(r.name)}</b> is started, and no probe is sent, until you leave the breaker to itself again. ${r.parked ? html`<b>${plural(r.parked, 'job')}</b> stay parked.` : ''} No attempt is spent.</p>`,
  'force-close': r => html`<p><b>${plural(r.parked, 'parked job')}</b> will be let go, whatever state ${said(r.name)} is in. Failures will not open the breaker while you force it.</p>`,
  automatic: r => html`<p>The breaker decides by itself again. ${r.parked ? html`<b>${plural(r.parked, 'job')}</b> stay parked until probes succeed; then they are let go at a growing rate.` : ''}</p>`,
};

export const resource = {
  title: 'Resource',
  every: 1000,
  async load({params: {name}, signal, state: own}) {
    const [r, parked] = await Promise.all([get(path`/v1/resources/${name}`, signal), get(path`/v1/jobs?resource=${name}&state=pending&limit=100`, signal)]);
    // What this page has seen itself: nobody stores a rate or a level second by second.
    own.seen = [...(own.seen || []), {parked: r.parked, rate: r.ramp?.rate || 0, level: Math.max(0, r.budget.level), phase: r.phase, at: Date.now()}].slice(-300);
    return {r, jobs: parked.items};
  },
  render({r, jobs}, {reload, state: own}) {
    const force = (action, title, verb, danger) => act('operate', title, () => confirmed({title: `${title.replace(' …', '')}: ${r.name}`, about: PREVIEW[action](r), verb, danger,
      run: async ({why}) => { await send('POST', path`/v1/resources/${r.name}/${action}`, {why}); await reload(true); }, done: 'Done.'}));
    const held = jobs.filter(j => j.waitReason === 'BREAKER' || j.waitReason === 'BUDGET');
    const age = j => (Date.now() - Date.parse(j.createdAt)) / 1000;
    const oldest = held.length ? Math.max(...held.map(age)) : 0;
    const until = own.seen.length > 1 ? (own.seen[own.seen.length - 1].at - own.seen[0].at) / 1000 : 0;
    return html`${heading(said(r.name), html`${state(r.phase)} ${r.since ? html`since ${when(r.since)}` : nothing}${r.forcedBy ? html`, forced by ${said(r.forcedBy)}` : nothing}${r.why ? html`: ${said(r.why)}` : nothing}`, html`
      ${r.forcedBy ? force('automatic', 'Leave it to itself …', 'Leave it to itself') : nothing}${force('force-open', 'Force open …', 'Force it open', true)}${force('force-close', 'Force closed …', 'Force it closed', true)}`)}
      <div class="tiles">
        <a class="tile ${r.parked ? 'warn' : ''}" href="#/jobs?q=${encodeURIComponent(`state:pending resource:${r.name}`)}"><span>parked</span><b>${number(r.parked)}</b></a>
        <div class="tile"><span>next probe</span><b>${r.nextProbe ? when(r.nextProbe) : '–'}</b></div>
        <div class="tile"><span>may start per second</span><b>${r.ramp ? number(r.ramp.rate) : r.phase === 'CLOSED' ? 'any' : '0'}</b></div>
        <div class="tile"><span>may be in flight</span><b>${r.ramp?.inFlight ? number(r.ramp.inFlight) : '–'}</b></div>
      </div>
      ${r.ramp ? panel('Ramp', html`<p class="why">${said(r.ramp.why)}</p>${facts([['rate now', `${number(r.ramp.rate)} per second`], ['grows to', r.ramp.aim ? `${number(r.ramp.aim)} per second` : 'as it goes'], ['parked jobs are through in', seconds(r.ramp.throughInSeconds)]])}`) : nothing}
      <div class="grid2">
      ${panel('Retry budget', html`${level(r.budget)}<p class="soft">${number(r.budget.level)} of ${number(r.budget.capacity)} credits. A success pays in, a retry costs 14.</p>
        ${r.budget.waiting ? html`<p>${plural(r.budget.waiting, 'retry waits', 'retries wait')} for credits${r.budget.throughInSeconds ? `, through in about ${seconds(r.budget.throughInSeconds)}` : ''}.</p>` : nothing}`)}
      ${panel('Since you look', own.seen.length > 2 ? curves(`Parked jobs and calls per second since this page is open`, [{name: 'parked', values: own.seen.map(s => s.parked)}, {name: 'may start per second', values: own.seen.map(s => s.rate)}], until, '', 430) : html`<p class="soft">A curve appears as the page looks on.</p>`)}
      </div>
      ${panel('Jobs that wait', jobs.length ? table('Waiting jobs of this resource', [
        {name: 'job', cell: j => link(`/jobs/${j.id}`, j.id)}, {name: 'type', cell: j => said(j.type)}, {name: 'waits because', cell: j => String(j.waitReason).toLowerCase().replaceAll('_', ' ')},
        {name: 'attempts', num: true, cell: j => j.attempts}, {name: 'created', cell: j => when(j.createdAt)}, {name: 'last error', wide: true, cell: j => html`<span class="clip">${said(j.lastError?.message)}</span>`},
      ], jobs.slice(0, 25), {to: j => `/jobs/${j.id}`}) : empty('No job waits.'), oldest ? `the oldest parked one is ${seconds(oldest)} old` : '')}`;
  },
};
