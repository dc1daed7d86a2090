// SPDX-License-Identifier: Apache-2.0
// Policies with a plot and lint, and the simulator.
import {get, lines, path, Problem, query, send} from './net.js';
import {act, confirmed, copyButton, empty, heading, html, link, nothing, panel, said, table} from './ui.js';
import {curves, delays} from './charts.js';
import {briefly, javaPolicy, number, parseDuration, percent, plural, policyWords, seconds} from './text.js';

const steps = plan => plan.steps.map(s => ({retry: s.retry, min: parseDuration(s.min), max: parseDuration(s.max), mean: parseDuration(s.mean)}));
const sum = (list, key) => list.reduce((s, x) => s + x[key], 0);

export const policies = {
  title: 'Policies', every: 30000,
  load: ({signal}) => get('/v1/policies', signal),
  render: ({items}) => html`${heading('Policies', 'When a failed job comes back, and when it is given up. A job keeps the policy that it was enqueued with.', html`<a class="button" href="#/policies/new">Try one out</a>`)}
    ${panel(plural(items.length, 'policy', 'policies'), table('Policies', [
      {name: 'name', cell: p => link(`/policies/${encodeURIComponent(p.name)}`, said(p.name))}, {name: 'version', cell: p => p.preset ? html`<span class="tag">preset</span>` : p.version},
      {name: 'attempts', num: true, cell: p => 'maxAttempts' in p.policy ? p.policy.maxAttempts ?? 'no limit' : 'default'}, {name: 'delays', wide: true, cell: p => policyWords(p.policy) || '–'},
    ], items, {to: p => `/policies/${encodeURIComponent(p.name)}`}))}`,
};

// Fields of the form; the JSON beside it has all of them.
const FIELDS = [
  ['backoff', 'Backoff', ['exponential', 'linear', 'fixed']], ['base', 'First delay'], ['factor', 'Factor', null, 'number'], ['cap', 'Longest delay'],
  ['jitter', 'Jitter', ['full', 'equal', 'none', 'decorrelated', 'proportional', 'additive']], ['maxAttempts', 'Attempts', null, 'number'], ['deadline', 'Deadline'],
];

/** The field of the form that a warning is about; the words of its code lead there. */
const fieldOf = warning => FIELDS.map(([name]) => name).find(name => warning.code.replaceAll('-', '').toLowerCase().includes(name.toLowerCase()) || warning.message.includes(name)) || null;

async function preview(own, update) {
  own.asked = (own.asked || 0) + 1;
  const mine = own.asked;
  try {
    const plan = await send('POST', '/v1/policies/preview', own.text);
    // An answer to an older text is dropped.
    if (mine !== own.asked) return;
    own.plan = plan;
    own.error = null;
  } catch (e) {
    if (mine !== own.asked) return;
    own.error = e;
  }
  update();
}

function edit(own, update, change) {
  let policy;
  try { policy = JSON.parse(own.text); } catch { return; }
  change(policy);
  own.text = JSON.stringify(policy, null, 2);
  preview(own, update);
  update();
}

export const policy = {
  title: 'Policy',
  async load({params: {name}, signal, state: own, update}) {
    const all = await get('/v1/policies', signal);
    const known = all.items.find(p => p.name === name) || (name === 'new' ? null : await get(path`/v1/policies/${name}`, signal));
    own.text = JSON.stringify(known?.policy || {}, null, 2);
    await preview(own, () => {});
    return {known, all: all.items};
  },
  render({known, all}, {state: own, update, reload, can}) {
    let parsed = null;
    try { parsed = JSON.parse(own.text); } catch { /* the text is being written */ }
    const warnings = own.plan?.warnings || [];
    const plan = own.plan ? steps(own.plan) : [];
    const plans = [{name: known?.name || 'this policy', steps: plan}, ...(own.other ? [{name: own.other, steps: own.otherSteps}] : [])];
    const compare = async event => {
      own.other = event.target.value;
      if (own.other) own.otherSteps = steps(await send('POST', `/v1/policies/preview?retries=${Math.max(1, plan.length)}`, JSON.stringify(own.other)));
      update();
    };
    const save = () => confirmed({title: 'Save the policy', verb: 'Save', fields: [{name: 'name', label: 'Name', required: true, max: 100, value: known && !known.preset ? known.name : ''}],
      about: 'Jobs that were enqueued before keep what they had.',
      run: async v => { const version = known && v.name === known.name ? known.version : 0; await send('PUT', `${path`/v1/policies/${v.name}`}${query({why: v.why})}`, own.text, {'If-Match': `"${version}"`}); location.hash = `/policies/${encodeURIComponent(v.name)}`; await reload(true); }, done: 'The policy is saved.'});
    const problems = own.error instanceof Problem ? own.error.errors : [];
    return html`${heading(known ? html`Policy ${said(known.name)}` : 'Try a policy out', known?.preset ? 'A preset. Save it under another name to change it.' : known ? `Version ${known.version}.` : 'Nothing is stored until you save it.', html`${copyButton(() => own.text, 'Copy JSON')}${parsed ? copyButton(() => javaPolicy(parsed), 'Copy Java') : nothing}${act('operate', 'Save …', save, 'main')}`)}
      <div class="two"><div>${panel('Fields', html`<div class="form">${FIELDS.map(([name, label, choices, type]) => {
        const value = parsed?.[name];
        const shown = value === undefined || value === null ? '' : typeof value === 'object' ? (value.kind || value.type || '') : /^PT?\d/.test(value) ? briefly(value) : value;
        const warning = warnings.find(w => fieldOf(w) === name);
        const problem = problems.find(p => String(p.field || '').includes(name));
        const put = v => edit(own, update, p => { if (v === '') delete p[name]; else p[name] = type === 'number' ? +v : typeof value === 'object' && value ? {...value, kind: v} : v; });
        return html`<div class="field"><label for="p-${name}">${label}</label>${choices
          ? html`<select id="p-${name}" @change=${e => put(e.target.value)}><option value="" ?selected=${shown === ''}>not set</option>${choices.map(c => html`<option ?selected=${String(shown).toLowerCase() === c}>${c}</option>`)}</select>`
          : html`<input id="p-${name}" type=${type || 'text'} step="any" .value=${shown} @input=${e => put(e.target.value)}>`}
          ${warning ? html`<span class="lint">${warning.message}</span>` : nothing}${problem ? html`<span class="problem">${problem.message}</span>` : nothing}</div>`;
      })}</div>`)}</div>
      <div>${panel('JSON', html`<label class="unseen" for="p-json">Policy as JSON</label><textarea id="p-json" rows="14" spellcheck="false" .value=${own.text} @input=${e => { own.text = e.target.value; preview(own, update); }}></textarea>
        ${own.error ? html`<p class="problem" role="alert">${own.error.message}${problems.map(p => html`<br>${p.field} ${p.message}`)}</p>` : nothing}`)}</div></div>
      ${panel('Delays', html`<div class="field"><label for="p-other">Compare with</label><select id="p-other" @change=${compare}><option value="">nothing</option>${all.map(p => html`<option ?selected=${own.other === p.name}>${p.name}</option>`)}</select></div>
        ${plan.length ? delays(`Delays of ${plural(plan.length, 'retry', 'retries')} with their jitter windows`, plans) : empty('No retry.')}
        <p>${own.plan ? html`Gives up after <b>${own.plan.maxAttempts ?? 'no number of'}</b> attempts: after <b>${seconds(sum(plan, 'min'))}</b> at the least, <b>${seconds(sum(plan, 'mean'))}</b> on average, <b>${seconds(sum(plan, 'max'))}</b> at the most.` : nothing}</p>`)}
      ${own.plan?.samples?.length && plan.length ? panel('Five jobs', html`<p class="soft">Jobs of which every attempt failed, with the delays that were drawn for them.</p>${table('Sample of five jobs', [{name: 'job', cell: s => s.job}, {name: 'gave up after', cell: s => seconds(s.delays.reduce((a, b) => a + b, 0))}, {name: 'delays', wide: true, cell: s => html`<span class="num">${s.delays.slice(0, 20).map(seconds).join(', ')}${s.delays.length > 20 ? ' …' : ''}</span>`}], own.plan.samples.map((delays, i) => ({job: i + 1, delays: delays.map(parseDuration)})))}`, 'drawn on the server') : nothing}
      ${panel('Lint', warnings.length ? html`<ul>${warnings.map(w => html`<li><code>${w.code}</code> <span class="lint">${w.message}</span></li>`)}</ul>` : html`<p class="soft">Nothing is odd about it.</p>`, known ? link(`/simulator?policies=${encodeURIComponent(`${known.name},reprise,sidekiq`)}`, 'try it in the simulator') : link('/simulator', 'open the simulator'))}`;
  },
};

/* The simulator. All parameters are in the address, so a link shows the same run. */

const PARAMETERS = [['outage', 'Outage', 1, 30, 5, 'min'], ['rate', 'Jobs', 1, 20, 10, 'per second'], ['capacity', 'The resource serves', 1, 200, 20, 'per second'], ['concurrency', 'Workers run', 4, 1000, 400, 'at once'], ['seed', 'Seed', 1, 100, 1, '']];
const OTHERS = ['reprise', 'reprise-policy-only', 'river', 'sidekiq', 'oban', 'jobrunr'];

async function simulate(own, values, signal, update) {
  own.running = true;
  own.error = null;
  own.items = [];
  update();
  try {
    const body = {outageMinutes: values.outage, rate: values.rate, capacity: values.capacity, concurrency: values.concurrency, seed: values.seed, policies: values.policies};
    await lines('/v1/simulations', body, signal, item => { own.items = [...own.items, item]; update(); });
  } catch (e) {
    if (e.name !== 'AbortError') own.error = e;
  }
  own.running = false;
  update();
}

export const simulator = {
  title: 'Simulator',
  async load({signal, search, state: own}) {
    own.values = Object.fromEntries(PARAMETERS.map(([name, , min, max, otherwise]) => [name, Math.min(max, Math.max(min, +search.get(name) || otherwise))]));
    own.values.policies = (search.get('policies') || 'reprise,reprise-policy-only,sidekiq').split(',').filter(Boolean).slice(0, 4);
    return {all: [...OTHERS, ...(await get('/v1/policies', signal)).items.map(p => p.name)]};
  },
  render({all}, {state: own, update, signal}) {
    const values = own.values;
    const show = () => { history.replaceState(null, '', `#/simulator?${PARAMETERS.map(([n]) => `${n}=${values[n]}`).join('&')}&policies=${values.policies.join(',')}`); update(); };
    const choose = name => { values.policies = values.policies.includes(name) ? values.policies.filter(p => p !== name) : [...values.policies, name].slice(-4); show(); };
    const items = own.items || [];
    return html`${heading('Simulator', 'The real engine on the server, in virtual time: a resource goes down after a minute and comes back. Which policy brings the jobs through, and at what price?')}
      ${panel('What happens', html`<form @submit=${e => { e.preventDefault(); simulate(own, values, signal, update); }}><div class="form">${PARAMETERS.map(([name, label, min, max, , unit]) => html`<div class="field"><label for="s-${name}">${label}: <b class="num">${values[name]} ${unit}</b></label><input id="s-${name}" type="range" min=${min} max=${max} .value=${String(values[name])} @input=${e => { values[name] = +e.target.value; show(); }}></div>`)}</div>
        <fieldset><legend>Policies, up to four</legend>${[...new Set(all)].map(name => html`<label class="pick"><input type="checkbox" .checked=${values.policies.includes(name)} @change=${() => choose(name)}> ${name}</label>`)}</fieldset>
        <button type="submit" class="main" ?disabled=${own.running || !values.policies.length}>${own.running ? `Running: ${items.length} of ${values.policies.length} done` : 'Run it'}</button> ${copyButton(() => location.href, 'Copy the link')}</form>
        ${own.error ? html`<p class="problem" role="alert">${own.error.message}</p>` : nothing}`)}
      ${items.length ? html`${panel('Calls per second', curves(`Calls per second that reach the resource: ${items.map(i => `${i.name} ${number(i.peak)} at the peak after the outage`).join(', ')}`, items.map(i => ({name: i.name, values: i.callsPerSecond})), items[0].seconds, ''), 'while jobs arrive')}
        ${panel('How it ended', table('Results', [{name: 'policy', cell: i => html`${said(i.name)}${i.cut ? html` <small class="lint">ended after a million calls</small>` : nothing}`}, {name: 'succeeded', num: true, cell: i => percent(i.succeeded / Math.max(1, i.jobs))}, {name: 'dead', num: true, cell: i => number(i.dead)}, {name: 'calls per job', num: true, cell: i => i.callsPerJob.toFixed(2)}, {name: 'most calls in a second, after', num: true, cell: i => number(i.peak)}, {name: '99 % were through within', num: true, cell: i => seconds(i.p99Seconds)}], items))}` : nothing}`;
  },
};
