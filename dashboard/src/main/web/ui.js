// SPDX-License-Identifier: Apache-2.0
// Pieces that all screens share.
import {html, nothing, render} from './lit-html.js';
import {Problem} from './net.js';
import {ago, clock, compact, lasted, number, shortType} from './text.js';

export {html, nothing, render};

/** @type {{name: string, scopes: string[], tenant: string|null} | null} */
let session = null;
export const setSession = value => { session = value; };
export const getSession = () => session;
export const can = scope => !!session?.scopes.includes(scope);

// A state has a shape and a word; its colour only helps.
const SHAPES = {
  PENDING: ['wait', '○'], RUNNING: ['run', '◐'], SUCCEEDED: ['ok', '✓'], FAILED: ['bad', '✕'], CANCELLED: ['off', '–'],
  CLOSED: ['ok', '●'], OPEN: ['bad', '▲'], HALF_OPEN: ['warn', '◒'], RAMPING: ['warn', '◢'],
  RAMP: ['warn', '◢'], FORCED_OPEN: ['bad', '▲'], FORCED_CLOSED: ['warn', '●'],
  CANARY: ['warn', '◇'], DONE: ['ok', '✓'], STOPPED: ['bad', '■'], LOST: ['warn', '?'],
};

export const word = text => String(text).toLowerCase().replaceAll('_', ' ');

export function state(value, label) {
  const [kind, shape] = SHAPES[value] || ['off', '·'];
  return html`<span class="state ${kind}"><span aria-hidden="true">${shape}</span> ${label || word(value)}</span>`;
}

/** Text that a caller wrote. It is isolated, so that its direction does not turn what stands beside it. */
export const said = text => html`<bdi class="said">${text}</bdi>`;

export const when = time => time ? html`<time datetime=${time} title=${clock(time)}>${ago(time)}</time>` : html`<span class="soft">never</span>`;

/** A name of code. In a narrow column it breaks where a new word begins. */
export const codeName = name => String(name || '').split(/(?<=[.$])|(?<=[a-z])(?=[A-Z])/).map((part, i) => i ? html`<wbr>${part}` : part);

export const typeName = type => codeName(shortType(type));

/** When something is to happen. What is past has not happened yet: it is due. */
export const due = time => Date.parse(time) > Date.now() - 1500 ? when(time) : html`<time datetime=${time} title=${clock(time)}>due for ${lasted(time)}</time>`;

export const link = (to, text, kind) => html`<a href="#${to}" class=${kind || nothing}>${text}</a>`;

/** A number that leads to the list it counts. */
export const count = (value, to, atLeast) =>
  html`<a class="num" href="#${to}" title=${number(value)}>${atLeast ? '≥ ' : ''}${compact(value)}</a>`;

export const heading = (title, about, actions) => html`
  <header class="head"><div><h1 tabindex="-1">${title}</h1>${about ? html`<p class="lead">${about}</p>` : nothing}</div>
  ${actions ? html`<div class="actions">${actions}</div>` : nothing}</header>`;

export const empty = (title, about) => html`<div class="empty"><p>${title}</p>${about ? html`<p class="soft">${about}</p>` : nothing}</div>`;

export const panel = (title, content, more) => html`<section class="panel"><h2>${title}${more ? html`<span class="more">${more}</span>` : nothing}</h2>${content}</section>`;

export const facts = pairs => html`<dl class="facts">${pairs.filter(Boolean).map(([name, value]) =>
  html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;

/**
 * A table whose rows can be walked with j and k. A column is {name, cell, num, wide}.
 */
export function table(label, columns, rows, {to} = {}) {
  return html`<div class="scroll" role="region" aria-label=${label} tabindex="0"><table><caption class="unseen">${label}</caption>
    <thead><tr>${columns.map(c => html`<th scope="col" class=${c.num ? 'num' : nothing}>${c.name ? c.name.replace(/(\d) /g, '$1\u00a0') : html`<span class="unseen">actions</span>`}</th>`)}</tr></thead>
    <tbody>${rows.map(row => html`<tr data-to=${to ? to(row) : nothing}>${columns.map(c =>
      html`<td class=${c.num ? 'num' : c.wide ? 'wide' : nothing}>${c.cell(row)}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** A button; without the scope there is none. */
export const act = (scope, text, action, kind = '') =>
  can(scope) ? html`<button type="button" class=${kind || nothing} @click=${action}>${text}</button>` : nothing;

let announced = 0;
/** Says something to a screen reader, at most every ten seconds unless it is urgent. */
export function announce(text, urgent) {
  const now = Date.now();
  if (!urgent && now - announced < 10000) return;
  announced = now;
  document.getElementById('announcer').textContent = text;
}

let toastTimer;
export function toast(text, bad) {
  let place = document.getElementById('toast');
  if (!place) {
    place = document.createElement('div');
    place.id = 'toast';
    document.body.append(place);
  }
  place.className = bad ? 'bad shown' : 'shown';
  place.setAttribute('role', bad ? 'alert' : 'status');
  place.textContent = text;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { place.className = ''; place.textContent = ''; }, bad ? 12000 : 5000);
}

/** Copies as it is, also where the page is not a secure context. */
export async function copy(text) {
  try {
    if (!navigator.clipboard) throw new Error('no clipboard');
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  toast('Copied');
}

export const copyButton = (text, label = 'Copy') =>
  html`<button type="button" class="quiet" @click=${() => copy(typeof text === 'function' ? text() : text)}>${label}</button>`;

/**
 * Asks before it acts: why, and what else the action needs.
 * @param {{title: string, about?: any, fields?: any[], danger?: boolean, verb: string, typed?: string, why?: boolean,
 *   run: (values: Record<string, any>) => Promise<any>, done?: string|((answer: any) => string)}} ask
 */
export function confirmed(ask) {
  const dialog = document.createElement('dialog');
  const before = document.activeElement;
  let problem = null;
  let busy = false;
  const fields = [...(ask.fields || []), ...(ask.why === false ? [] : [{name: 'why', label: 'Why? It is written into the audit log.', max: 500}])];
  const draw = () => render(html`<form method="dialog" @submit=${submit}>
    <h2 id="ask-title">${ask.title}</h2>
    ${ask.about ? html`<div class="about">${typeof ask.about === 'function' ? ask.about() : ask.about}</div>` : nothing}
    ${fields.map(input)}
    ${ask.typed ? input({name: 'typed', label: `Type ${ask.typed} to go on.`, required: true}) : nothing}
    ${problem ? html`<p class="problem" role="alert">${problem.message}${(problem.errors || []).map(e => html`<br>${e.field} ${e.message}`)}</p>` : nothing}
    <div class="buttons"><button type="button" class="quiet" @click=${close}>Leave it</button>
    <button type="submit" class=${ask.danger ? 'danger' : 'main'} ?disabled=${busy}>${busy ? 'Working …' : ask.verb}</button></div></form>`, dialog);
  const input = field => {
    const id = `ask-${field.name}`;
    if (field.type === 'checkbox') {
      return html`<label class="check"><input id=${id} name=${field.name} type="checkbox" .checked=${!!field.value}> ${field.label}</label>`;
    }
    const body = field.type === 'textarea'
      ? html`<textarea id=${id} name=${field.name} rows=${field.rows || 10} spellcheck="false" .value=${field.value ?? ''}></textarea>`
      : field.type === 'select'
        ? html`<select id=${id} name=${field.name}>${field.choices.map(c => html`<option ?selected=${c === field.value}>${c}</option>`)}</select>`
        : html`<input id=${id} name=${field.name} type=${field.type || 'text'} maxlength=${field.max || 2000} autocomplete="off"
            min=${field.min ?? nothing} step=${field.step ?? nothing} ?required=${field.required} .value=${field.value ?? ''}>`;
    return html`<div class="field"><label for=${id}>${field.label}</label>${body}</div>`;
  };
  const close = () => { dialog.close(); };
  const submit = async event => {
    event.preventDefault();
    const form = new FormData(event.target);
    const values = {};
    fields.forEach(f => { values[f.name] = f.type === 'checkbox' ? form.has(f.name) : form.get(f.name); });
    if (ask.typed && form.get('typed') !== String(ask.typed)) {
      problem = new Error(`Type ${ask.typed} to go on.`);
      draw();
      return;
    }
    busy = true;
    problem = null;
    draw();
    try {
      const answer = await ask.run(values);
      close();
      const told = typeof ask.done === 'function' ? ask.done(answer) : ask.done;
      if (told) { toast(told); announce(told, true); }
    } catch (e) {
      busy = false;
      problem = e;
      draw();
    }
  };
  dialog.setAttribute('aria-labelledby', 'ask-title');
  // What was pressed may be gone with what it did. The focus must not be lost then.
  dialog.addEventListener('close', () => { dialog.remove(); (before?.isConnected ? before : document.querySelector('main h1'))?.focus(); });
  document.body.append(dialog);
  draw();
  dialog.showModal();
}

/** Shows a text that is given only once. */
export function reveal(title, about, text) {
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', 'reveal-title');
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  render(html`<h2 id="reveal-title">${title}</h2><p class="soft">${about}</p><pre class="secret" tabindex="0">${text}</pre>
    <div class="buttons">${copyButton(text)}<button type="button" class="main" @click=${() => dialog.close()}>I have it</button></div>`, dialog);
  dialog.showModal();
}

export function problemView(error, retry) {
  if (error instanceof Problem && error.status === 404) return empty('There is nothing here.', error.message);
  return html`<div class="empty"><p>${error.message}</p>${retry ? html`<button type="button" @click=${retry}>Try again</button>` : nothing}</div>`;
}
