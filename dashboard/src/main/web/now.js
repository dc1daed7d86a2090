// SPDX-License-Identifier: Apache-2.0
import {get} from './net.js';
import {count, empty, heading, html, link, nothing, panel, said, state, table, when} from './ui.js';
import {minutes, parts} from './charts.js';
import {compact, number, percent, plural, seconds, shortType} from './text.js';

const KINDS = {NEW: 'run', DELAYED: 'b', RETRY: 'warn', SNOOZE: 'c', BREAKER: 'bad', BUDGET: 'c', NO_HANDLER: 'bad', MANUAL: 'd'};
const NAMES = {NEW: 'new', DELAYED: 'for later', RETRY: 'retry', SNOOZE: 'snoozed', BREAKER: 'held by a breaker', BUDGET: 'held by a budget', NO_HANDLER: 'no handler', MANUAL: 'by hand'};

const tile = (name, value, to, kind = '', about = '') => html`<a class="tile ${kind}" href="#${to}" title=${about}><span>${name}</span><b>${value}</b></a>`;

/** Attempts per job of the last ten minutes: 1 without retries. */
const amplification = flow => flow && flow.jobs ? (flow.jobs + flow.retries) / flow.jobs : 1;

export const now = {
  title: 'Now',
  every: 4000,
  async load({signal, beat}) {
    const [series, groups, pulse] = await Promise.all([
      get('/v1/series?minutes=60', signal), get('/v1/dead-letters/groups?limit=5', signal), beat || get('/v1/pulse', signal)]);
    return {series: series.items, groups: groups.items, pulse};
  },
  render({series, groups, pulse: read}, {beat}) {
    const pulse = beat || read;
    const least = pulse.countsAtLeast;
    const flow = pulse.tenMinutes;
    const open = pulse.resources.filter(r => r.phase !== 'CLOSED' || r.parked > 0);
    const lagging = pulse.queues.filter(q => q.lagSeconds > 0 || q.paused || q.pending > 0).slice(0, 8);
    return html`${heading('Now', pulse.sentence)}
      <div class="tiles">
        ${tile('waiting', (least.includes('PENDING') ? '≥ ' : '') + compact(pulse.counts.PENDING), '/jobs?q=state:pending', '', number(pulse.counts.PENDING))}
        ${tile('running', compact(pulse.counts.RUNNING), '/jobs?q=state:running')}
        ${tile('dead letters', compact(pulse.counts.FAILED), '/errors', pulse.counts.FAILED ? 'bad' : '')}
        ${flow ? tile('last minute', compact(pulse.minute.jobs), '/jobs', '', 'first attempts that ended in the last whole minute') : nothing}
        ${flow ? tile('attempts per job', amplification(flow).toFixed(2), '/costs', amplification(flow) > 1.5 ? 'warn' : '', 'over the last ten minutes; 1 is no retries') : nothing}
        ${tile('workers', pulse.workers, '/workers', pulse.workers ? '' : 'warn')}
      </div>
      ${pulse.alerts.length ? panel('Alerts', html`<ul class="alerts">${pulse.alerts.slice(0, 5).map(a => html`<li>${state('OPEN', a.kind.toLowerCase().replaceAll('_', ' '))} ${said(a.message)} <span class="soft">since ${when(a.since)}</span></li>`)}</ul>${pulse.alerts.length > 5 ? html`<details><summary>${pulse.alerts.length - 5} more</summary><ul class="alerts">${pulse.alerts.slice(5).map(a => html`<li>${said(a.message)}</li>`)}</ul></details>` : nothing}`, plural(pulse.alerts.length, 'alert')) : nothing}
      ${pulse.waiting ? panel('Why jobs wait', parts('Waiting jobs by reason', Object.keys(NAMES).map(reason => ({name: NAMES[reason], value: pulse.waiting[reason], kind: KINDS[reason], atLeast: pulse.waitingAtLeast, to: `/jobs?q=${encodeURIComponent(`state:pending reason:${reason.toLowerCase()}`)}`}))),
        pulse.waitingAtLeast ? 'of the first 10,000' : 'all waiting jobs') : nothing}
      ${series.length ? panel('The last hour', minutes(`Jobs, retries and dead letters per minute: ${plural(series.reduce((s, r) => s + r.jobs, 0), 'job')}, ${series.reduce((s, r) => s + r.retries, 0)} retries, ${series.reduce((s, r) => s + r.dead, 0)} dead`, series,
        [{key: 'jobs', name: 'first attempts', kind: 'run'}, {key: 'retries', name: 'retries', kind: 'warn'}, {key: 'dead', name: 'dead', kind: 'bad'}]), 'per minute, whole fleet') : nothing}
      <div class="two"><div>
        ${panel('Errors', groups.length ? table('Largest error groups', [
          {name: 'error', wide: true, cell: g => html`${link(`/errors/${g.fingerprint}`, shortType(g.error?.type) || 'no error')} <span class="soft clip">${said(g.error?.message)}</span>`},
          {name: 'dead', num: true, cell: g => count(g.count, `/errors/${g.fingerprint}`)},
          {name: 'last', cell: g => when(g.lastAt)}], groups, {to: g => `/errors/${g.fingerprint}`}) : empty('No dead letters.', 'Jobs that fail for good are found here.'), link('/errors', 'all errors'))}
        </div><div>
        ${panel('Resources', open.length ? table('Resources that hold jobs back', [
          {name: 'resource', cell: r => link(`/resources/${encodeURIComponent(r.name)}`, said(r.name))},
          {name: 'breaker', cell: r => state(r.phase)},
          {name: 'parked', num: true, cell: r => count(r.parked, `/resources/${encodeURIComponent(r.name)}`)},
          {name: 'next probe', cell: r => r.nextProbe ? when(r.nextProbe) : ''}], open, {to: r => `/resources/${encodeURIComponent(r.name)}`})
          : empty('Every breaker is closed.', plural(pulse.resourceCount, 'resource is', 'resources are') + ' known.'), link('/resources', 'all resources'))}
        ${panel('Queues', lagging.length ? table('Queues by lag', [
          {name: 'queue', cell: q => html`${link(`/queues/${encodeURIComponent(q.name)}`, said(q.name))} ${q.paused ? state('HALF_OPEN', 'paused') : nothing}`},
          {name: 'waiting', num: true, cell: q => count(q.pending, `/jobs?q=${encodeURIComponent(`state:pending queue:${q.name}`)}`)},
          {name: 'running', num: true, cell: q => count(q.running, `/jobs?q=${encodeURIComponent(`state:running queue:${q.name}`)}`)},
          {name: 'oldest due', num: true, cell: q => q.lagSeconds ? seconds(q.lagSeconds) : '–'}], lagging, {to: q => `/queues/${encodeURIComponent(q.name)}`})
          : empty('No job waits.'), link('/queues', 'all queues'))}
        ${flow ? panel('Retries', html`<p class="why">${flow.retries ? html`${percent(flow.retries / (flow.jobs + flow.retries))} of the calls of the last ten minutes were retries.` : 'Nothing was retried in the last ten minutes.'}</p>
          <p class="soft">${plural(flow.jobs, 'first attempt')}, ${plural(flow.retries, 'retry', 'retries')}, ${plural(flow.dead, 'dead letter')}. ${link('/costs', 'What retries cost and saved')}</p>`) : nothing}
      </div>`;
  },
};
