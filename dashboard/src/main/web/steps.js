// SPDX-License-Identifier: Apache-2.0
// What a job has stored on its way, what it waits for, and what a person can say about it.
import {path, send} from './net.js';
import {act, confirmed, copyButton, html, link, nothing, panel, said, state, table, when, word} from './ui.js';
import {plural, rawItems, rawMember} from './text.js';

const STATES = {OPEN: ['PENDING', 'waits'], STARTED: ['RUNNING', 'began, end unknown'], DONE: ['DONE', 'stored'], FAILED: ['FAILED', 'failed']};

/** Reads steps and keeps their values as they are stored: reading numbers could change them. */
export function readSteps(text) {
  return rawItems(text, 'items').map(raw => ({...JSON.parse(raw), raw: rawMember(raw, 'value')}));
}

/** The batch of a join that waits; null for any other step. */
const joined = s => s.kind === 'JOIN' && /^"#[^"\\]*"$/.test(s.raw || '') ? JSON.parse(s.raw) : null;

const waitsFor = s => s.state !== 'OPEN' ? nothing
  : s.kind === 'EVENT' ? html`for the event ${said(s.name)}${s.dueAt ? html`, until ${when(s.dueAt)}` : nothing}`
  : joined(s) ? html`for ${link(`/jobs?q=${encodeURIComponent(`batch:"${joined(s)}"`)}`, 'the jobs of this join')}`
  : s.kind === 'SLEEP' ? html`until ${when(s.dueAt)}` : 'for its next run';

const value = s => s.raw === undefined || s.raw === 'null' ? nothing
  : html`<code class="clip">${said(s.raw.length > 2000 ? `${s.raw.slice(0, 2000)}…` : s.raw)}</code>${copyButton(s.raw)}`;

function controls(job, s, again) {
  const to = path`/v1/jobs/${job.id}/steps/resolve`;
  const say = (outcome, title, verb, about, fields = [], danger = false) => act('operate', title, () => confirmed({
    title: `${verb}: ${s.name}`, about, verb, danger, fields,
    run: async v => {
      if (v.result) { try { JSON.parse(v.result); } catch (e) { throw new Error(`The result is not JSON: ${e.message}`); } }
      // A result is sent as it was typed: reading it as numbers could change them.
      const rest = JSON.stringify({step: s.name, outcome, why: v.why || undefined});
      await send('POST', to, v.result ? `${rest.slice(0, -1)},"result":${v.result}}` : rest);
      await again();
    },
    done: 'It is written down, and the job goes on.',
  }), 'quiet');
  const tellable = s.resolvable && job.state === 'FAILED';
  const forget = () => confirmed({title: `Forget step ${s.name}?`, verb: 'Forget it', danger: true, about: 'The next run does it again. Retry the job afterwards.',
    fields: [{name: 'later', label: 'And all that were stored after it', type: 'checkbox'}],
    run: async v => { await send('POST', path`/v1/jobs/${job.id}/steps/forget`, {step: s.name, later: v.later, why: v.why || undefined}); await again(); }, done: 'It is forgotten.'});
  return html`<div class="rowacts">${tellable ? html`
    ${say('done', 'It was done …', 'It was done', 'The handler gets this result and does not run the step again.', [{name: 'result', label: 'Its result as JSON (empty for none)', type: 'textarea'}])}
    ${s.state === 'STARTED' ? say('again', 'Do it again …', 'Do it again', 'You know that it had no effect: the step runs once more.') : nothing}
    ${say('failed', 'It failed …', 'It failed', 'The handler gets an error with your words.', [], true)}` : nothing}
    ${job.state !== 'RUNNING' && job.state !== 'SUCCEEDED' ? act('operate', 'Forget …', forget, 'quiet') : nothing}</div>`;
}

/** The panel of steps; nothing for a job without any that cannot be told something. */
export function stepsView(job, steps, reload) {
  const again = () => reload(true);
  const live = job.state === 'PENDING' || job.state === 'RUNNING';
  const waits = steps.filter(s => s.kind === 'EVENT' && s.state === 'OPEN').map(s => s.name);
  const tell = () => confirmed({title: `Tell job ${job.id} an event`, verb: 'Tell it', why: false, about: 'The first event of a name stays. A job that waits for it goes on.',
    fields: [{name: 'name', label: 'Name of the event', required: true, max: 100, value: (waits[0] || '').replace(/^event:/, '')}, {name: 'value', label: 'Value as JSON', type: 'textarea', value: 'null'}],
    run: async v => {
      try { JSON.parse(v.value); } catch (e) { throw new Error(`The value is not JSON: ${e.message}`); }
      const answer = await send('POST', path`/v1/jobs/${job.id}/events`, `{"name":${JSON.stringify(v.name)},"value":${v.value}}`);
      await again();
      return answer;
    },
    done: answer => answer.told ? 'The job knows it.' : 'The job knew an event of this name already.'});
  if (!steps.length) return nothing;
  return panel('Steps', html`${job.failReason === 'UNKNOWN_OUTCOME' ? html`<p class="why">A step that runs at most once began and its end is not known. Find out at the other side, then say it here.</p>` : nothing}
    ${table('Steps', [
      {name: 'step', cell: s => html`${said(s.name)}<br><small class="soft">${word(s.kind)}</small>`},
      {name: 'state', cell: s => html`${s.kind === 'SLEEP' && s.state === 'DONE' ? state('DONE', 'over') : state(...STATES[s.state])}${s.suspensions ? html`<br><small class="soft">suspended ${plural(s.suspensions, 'time')}</small>` : nothing}`},
      {name: 'written', cell: s => when(s.at)}, {name: 'waits', cell: waitsFor},
      {name: 'what is stored', wide: true, cell: s => s.failure ? html`${said(s.failure.type)} ${said(s.failure.message || '')} <small class="soft">${word(s.failure.reason)}</small>` : value(s)},
      {name: '', cell: s => controls(job, s, again)}], steps)}`,
    html`${plural(steps.length, 'step')}${live ? act('enqueue', 'Tell an event …', tell, 'quiet') : nothing}`);
}

/** The lines that handlers wrote; nothing for a job without any. */
export function logView(lines) {
  if (!lines.length) return nothing;
  return panel('Log', table('Log lines', [
    {name: 'run', cell: l => html`<small class="soft">${l.fence}</small>`},
    {name: 'written', cell: l => when(l.at)},
    {name: 'line', wide: true, cell: l => said(l.text)}], lines), html`${plural(lines.length, 'line')}`);
}
