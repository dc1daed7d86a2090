// SPDX-License-Identifier: Apache-2.0
// Batches: jobs with a common end.
import {get, path, query, send} from './net.js';
import {act, confirmed, count, empty, facts, heading, html, link, nothing, panel, said, state, table, typeName, when} from './ui.js';
import {gauge} from './charts.js';
import {bulk, bulkView} from './jobs.js';
import {number, plural, steady} from './text.js';

const enc = encodeURIComponent;
const members = (name, states) => `${states ? `state:${states} ` : ''}batch:"${name}"`;
const list = (name, states) => `/jobs?q=${enc(members(name, states))}`;

const stateOf = b => b.succeededAt ? state('SUCCEEDED', b.succeeded === b.total ? 'all succeeded' : 'finished by hand')
  : b.endedAt ? b.dead ? state('FAILED', 'ended, some are dead') : b.open ? state('RUNNING', 'open again') : state('CANCELLED', 'ended')
  : b.closedAt ? state('RUNNING', 'closed, under way') : state('PENDING', 'takes members');

const counted = (value, name, states) => value ? count(value, list(name, states)) : html`<span class="soft">0</span>`;

const progress = b => gauge(`Ended of batch ${b.name}`, b.total - b.open, Math.max(1, b.total), {kind: b.dead ? 'bad' : 'ok', text: `${b.percent} %`});

export const batches = {
  title: 'Batches', every: 3000,
  async load({search, signal, state: own}) {
    own.more = own.more || [];
    return get(`/v1/batches${query({prefix: search.get('prefix'), limit: 50})}`, signal);
  },
  merge(old, fresh) {
    const {items, fresh: added} = steady(old.items, fresh.items, b => b.name);
    return {data: {...fresh, items}, fresh: added};
  },
  render(page, {search, state: own, update, signal}) {
    const prefix = search.get('prefix') || '';
    const next = own.next === undefined ? page.next : own.next;
    const items = [...page.items, ...own.more];
    const more = async () => {
      const p = await get(`/v1/batches${query({prefix, limit: 50, cursor: next})}`, signal);
      own.more = [...own.more, ...p.items];
      own.next = p.next;
      update();
    };
    const find = event => { event.preventDefault(); location.hash = `/batches${query({prefix: new FormData(event.target).get('prefix').trim()})}`; };
    return html`${heading('Batches', 'Jobs with a common end, by name. A batch is kept for 30 days after its end.')}
      <form class="inline" @submit=${find}><label for="prefix">Names that begin with</label> <input id="prefix" name="prefix" maxlength="100" autocomplete="off" .value=${prefix}> <button type="submit">Find</button></form>
      ${panel(plural(items.length, 'batch', 'batches') + (next ? ', and more' : ''), html`${items.length ? table('Batches', [
        {name: 'batch', cell: b => link(`/batches/${enc(b.name)}`, said(b.name))},
        {name: 'state', cell: stateOf},
        {name: 'progress', cell: b => html`${progress(b)} <small class="soft num">${b.percent} %</small>`},
        {name: 'members', num: true, cell: b => counted(b.total, b.name)},
        {name: 'open', num: true, cell: b => counted(b.open, b.name, 'pending,running')},
        {name: 'succeeded', num: true, cell: b => counted(b.succeeded, b.name, 'succeeded')},
        {name: 'dead', num: true, cell: b => counted(b.dead, b.name, 'failed')},
        {name: 'cancelled', num: true, cell: b => counted(b.cancelled, b.name, 'cancelled')},
        {name: 'created', cell: b => when(b.createdAt)},
      ], items, {to: b => `/batches/${enc(b.name)}`}) : prefix ? empty('No batch begins so.') : empty('There is no batch.', 'reprise.batch("name") makes one in Java, PUT /v1/batches/{name} elsewhere.')}
      ${next ? html`<div class="pager"><button type="button" @click=${more}>More</button></div>` : nothing}`)}`;
  },
};

const follower = (id, text) => id ? link(`/jobs/${id}`, `job ${id}`) : html`<span class="soft">${text}</span>`;

export const batch = {
  title: 'Batch', every: 2000,
  async load({params: {name}, signal, state: own}) {
    const [b, jobs, dead, bulks] = await Promise.all([get(path`/v1/batches/${name}`, signal), get(path`/v1/jobs?q=${members(name)}&limit=50`, signal),
      get(path`/v1/jobs?q=${members(name, 'failed')}&limit=50`, signal), get('/v1/bulks', signal)]);
    own.bulk = bulks.items.find(x => x.id === own.bulk?.id) || own.bulk;
    return {b, jobs, dead};
  },
  merge(old, fresh) {
    const jobs = steady(old.jobs.items, fresh.jobs.items);
    const dead = steady(old.dead.items, fresh.dead.items);
    return {data: {...fresh, jobs: {...fresh.jobs, items: jobs.items}, dead: {...fresh.dead, items: dead.items}}, fresh: jobs.fresh + dead.fresh};
  },
  render({b, jobs, dead}, {state: own, reload}) {
    const tile = (name, value, states, kind = '', about = '') => html`<a class="tile ${value ? kind : ''}" href="#${list(b.name, states)}"><span>${name}</span><b>${number(value)}</b><small>${about}</small></a>`;
    const close = () => confirmed({title: `Close batch ${b.name}?`, verb: 'Close it', done: 'The batch is closed.',
      about: 'It takes no more members. It ends when none of them waits or runs any more.',
      run: async ({why}) => { await send('POST', path`/v1/batches/${b.name}/close`, {why: why || 'by hand'}); await reload(true); }});
    const finish = () => confirmed({title: `Finish batch ${b.name}?`, verb: 'Finish it', done: 'The job for the success is due.',
      about: `The job for the success runs although ${plural(b.dead, 'member')} did not succeed.`,
      run: async ({why}) => { await send('POST', path`/v1/batches/${b.name}/finish`, {why: why || undefined}); await reload(true); }});
    const rows = (label, items) => table(label, [{name: 'job', cell: j => link(`/jobs/${j.id}`, j.id)}, {name: 'type', cell: j => said(j.type)}, {name: 'state', cell: j => state(j.state)},
      {name: 'attempts', num: true, cell: j => j.attempts}, {name: 'created', cell: j => when(j.createdAt)},
      {name: 'last error', wide: true, cell: j => j.lastError ? html`${link(`/errors/${j.lastError.fingerprint}`, typeName(j.lastError.type))} <span class="soft clip">${said(j.lastError.message)}</span>` : ''}], items, {to: j => `/jobs/${j.id}`});
    const none = page => empty(page.next ? 'None among the newest jobs that were looked at.' : 'None is left.', page.next ? 'Older jobs were not looked at: the list of all members goes on.' : 'Members that ended are deleted by their age.');
    return html`${heading(html`Batch ${said(b.name)}`, stateOf(b), html`
        ${b.closedAt ? nothing : act('enqueue', 'Close …', close, 'main')}
        ${b.dead ? act('operate', 'Replay the dead …', () => bulk(members(b.name, 'failed'), 'replay', own, reload)) : nothing}
        ${b.endedAt && b.dead && !b.open && !b.cancelled && b.onSuccess && !b.succeededAt ? act('operate', 'Finish …', finish) : nothing}
        ${b.open ? act('operate', 'Cancel what waits …', () => bulk(members(b.name, 'pending'), 'cancel', own, reload)) : nothing}`)}
      ${own.bulk ? bulkView(own.bulk, reload) : nothing}
      <div class="tiles">${tile('members', b.total, '', '', 'that were added')}${tile('open', b.open, 'pending,running', '', 'wait or run')}${tile('succeeded', b.succeeded, 'succeeded', '', 'of the members')}
        ${tile('dead', b.dead, 'failed', 'bad', 'open again if retried')}${tile('cancelled', b.cancelled, 'cancelled', 'warn', 'of the members')}</div>
      ${panel('Progress', html`${progress(b)}<p class="soft">${b.percent} % of the members have ended.</p>
        ${facts([['created', when(b.createdAt)], ['closed', b.closedAt ? when(b.closedAt) : 'not yet: it cannot end before'], ['ended', b.endedAt ? when(b.endedAt) : 'not yet'],
          [b.succeededAt && b.succeeded < b.total ? 'finished by hand' : 'all succeeded', b.succeededAt ? when(b.succeededAt) : b.cancelled ? 'cannot come: a member was cancelled' : 'not yet'],
          ['runs when all succeed', follower(b.onSuccess, 'nothing')], ['runs at the end', follower(b.onEnd, 'nothing')]])}`, html`${number(b.total - b.open)} of ${number(b.total)}`)}
      ${b.dead ? panel('Dead members', dead.items.length ? rows('Dead members', dead.items) : none(dead), link(list(b.name, 'failed'), 'all of them')) : nothing}
      ${panel('Newest members', jobs.items.length ? rows('Newest members', jobs.items) : b.total ? none(jobs) : empty('It has no members yet.'), link(list(b.name), 'all of them'))}`;
  },
};
