// SPDX-License-Identifier: Apache-2.0
import {get, pulse as readPulse} from './net.js';
import {count, due, empty, heading, html, link, nothing, panel, said, state, table, typeName, word} from './ui.js';
import {minutes, parts} from './charts.js';
import {day, key, term} from './errors.js';
import {compact, lasted, number, percent, plural, seconds} from './text.js';

const KINDS = {NEW: 'run', DELAYED: 'b', RETRY: 'warn', SNOOZE: 'c', SLEEP: 'b', EVENT: 'c', BATCH: 'd', FOLLOW: 'd', BREAKER: 'bad', BUDGET: 'c', NO_HANDLER: 'bad', MANUAL: 'd'};
const NAMES = {NEW: 'new', DELAYED: 'for later', RETRY: 'retry', SNOOZE: 'snoozed', SLEEP: 'asleep in a step', EVENT: 'for an event', BATCH: 'for other jobs', FOLLOW: 'for the holder of its key', BREAKER: 'held by a breaker', BUDGET: 'held by a budget', NO_HANDLER: 'no handler', MANUAL: 'by hand'};

const tile = (name, value, to, kind = '', about = '') => html`<a class="tile ${kind}" href="#${to}" ><span>${name}</span><b>${value}</b><small>${about}</small></a>`;

/** Attempts per job of the last ten minutes: 1 without retries. */
const amplification = flow => flow && flow.jobs ? (flow.jobs + flow.retries) / flow.jobs : 1;

/** How much more often an error came in this hour than in the 23 before it, on average. Without hours: its jobs. */
const growth = g => g.failedByHour ? g.failedByHour[23] - g.failedByHour.slice(0, 23).reduce((a, b) => a + b, 0) / 23 : g.dead + g.waiting;

const ABOUT = {DEAD_LETTERS: 'state:failed ', NO_HANDLER: 'state:pending reason:no-handler ', RETRY_RATE: 'state:pending reason:retry ', RETRY_COUNT: 'state:pending reason:retry ', BACKOFF: 'state:pending reason:retry '};

/** What an alert is about: the jobs of a type, or a queue. */
const alertTo = a => a.kind === 'LATE_STARTS' || a.kind === 'NO_OFFER' ? `/queues/${encodeURIComponent(a.type)}` : `/jobs?q=${encodeURIComponent(`${ABOUT[a.kind] || ''}type:${a.type}`)}`;

const alertList = all => html`<ul class="alerts">${all.map(a => html`<li>${state('OPEN', word(a.kind))} ${link(alertTo(a), said(a.message))} <span class="soft">for ${lasted(a.since)}</span></li>`)}</ul>`;

export const now = {
  title: 'Now',
  every: 4000,
  async load({signal, beat}) {
    const [series, errors, pulse] = await Promise.all([
      get('/v1/series?periods=60', signal), get('/v1/errors', signal), beat || readPulse()]);
    return {series: series.items, errors, pulse};
  },
  render({series, errors, pulse: read}, {beat}) {
    const groups = errors.items.filter(g => !g.note?.muted).sort((a, b) => growth(b) - growth(a)).slice(0, 5);
    const pulse = beat || read;
    const least = pulse.countsAtLeast;
    const flow = pulse.tenMinutes;
    // An alert is known if every error of its type is muted.
    const ofType = type => errors.items.filter(g => g.latest.type === type && (g.dead || g.waiting));
    const isKnown = a => ofType(a.type).length > 0 && ofType(a.type).every(g => g.note?.muted);
    const alerts = pulse.alerts.filter(a => !isKnown(a)), known = pulse.alerts.filter(isKnown);
    const open = pulse.resources.filter(r => r.phase !== 'CLOSED' || r.parked > 0);
    const lagging = pulse.queues.filter(q => q.lagSeconds > 0 || q.paused || q.pending > 0).slice(0, 8);
    return html`${heading('Now', pulse.sentence)}
      <div class="tiles">
        ${tile('waiting', (least.includes('PENDING') ? '≥ ' : '') + compact(pulse.counts.PENDING), '/jobs?q=state:pending', '', least.includes('PENDING') ? 'counted up to a bound' : 'jobs in all queues')}
        ${tile('running', compact(pulse.counts.RUNNING), '/jobs?q=state:running', '', 'jobs in all queues')}
        ${tile('dead letters', compact(pulse.counts.FAILED), '/errors', pulse.counts.FAILED ? 'bad' : '', 'that are kept')}
        ${flow ? tile('last minute', compact(pulse.minute.jobs), '/jobs', '', 'jobs tried for the first time') : nothing}
        ${flow ? tile('attempts per job', amplification(flow).toFixed(2), '/costs', amplification(flow) > 1.5 ? 'warn' : '', 'last 10 minutes; 1 is no retries') : nothing}
        ${tile('workers', pulse.workers, '/workers', pulse.workers ? '' : 'warn', 'seen in the last 30 s')}
      </div>
      ${pulse.alerts.length ? panel('Alerts', html`${alertList(alerts.slice(0, 5))}${alerts.length > 5 ? html`<details><summary>${alerts.length - 5} more</summary>${alertList(alerts.slice(5))}</details>` : nothing}
        ${known.length ? html`<details><summary>${plural(known.length, 'alert')} of muted errors</summary>${alertList(known)}</details>` : nothing}`, plural(pulse.alerts.length, 'alert')) : nothing}
      ${pulse.waiting ? panel('Why jobs wait', parts('Waiting jobs by reason', Object.keys(pulse.waiting).map(reason => ({name: NAMES[reason] || word(reason), value: pulse.waiting[reason], kind: KINDS[reason], atLeast: pulse.waitingAtLeast, to: `/jobs?q=${encodeURIComponent(`state:pending reason:${reason.toLowerCase().replaceAll('_', '-')}`)}`}))),
        pulse.waitingAtLeast ? 'of the first 10,000' : 'all waiting jobs') : nothing}
      ${series.length ? panel('The last hour', minutes(`Attempts per minute by their end: ${number(series.reduce((s, r) => s + r.succeeded, 0))} succeeded, ${number(series.reduce((s, r) => s + r.retries, 0))} were to be retried, ${number(series.reduce((s, r) => s + r.dead, 0))} were the last of their job`, series,
        [{key: 'succeeded', name: 'succeeded', kind: 'ok'}, {key: 'retries', name: 'failed, to be retried', kind: 'warn'}, {key: 'dead', name: 'dead', kind: 'bad'}]), 'attempts per minute, whole fleet; workers report every 10 s') : nothing}
      <div class="two"><div>
        ${panel('Errors that grow', groups.length ? table('Errors that grow most', [
          {name: 'error', wide: true, cell: g => html`${link(`/errors/${key(g)}`, g.error ? typeName(g.error.type) : 'no error')} <span class="soft clip">${said(g.pattern)}</span>`},
          {name: 'dead', num: true, cell: g => count(g.dead, `/errors/${key(g)}`, errors.deadAtLeast && g.dead)},
          {name: 'being retried', num: true, cell: g => count(g.waiting, `/jobs?q=${encodeURIComponent(`state:pending ${term(key(g))}`)}`, errors.waitingAtLeast && g.waiting)},
          {name: 'failures, 24 h', cell: day}], groups, {to: g => `/errors/${key(g)}`}) : empty('No job has failed.', 'An error is shown here as soon as a job fails of it.'), link('/errors', 'all errors'))}
        </div><div>
        ${panel('Resources', open.length ? table('Resources that hold jobs back', [
          {name: 'resource', cell: r => link(`/resources/${encodeURIComponent(r.name)}`, said(r.name))},
          {name: 'breaker', cell: r => state(r.phase)},
          {name: 'parked', num: true, cell: r => count(r.parked, `/jobs?q=${encodeURIComponent(`state:pending reason:breaker resource:${r.name}`)}`)},
          {name: 'next probe', cell: r => r.nextProbe ? due(r.nextProbe) : ''}], open, {to: r => `/resources/${encodeURIComponent(r.name)}`})
          : empty('Every breaker is closed.', 'None holds jobs back.'), link('/resources', 'all resources'))}
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
