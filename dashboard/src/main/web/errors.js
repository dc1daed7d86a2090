// SPDX-License-Identifier: Apache-2.0
import {get, path, query, send, sendText} from './net.js';
import {act, codeName, confirmed, copyButton, count, empty, facts, heading, html, link, nothing, panel, said, state, table, typeName, when} from './ui.js';
import {chance, gauge, minutes, spark} from './charts.js';
import {clock, dayHour, indent, number, ownFrames, percent, person, plural, rawMember, seconds, shortHour, shortType, steady} from './text.js';

/** The name of an error in an address; jobs can die without one, when their deadline passes. */
export const key = g => g.fingerprint || 'none';

/** The term of a search that finds the jobs of an error. */
export const term = fingerprint => fingerprint === 'none' ? '-error:""' : `error:${fingerprint}`;

const spent = (costs, fingerprint) => (costs?.entries || []).filter(e => e.error === fingerprint && e.unit === 'seconds').reduce((s, e) => s + e.amount, 0);

/** Attempts that failed so in each of the last 24 hours. */
export const day = g => g.failedByHour ? spark(g.failedByHour, `Failed attempts by hour, last 24 hours: ${g.failedByHour.reduce((a, b) => a + b, 0)} in all, ${g.failedByHour[23]} in this hour`) : nothing;

const HOUR = 3600000;

/** The hours of an error's last day, each with the time when it began. */
const lastDay = (g, at) => (g.failedByHour || []).map((failed, i, all) => ({failed, at: (Math.floor(Date.parse(at) / HOUR) - all.length + 1 + i) * HOUR}));

/**
 * The first and the last of these hours in which an attempt failed so. An error that is only retried has no dead letter
 * with a time, but its failures are counted by hour. What failed in the first of the hours may have failed before it.
 */
const failedIn = (hours, text) => {
  const seen = hours.filter(h => h.failed);
  if (!seen.length) return {first: '–', last: '–'};
  return {first: seen[0] === hours[0] ? hour('before', seen[0].at + HOUR, text) : hour('after', seen[0].at, text), last: hour('after', seen[seen.length - 1].at, text)};
};

const hour = (side, at, text) => html`<time datetime=${new Date(at).toISOString()} title=${`counted by hour: ${side} ${clock(at)}`}>${side} ${text(at)}</time>`;

/** When jobs died of an error; when attempts failed of it, if all of them are retried. */
const ends = (g, at, which) => g[`${which}At`] ? when(g[`${which}At`]) : g.dead ? '–' : html`<small class="soft">${failedIn(lastDay(g, at), shortHour)[which]}<br>none dead</small>`;

const atLeast = (value, to, least) => value || least ? count(value, to, least && value > 0) : html`<span class="soft">0</span>`;

const noted = note => note ? html`<small class="noted">${note.muted ? html`<span class="tag">muted</span>` : nothing}${said(note.text)}</small>` : nothing;

export const errors = {
  title: 'Errors',
  every: 1000,
  async load({signal, state: own}) {
    // Costs change slowly and are larger than all the rest.
    const old = !own.costsAt || Date.now() - own.costsAt > 15000;
    const [errors, stats] = await Promise.all([get('/v1/errors', signal), old ? get('/v1/stats?since=7d', signal) : null]);
    if (stats) { own.costs = stats.costs; own.costsAt = Date.now(); }
    return {at: errors.at, errors: errors.items, deadAtLeast: errors.deadAtLeast, waitingAtLeast: errors.waitingAtLeast, costs: own.costs};
  },
  // A group keeps its place while one looks; its numbers follow. New groups wait until they are asked for.
  merge(old, fresh) {
    if (old.errors.length === 0) return {data: fresh, fresh: 0};
    const now = new Map(fresh.errors.map(g => [key(g), g]));
    const known = new Set(old.errors.map(key));
    const kept = old.errors.map(g => now.get(key(g)) || {...g, dead: 0, waiting: 0});
    return {data: {...fresh, errors: kept}, fresh: fresh.errors.filter(g => !known.has(key(g))).length};
  },
  render({at, errors: all, deadAtLeast, waitingAtLeast, costs}) {
    const open = all.filter(g => g.dead || g.waiting).length;
    return html`${heading('Errors', all.length ? `${plural(open, 'error')}. Each has one cause: look at it, mend the cause, replay the dead letters with canaries.` : 'What jobs failed of, one row for each cause.')}
      ${all.length === 0 ? panel('By cause', empty('No job has failed.', 'An error is shown here as soon as a job fails of it, whether it is retried or dead.')) : panel('By cause', html`${table('Errors', [
        {name: 'error', wide: true, cell: g => html`${link(`/errors/${key(g)}`, g.error ? typeName(g.error.type) : 'no error: its deadline passed')}<br><span class="soft clip" title=${g.error?.message || ''}>${said(g.pattern)}</span>${noted(g.note)}`},
        {name: 'dead', num: true, cell: g => atLeast(g.dead, `/errors/${key(g)}`, deadAtLeast)},
        {name: 'being retried', num: true, cell: g => atLeast(g.waiting, `/jobs?q=${encodeURIComponent(`state:pending ${term(key(g))}`)}`, waitingAtLeast)},
        {name: 'type', cell: g => html`${link(`/jobs?q=${encodeURIComponent(`type:${g.latest.type}`)}`, said(g.latest.type))}${g.latest.resource ? html`<br><small class="soft">${said(g.latest.resource)}</small>` : nothing}`},
        {name: 'failures, 24 h', cell: day},
        {name: 'first', cell: g => ends(g, at, 'first')},
        {name: 'last', cell: g => ends(g, at, 'last')},
        {name: 'chance of a retry', cell: g => chance(g.latest.prediction)},
        ...(costs ? [{name: 'cost, 7 days', num: true, cell: g => { const s = spent(costs, g.fingerprint); return s ? seconds(s) : '–'; }}] : []),
      ], all, {to: g => `/errors/${key(g)}`})}
      ${deadAtLeast || waitingAtLeast ? html`<p class="soft">Counted among the newest 10,000 dead letters${waitingAtLeast ? ' and 10,000 waiting jobs' : ''}; ≥ marks what may be more.</p>` : nothing}`)}`;
  },
};

const REPLAY_WORDS = {CANARY: 'canaries first', RUNNING: 'under way', DONE: 'done', STOPPED: 'stopped itself', CANCELLED: 'cancelled'};

function replayView(replay, reload) {
  const all = replay.succeeded + replay.failed;
  const share = all ? replay.failed / all : 0;
  const dots = Math.min(replay.canary, 20);
  const active = !replay.endedAt;
  const cancel = () => confirmed({title: 'Put no more jobs back?', about: 'Jobs that are back stay where they are.', verb: 'Cancel the replay', danger: true,
    run: ({why}) => send('POST', path`/v1/replays/${replay.id}/cancel`, {why}), done: 'The replay is cancelled.'});
  return html`<div class="replay">
    <p class="why">${state(replay.state || 'DONE', REPLAY_WORDS[replay.state] || replay.state)} ${replay.note ? html`<span>${said(replay.note)}</span>` : nothing}</p>
    ${facts([['put back', html`<b class="num">${number(replay.replayed)}</b> of ${replay.matchedAtLeast ? 'more than ' : ''}${number(replay.matched)}`],
      ['succeeded', number(replay.succeeded)], ['failed again', number(replay.failed)], ['in flight', number(replay.inFlight)],
      ['rate', `${replay.rate} per second`], ['began', when(replay.createdAt)], ['by', person(replay.by)],
      replay.patched.length ? ['changes', replay.patched.map(name => html`<code class="tag">${said(name)}</code>`)] : null])}
    <h3>Canaries</h3>
    <ol class="canaries" aria-label="Canaries">${Array.from({length: dots}, (_, i) => i < replay.succeeded ? html`<li>${state('SUCCEEDED')}</li>` : i < replay.succeeded + replay.failed ? html`<li>${state('FAILED')}</li>` : html`<li>${state('PENDING', i < replay.replayed ? 'runs' : 'waits')}</li>`)}</ol>
    <h3>Failed again: ${percent(share)}, stops at ${percent(replay.stopAt)}</h3>
    ${gauge('Share of failures', share, 1, {mark: replay.stopAt, kind: share >= replay.stopAt ? 'bad' : 'ok', text: `${percent(share)}, stops at ${percent(replay.stopAt)}`})}
    <h3>Progress</h3>${gauge('Put back', replay.replayed, Math.max(1, replay.matched))}
    ${active ? html`<div class="buttons">${act('operate', 'Cancel the replay …', cancel)}</div>` : nothing}</div>`;
}

/** Sends an order with a patch. The server tries it first; a person sees what becomes of a payload, and starts it then. */
async function patched(body, patch, own) {
  try { JSON.parse(patch); } catch (e) { throw new Error(`The change is not JSON: ${e.message}`); }
  // The patch is sent as it was typed: reading it as numbers could change them.
  const order = more => `${JSON.stringify({...body, ...more}).slice(0, -1)},"patch":${patch}}`;
  if (own.tried === patch) return send('POST', '/v1/replays', order());
  const text = await sendText('POST', '/v1/replays', order({dryRun: true}));
  const dry = JSON.parse(text), sample = rawMember(text, 'sample');
  if (!dry.sample) throw new Error('No dead letter of this type matches.');
  own.tried = patch;
  own.sample = {job: dry.sample.job, matched: dry.matched, before: indent(rawMember(sample, 'before')), after: indent(rawMember(sample, 'after'))};
  throw new Error(`Look at the payload of job ${dry.sample.job} above, and start it again.`);
}

async function startReplay(filter, reload, label, type) {
  const dry = await send('POST', '/v1/replays', {filter, dryRun: true});
  const own = {};
  confirmed({
    title: `Replay ${label} slowly`,
    about: () => html`${own.sample ? html`<p>The change fits. ${number(own.sample.matched)} dead letters match; job ${own.sample.job} has now, and would have:</p><div class="grid2"><pre class="payload" tabindex="0" aria-label="Payload before">${own.sample.before}</pre><pre class="payload" tabindex="0" aria-label="Payload after">${own.sample.after}</pre></div>` : nothing}<p>It puts <b>${dry.matchedAtLeast ? 'more than ' : ''}${number(dry.matched)}</b> dead letters back: the canaries first and alone, the rest at the rate. It stops itself when a canary fails again.</p>`,
    fields: [
      {name: 'canary', label: 'Canaries', type: 'number', min: 1, value: Math.min(3, Math.max(1, dry.matched)), required: true},
      {name: 'rate', label: 'Then so many per second (at most 500)', type: 'number', min: 0.01, step: 'any', value: 10, required: true},
      {name: 'stopAt', label: 'Stop when this share of the last 20 fails again (0.01 to 1)', type: 'number', min: 0.01, step: 0.01, value: 0.2, required: true},
      {name: 'limit', label: 'How many at most (empty is all)', type: 'number', min: 1},
      {name: 'queue', label: 'Into another queue (optional)'},
      {name: 'patch', label: `Change members of each payload (optional): a JSON object; null removes a member. Only jobs of type ${type} are put back then.`, type: 'textarea', rows: 3},
    ],
    verb: 'Start with the canaries',
    run: async values => {
      const body = {filter, canary: +values.canary, rate: +values.rate, stopAt: +values.stopAt, why: values.why};
      if (values.queue) body.queue = values.queue;
      if (values.limit) body.limit = +values.limit;
      const answer = values.patch.trim() ? await patched({...body, filter: {...filter, type}}, values.patch, own) : await send('POST', '/v1/replays', body);
      await reload();
      return answer;
    },
    done: 'The replay has begun.',
  });
}

async function discardAll(filter, reload) {
  const dry = await send('POST', '/v1/dead-letters/bulk', {action: 'discard', filter, dryRun: true});
  confirmed({
    title: `Delete ${plural(dry.matched, 'dead letter')} for good?`,
    about: 'They are deleted with their histories. Nothing brings them back.' + (dry.matched >= 10000 ? ' More than 10,000 match: this deletes 10,000 of them.' : ''),
    danger: true, verb: 'Delete them', typed: dry.matched > 1000 ? dry.matched : undefined,
    run: async ({why}) => { const answer = await send('POST', '/v1/dead-letters/bulk', {action: 'discard', filter, why}); await reload(); return answer; },
    done: answer => `${plural(answer.done, 'dead letter')} deleted.`,
  });
}

function noteDialog(fingerprint, note, reload) {
  confirmed({
    title: 'Note about this error', verb: 'Keep the note', about: 'Everybody sees it beside the error. A muted error is left out of what grows on Now, and its alerts are shown as known.',
    fields: [{name: 'text', label: 'Note, such as: known, INC-12', max: 1000, value: note?.text || ''}, {name: 'muted', label: 'Mute it: it is known', type: 'checkbox', value: note?.muted}],
    run: async v => {
      if (v.text || v.muted) await send('PUT', path`/v1/errors/${fingerprint}/note`, {text: v.text, muted: v.muted, why: v.why});
      else await send('DELETE', `${path`/v1/errors/${fingerprint}/note`}${query({why: v.why})}`);
      await reload();
    },
    done: 'It is noted.',
  });
}

/** Fields in which the payloads of some dead letters are alike or differ. */
const payloadsView = payloads => panel('Payloads', html`<div class="scroll" role="region" tabindex="0" aria-label="Fields of the payloads"><table><caption class="unseen">Fields of the payloads with their commonest values</caption><thead><tr><th scope="col">field</th><th scope="col" class="num">values</th><th scope="col">commonest</th></tr></thead>
  <tbody>${payloads.items.map(f => html`<tr><td>${said(f.name)}</td><td class="num">${f.distinct === 1 ? 'all alike' : f.distinct}</td><td class="wide">${f.values.slice(0, 3).map(v => html`<code class="tag">${said(v.text)}${f.distinct > 1 ? html` <small class="soft">× ${v.jobs}</small>` : nothing}</code>`)}</td></tr>`)}</tbody></table></div>`, `of the newest ${payloads.looked} dead letters`);

/** A trace with the lines of one's own code first; the whole behind it. */
function traceView(trace, id) {
  const own = ownFrames(trace);
  return html`<h3>Trace of job ${link(`/jobs/${id}`, id)} ${copyButton(trace)}</h3>
    ${own.length && own.length < trace.split('\n').length ? html`<pre class="payload" tabindex="0" aria-label="Own frames">${own.join('\n')}</pre><details><summary>The whole trace</summary><pre tabindex="0" aria-label="Trace">${trace}</pre></details>`
      : html`<pre class="payload" tabindex="0" aria-label="Trace">${trace}</pre>`}`;
}

/** The dead letters without an error as a group. */
async function errorless(signal) {
  const {items, deadAtLeast} = await get('/v1/errors', signal);
  return {items: items.filter(g => !g.fingerprint && g.dead).map(g => ({...g, count: g.dead})), next: deadAtLeast};
}

export const group = {
  title: 'Error group',
  every: 1000,
  async load({params: {fingerprint}, signal, state: own}) {
    const named = fingerprint !== 'none';
    const filter = named ? {fingerprint} : {q: term(fingerprint)};
    const [dead, groups, waiting, replays, hours, noted, stats] = await Promise.all([
      get(`/v1/dead-letters${query({...filter, limit: 50})}`, signal),
      named ? get(`/v1/dead-letters/groups${query({...filter, limit: 1})}`, signal) : errorless(signal),
      named ? get(`/v1/jobs${query({...filter, state: 'pending', limit: 1000})}`, signal) : {items: []},
      get('/v1/replays', signal), named ? get(path`/v1/series?of=error&name=${fingerprint}&step=1h&periods=48`, signal) : {items: []},
      named ? get(path`/v1/errors/${fingerprint}/note`, signal) : {note: null},
      // Costs change slowly and are larger than all the rest.
      own.stats && Date.now() - own.statsAt < 15000 ? own.stats : get('/v1/stats?since=31d', signal)]);
    if (stats !== own.stats) { own.stats = stats; own.statsAt = Date.now(); }
    const sample = groups.items[0]?.latest || dead.items[0] || waiting.items[0];
    if (sample && own.sample?.id !== sample.id) own.sample = await get(path`/v1/jobs/${sample.id}`, signal);
    if (named && dead.items.length && own.payloadsOf !== dead.items[0].id) {
      own.payloadsOf = dead.items[0].id;
      own.payloads = await get(path`/v1/errors/${fingerprint}/payloads`, signal);
    }
    return {note: noted.note, fingerprint, dead, group: groups.items[0], more: !!groups.next, waiting, hours: hours.items, costs: stats.costs,
      replays: replays.items.filter(r => fingerprint !== 'none' && r.filter?.fingerprint === fingerprint).sort((a, b) => b.createdAt.localeCompare(a.createdAt))};
  },
  // The list of jobs stays as it was while the numbers above it follow.
  merge(old, fresh) {
    const dead = steady(old.dead.items, fresh.dead.items);
    return {data: {...fresh, dead: {...fresh.dead, items: dead.items}}, fresh: dead.fresh};
  },
  render({fingerprint, note, dead, group: g, more, waiting, hours, costs, replays}, {state: own, reload}) {
    const error = g?.error || own.sample?.lastError;
    const failures = (own.sample?.history || []).filter(a => a.failure);
    const last = failures[failures.length - 1]?.failure;
    const attempts = dead.items.reduce((map, j) => map.set(j.attempts, (map.get(j.attempts) || 0) + 1), new Map());
    const most = Math.max(0, ...attempts.keys());
    const filter = {fingerprint};
    const mine = (costs?.entries || []).filter(e => e.error === fingerprint);
    const active = replays.filter(r => !r.endedAt);
    const can = fingerprint !== 'none' && (g?.count || 0) > 0;
    const failed = failedIn(hours.map(h => ({failed: h.failed, at: Date.parse(h.at)})), dayHour);
    return html`${heading(error ? shortType(error.type) : 'No error', html`${said(error?.message)}`, html`
        ${can && !active.length ? act('operate', 'Replay slowly …', () => startReplay(filter, () => reload(true), 'this group', (g.latest || dead.items[0]).type), 'main') : nothing}
        ${fingerprint !== 'none' ? act('operate', 'Note …', () => noteDialog(fingerprint, note, () => reload(true))) : nothing}
        ${can ? act('operate', 'Delete …', () => discardAll(filter, () => reload(true))) : nothing}`)}
      ${note ? html`<p class="note">${note.muted ? html`<span class="tag">muted</span>` : nothing}${said(note.text)} <small class="soft">${said(person(note.by))}, ${when(note.at)}</small></p>` : nothing}
      <div class="tiles">
        <a class="tile ${g ? 'bad' : ''}" href="#/jobs?q=${encodeURIComponent(`state:failed ${term(fingerprint)}`)}"><span>dead</span><b>${more ? '≥ ' : ''}${number(g?.count || 0)}</b></a>
        <a class="tile" href="#/jobs?q=${encodeURIComponent(`state:pending ${term(fingerprint)}`)}"><span>still being retried</span><b>${waiting.next ? '≥ ' : ''}${number(waiting.items.length)}</b></a>
        <div class="tile"><span>${g ? 'first, last dead' : 'first, last failure by hour'}</span><p>${g ? html`${when(g.firstAt)}<br>${when(g.lastAt)}` : html`${failed.first}<br>${failed.last}`}</p></div>
        <div class="tile"><span>chance of the next attempt</span><p>${chance((g?.latest || own.sample)?.prediction)}</p></div>
      </div>
      ${replays.length ? panel(active.length ? 'Replay under way' : 'Last replay', html`${replayView(replays[0], reload)}
        ${replays.length > 1 ? html`<details><summary>${plural(replays.length - 1, 'earlier replay')}</summary>${table('Earlier replays', [{name: 'began', cell: x => when(x.createdAt)}, {name: 'ended', cell: x => state(x.state, REPLAY_WORDS[x.state] || x.state)}, {name: 'put back', num: true, cell: x => number(x.replayed)}, {name: 'succeeded', num: true, cell: x => number(x.succeeded)}, {name: 'failed again', num: true, cell: x => number(x.failed)}, {name: 'by', cell: x => said(person(x.by))}, {name: 'why it ended', wide: true, cell: x => said(x.note || '')}], replays.slice(1, 21))}</details>` : nothing}`) : nothing}
      ${hours.some(r => r.failed) ? panel('Failures by hour', minutes(`Attempts that failed so in the last 48 hours: ${hours.reduce((s, r) => s + r.failed, 0)}, of which ${hours.reduce((s, r) => s + r.dead, 0)} were the last of their job`, hours.map(r => ({at: r.at, again: r.failed - r.dead, dead: r.dead})), [{key: 'again', name: 'failed, retried', kind: 'warn'}, {key: 'dead', name: 'failed for good', kind: 'bad'}], 'hour'), 'last 48 hours, whole fleet') : nothing}
      <div class="grid2">
      ${panel('The error', html`${facts([['type', html`<bdi class="said">${codeName(error?.type)}</bdi>`], ['fingerprint', html`<code>${fingerprint}</code>`],
        ['HTTP status', last?.httpStatus ?? '–'], ['code', said(last?.code || '–')],
        ['job type', g ? link(`/jobs?q=${encodeURIComponent(`type:${g.latest.type}`)}`, said(g.latest.type)) : '–'],
        ['resource', g?.latest.resource ? link(`/resources/${encodeURIComponent(g.latest.resource)}`, said(g.latest.resource)) : '–']])}
        ${last?.trace ? traceView(last.trace, own.sample.id) : nothing}`)}
      ${panel('What it cost', html`${mine.length ? facts(mine.map(e => [`${e.type}, ${e.unit}`, html`${number(e.amount)} in ${plural(e.runs, 'retry', 'retries')}, ${number(e.wasted)} for nothing`])) : html`<p class="soft">No retry of this error was counted in the last 31 days.</p>`}
        ${attempts.size ? html`<h3>Attempts of the newest ${dead.items.length}</h3><p>${attempts.size > 1 ? html`${spark(Array.from({length: most + 1}, (_, i) => attempts.get(i) || 0).slice(1), `Jobs by their attempts, 1 to ${most}`)} ` : nothing}<span class="soft">${[...attempts].sort(([a], [b]) => a - b).map(([n, c]) => `${c} after ${plural(n, 'attempt')}`).join(', ')}</span></p>` : nothing}`)}
      </div>
      ${own.payloads?.items.length ? payloadsView(own.payloads) : nothing}
      ${panel('Dead letters', dead.items.length ? table('Dead letters of this group', [
        {name: 'job', cell: j => link(`/jobs/${j.id}`, j.id)}, {name: 'type', cell: j => said(j.type)}, {name: 'queue', cell: j => said(j.queue)},
        {name: 'attempts', num: true, cell: j => j.attempts}, {name: 'gave up because', cell: j => String(j.failReason || '').toLowerCase().replaceAll('_', ' ')}, {name: 'failed', cell: j => when(j.finishedAt)},
        {name: 'message', wide: true, cell: j => html`<span class="clip">${said(j.lastError?.message)}</span>`},
      ], dead.items, {to: j => `/jobs/${j.id}`}) : empty('No job is dead of it.', replays.length ? 'Those that were put back are in the replay above.' : waiting.items.length ? 'Jobs that failed so are still being retried.' : nothing), link(`/jobs?q=${encodeURIComponent(`state:failed ${term(fingerprint)}`)}`, 'all of them'))}`;
  },
};
