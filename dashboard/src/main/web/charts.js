// SPDX-License-Identifier: Apache-2.0
// Charts as SVG. Geometry is in pure functions; each chart has a text for those who do not see it.
import {html, nothing} from './lit-html.js';
import {svg} from './lit-html.js';
import {ago, clock, compact, plural, seconds, shortClock} from './text.js';

/** A round number at or above the value: 1, 2 or 5 times a power of ten. */
export function niceMax(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map(f => f * power).find(f => f >= value * 0.999);
}

/** Points of a line in a box, from values at even distances. */
export function linePoints(values, width, height, max) {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  return values.map((v, i) => [i * step, height - (height * Math.min(v, max)) / max]);
}

/** The width of a drawing: a narrow window gets a narrow one, so that its text stays readable. */
const fit = wide => Math.min(wide, Math.max(260, innerWidth - 110));

const pathOf = points => points.map(([x, y], i) => `${i ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

const data = (label, head, rows) => html`<details class="data"><summary>Figures</summary><div class="scroll" role="region" tabindex="0" aria-label="Figures of ${label}"><table>
  <thead><tr>${head.map(h => html`<th scope="col">${h}</th>`)}</tr></thead>
  <tbody>${rows.map(r => html`<tr>${r.map(c => html`<td>${c}</td>`)}</tr>`)}</tbody></table></div></details>`;

/** Bars of several series, one beside the line of time: [{at, a, b, c}], series [{key, name, kind}]. */
export function minutes(label, rows, series, unit = 'minute') {
  const w = fit(1100), h = 150, top = 8;
  const max = niceMax(Math.max(1, ...rows.map(r => series.reduce((s, x) => s + (x.line ? 0 : r[x.key]), 0)), ...series.filter(s => s.line).flatMap(s => rows.map(r => r[s.key]))));
  const step = w / Math.max(1, rows.length);
  const bars = series.filter(s => !s.line);
  return html`<figure class="chart"><svg viewBox="0 0 ${w + 46} ${h + 30}" role="img" aria-label=${label}>
    ${[0, 0.5, 1].map(f => svg`<line class="grid" x1="0" x2=${w} y1=${top + h * (1 - f)} y2=${top + h * (1 - f)}></line><text class="tick" x=${w + 6} y=${top + h * (1 - f) + 4}>${compact(max * f)}</text>`)}
    ${rows.map((r, i) => {
      let base = top + h;
      return bars.map(s => {
        const height = (h * Math.min(r[s.key], max)) / max;
        base -= height;
        return height > 0 ? svg`<rect class="bar ${s.kind}" x=${(i * step + step * 0.12).toFixed(1)} y=${base.toFixed(1)} width=${(step * 0.76).toFixed(1)} height=${height.toFixed(1)}><title>${shortClock(r.at)}: ${r[s.key]} ${s.name}</title></rect>` : nothing;
      });
    })}
    ${series.filter(s => s.line).map(s => svg`<path class="curve ${s.kind}" transform="translate(${(step / 2).toFixed(1)} ${top})" d=${pathOf(linePoints(rows.map(r => r[s.key]), w - step, h, max))}></path>`)}
    ${rows.length ? svg`<text class="tick" x="0" y=${h + 26}>${unit === 'minute' ? shortClock(rows[0].at).slice(0, 5) : ago(rows[0].at)}</text><text class="tick end" x=${w} y=${h + 26}>now</text>` : nothing}
  </svg><figcaption>${series.map(s => html`<span class="key ${s.kind}">${s.name}</span>`)}</figcaption>
  ${data(label, [unit, ...series.map(s => s.name)], rows.map(r => [unit === 'minute' ? shortClock(r.at) : clock(r.at), ...series.map(s => r[s.key])]))}</figure>`;
}

/** One bar of parts, each a link: [{name, value, to, kind}]. */
export function parts(label, items) {
  const sum = items.reduce((s, i) => s + i.value, 0);
  let x = 0;
  return html`<figure class="chart"><svg class="parts" viewBox="0 0 1000 18" role="img" preserveAspectRatio="none" aria-label="${label}: ${items.map(i => `${i.name} ${i.value}`).join(', ')}">
    ${sum === 0 ? svg`<rect class="part none" width="1000" height="18"></rect>` : items.filter(i => i.value > 0).map(i => {
      const width = Math.max(4, (1000 * i.value) / sum);
      const piece = svg`<rect class="part ${i.kind}" x=${x.toFixed(1)} width=${(width - 2).toFixed(1)} height="18"><title>${i.name}: ${i.value}</title></rect>`;
      x += width;
      return piece;
    })}</svg>
    <ul class="legend">${items.map(i => html`<li class=${i.value ? '' : 'zero'}><a href="#${i.to}"><span class="dot ${i.kind}" aria-hidden="true"></span>${i.name} <b class="num">${i.atLeast && i.value ? '≥ ' : ''}${compact(i.value)}</b></a></li>`)}</ul></figure>`;
}

export function spark(values, label) {
  const max = Math.max(1, ...values);
  return html`<svg class="spark" viewBox="0 0 80 20" role="img" aria-label=${label}>${values.map((v, i) =>
    svg`<rect x=${((80 / values.length) * i).toFixed(1)} y=${(20 - (19 * v) / max).toFixed(1)} width=${Math.max(1, 80 / values.length - 1).toFixed(1)} height=${Math.max(v ? 1 : 0, (19 * v) / max).toFixed(1)}></rect>`)}</svg>`;
}

/** A value between two ends, with an optional mark. */
export function gauge(label, value, max, {mark, kind = '', text} = {}) {
  const part = max > 0 ? Math.max(0, Math.min(1, value / max)) : 0;
  return html`<svg class="gauge" viewBox="0 0 200 12" role="img" aria-label="${label}: ${text || `${compact(value)} of ${compact(max)}`}" preserveAspectRatio="none">
    <rect class="rail" width="200" height="12"></rect><rect class="level ${kind}" width=${(200 * part).toFixed(1)} height="12"></rect>
    ${mark !== undefined ? svg`<line class="mark" x1=${(200 * mark / max).toFixed(1)} x2=${(200 * mark / max).toFixed(1)} y1="0" y2="12"></line>` : nothing}</svg>`;
}

/** A chance with its interval. */
export function chance(prediction) {
  if (!prediction) return html`<span class="soft" title="Fewer than 10 retries of this kind were seen, or no attempt of this job counted yet">not known yet</span>`;
  const {probability: p, low, high, samples} = prediction;
  return html`<span class="chance" title="${prediction.text}"><svg viewBox="0 0 100 12" role="img" aria-label="${Math.round(100 * p)} %, between ${Math.round(100 * low)} and ${Math.round(100 * high)} %, of ${Math.round(samples)} tries">
    <line class="rail" x1="0" x2="100" y1="6" y2="6"></line><line class="range" x1=${100 * low} x2=${Math.max(100 * high, 100 * low + 1)} y1="6" y2="6"></line><circle cx=${Math.max(3, Math.min(97, 100 * p))} cy="6" r="3.5"></circle></svg>
    <b class="num">${Math.round(100 * p)} %</b></span>`;
}

/** Places events on a line whose gaps are shrunk, so that a run of a second is seen beside a wait of a day. */
export function squeeze(times, width) {
  const sorted = [...new Set(times)].sort((a, b) => a - b);
  const weights = sorted.slice(1).map((t, i) => Math.log10(1 + (t - sorted[i]) / 50) + 0.35);
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  const places = new Map();
  let x = 0;
  sorted.forEach((t, i) => {
    places.set(t, x);
    x += (width * (weights[i] || 0)) / sum;
  });
  return t => {
    if (places.has(t)) return places.get(t);
    const next = sorted.findIndex(s => s > t);
    if (next <= 0) return next === 0 ? 0 : width;
    const a = sorted[next - 1], b = sorted[next];
    return places.get(a) + ((places.get(b) - places.get(a)) * (t - a)) / (b - a);
  };
}

const KIND = {SUCCEEDED: 'ok', FAILED: 'bad', LOST: 'warn', INTERRUPTED: 'warn', SNOOZED: 'wait', RELEASED: 'wait', CANCELLED: 'off', PARKED: 'wait'};

/**
 * What happened to a job and what is planned. Waits are windows from the earliest to the latest instant that jitter
 * allows; the drawn instant is where the run begins.
 */
export function timeline(job, plan, now) {
  const w = fit(900), y = 46;
  const t = time => Date.parse(time);
  const history = job.history || [];
  const planned = (plan?.planned || []).slice(0, 8);
  const times = [t(job.createdAt), now, ...history.flatMap(a => [t(a.startedAt), t(a.endedAt)]),
    ...(plan?.past || []).flatMap(p => [t(p.earliest), t(p.latest)]), ...planned.flatMap(p => [t(p.earliest), t(p.latest)])];
  if (job.deadline) times.push(t(job.deadline));
  if (job.startedAt) times.push(t(job.startedAt));
  const place = squeeze(times.filter(x => !isNaN(x)), w);
  const band = (p, kind) => {
    const a = place(t(p.earliest)), b = place(t(p.latest));
    return svg`<rect class="window ${kind}" x=${a.toFixed(1)} width=${Math.max(2, b - a).toFixed(1)} y=${y - 13} height="26" rx="3"><title>attempt ${p.attempt}: ${clock(p.earliest)} to ${clock(p.latest)}</title></rect>`;
  };
  const gives = plan && !plan.more && planned.length && planned[planned.length - 1].attempt === plan.givesUpAfter ? planned[planned.length - 1] : null;
  const label = `${history.length} past attempts, ${planned.length} planned` + (job.deadline ? `, deadline ${clock(job.deadline)}` : '');
  return html`<figure class="chart timeline"><svg viewBox="-6 0 ${w + 12} 96" role="img" aria-label=${label}>
    <line class="axis" x1="0" x2=${w} y1=${y} y2=${y}></line>
    ${(plan?.past || []).map(p => band(p, 'past'))}
    ${planned.map((p, i) => svg`${band(p, 'next')}<text class="tick mid" x=${((place(t(p.earliest)) + place(t(p.latest))) / 2).toFixed(1)} y=${y + 30 + 12 * (i % 2)}>${p.attempt}</text>`)}
    ${history.map(a => {
      const x1 = place(t(a.startedAt)), x2 = place(t(a.endedAt));
      return svg`<rect class="run ${KIND[a.ending] || 'off'}" x=${x1.toFixed(1)} width=${Math.max(4, x2 - x1).toFixed(1)} y=${y - 9} height="18" rx="2"><title>attempt ${a.number}: ${a.ending}, ${seconds((t(a.endedAt) - t(a.startedAt)) / 1000)}</title></rect><text class="tick mid" x=${((x1 + x2) / 2).toFixed(1)} y=${y - 16}>${a.number || '·'}</text>`;
    })}
    ${job.state === 'RUNNING' && job.startedAt ? svg`<rect class="run live" x=${place(t(job.startedAt)).toFixed(1)} width=${Math.max(4, place(now) - place(t(job.startedAt))).toFixed(1)} y=${y - 9} height="18" rx="2"></rect>` : nothing}
    <line class="now" x1=${place(now).toFixed(1)} x2=${place(now).toFixed(1)} y1="8" y2="84"></line><text class="tick mid" x=${place(now).toFixed(1)} y="94">now</text>
    ${job.deadline ? svg`<line class="deadline" x1=${place(t(job.deadline)).toFixed(1)} x2=${place(t(job.deadline)).toFixed(1)} y1="8" y2="84"></line><text class="tick end" x=${place(t(job.deadline)).toFixed(1)} y="94">deadline</text>` : nothing}
    ${gives ? svg`<line class="deadline" x1=${place(t(gives.latest)).toFixed(1)} x2=${place(t(gives.latest)).toFixed(1)} y1="18" y2="74"></line><text class="tick end" x=${Math.max(60, place(t(gives.latest))).toFixed(1)} y="14">gives up</text>` : nothing}
  </svg><figcaption><span class="key ok">succeeded</span><span class="key bad">failed</span><span class="key warn">lost or interrupted</span><span class="key past">where jitter could have put it</span><span class="key next">planned</span></figcaption>
  ${data('the plan', ['attempt', 'earliest', 'latest', 'delay'], planned.map(p => [p.attempt, clock(p.earliest), clock(p.latest), p.delayLeast ? `${p.delayLeast} to ${p.delayMost}` : 'due']))}</figure>`;
}

/** The delays of a policy with their jitter windows: steps [{retry, min, max, mean}] in seconds. */
export function delays(label, plans) {
  const w = fit(900), h = 190, top = 10;
  const n = Math.max(1, ...plans.map(p => p.steps.length));
  const max = Math.max(0.001, ...plans.flatMap(p => p.steps.map(s => s.max)));
  const min = Math.min(max / 2, ...plans.flatMap(p => p.steps.map(s => Math.max(s.min, s.mean / 20)))) || max / 1000;
  const lo = Math.log(Math.max(min, max / 1e7)), hi = Math.log(max);
  const y = v => v <= 0 ? top + h : top + h - (h * Math.max(0, Math.log(v) - lo)) / Math.max(0.0001, hi - lo);
  const step = w / n;
  const ticks = [0, 1 / 3, 2 / 3, 1].map(f => Math.exp(lo + (hi - lo) * f));
  return html`<figure class="chart"><svg viewBox="0 0 ${w + 66} ${h + 34}" role="img" aria-label=${label}>
    ${ticks.map(v => svg`<line class="grid" x1="0" x2=${w} y1=${y(v).toFixed(1)} y2=${y(v).toFixed(1)}></line><text class="tick" x=${w + 6} y=${(y(v) + 4).toFixed(1)}>${seconds(v)}</text>`)}
    ${plans.map((p, k) => p.steps.map((s, i) => {
      const width = (step * 0.7) / plans.length, x = i * step + step * 0.15 + k * width;
      return svg`<rect class="window ${k ? 'past' : 'next'}" x=${x.toFixed(1)} width=${(width * 0.9).toFixed(1)} y=${y(s.max).toFixed(1)} height=${Math.max(2, y(s.min) - y(s.max)).toFixed(1)} rx="2"><title>retry ${s.retry}: ${seconds(s.min)} to ${seconds(s.max)}, ${seconds(s.mean)} on average</title></rect><line class="mean" x1=${x.toFixed(1)} x2=${(x + width * 0.9).toFixed(1)} y1=${y(s.mean).toFixed(1)} y2=${y(s.mean).toFixed(1)}></line>`;
    }))}
    ${Array.from({length: n}, (_, i) => n <= 24 || i % 5 === 4 ? svg`<text class="tick mid" x=${(i * step + step / 2).toFixed(1)} y=${h + 28}>${i + 1}</text>` : nothing)}
  </svg><figcaption>${plans.map((p, k) => html`<span class="key ${k ? 'past' : 'next'}">${p.name}</span>`)}<span class="key line">mean</span></figcaption>
  ${data(label, ['retry', ...plans.flatMap(p => [`${p.name}: least`, 'mean', 'most'])], Array.from({length: n}, (_, i) => [i + 1, ...plans.flatMap(p => p.steps[i] ? [seconds(p.steps[i].min), seconds(p.steps[i].mean), seconds(p.steps[i].max)] : ['', '', ''])]))}</figure>`;
}

const PHASE_WORDS = {CLOSED: '● closed', OPEN: '▲ open', HALF_OPEN: '◒ probe', RAMPING: '◢ ramping'};

/** Phases over time: [{phase, at}], the last until now. */
export function phases(items, from, to) {
  const w = fit(900);
  const x = t => (w * (Math.max(from, Math.min(to, t)) - from)) / Math.max(1, to - from);
  const shown = items.map((p, i) => ({...p, a: x(Date.parse(p.at)), b: i + 1 < items.length ? x(Date.parse(items[i + 1].at)) : w})).filter(p => p.b > p.a);
  // A breaker may change a hundred times: the whole list is beside the drawing, not in its name.
  const last = items[items.length - 1];
  return html`<figure class="chart"><svg viewBox="0 0 ${w} 34" role="img" aria-label="Phases since ${clock(from)}: ${plural(items.length - 1, 'change')}, now ${last.phase.toLowerCase().replaceAll('_', ' ')} since ${clock(last.at)}">
    <rect class="phase none" width=${w} height="16" rx="2"></rect>
    ${shown.map(p => svg`<rect class="phase ${p.phase}" x=${p.a.toFixed(1)} width=${Math.max(2, p.b - p.a).toFixed(1)} height="16"><title>${p.phase} since ${clock(p.at)}</title></rect>${p.b - p.a > 62 ? svg`<text class="in" x=${((p.a + p.b) / 2).toFixed(1)} y="12">${PHASE_WORDS[p.phase] || p.phase}</text>` : nothing}`)}
    <text class="tick" x="0" y="31">${ago(new Date(from).toISOString(), to)}</text><text class="tick end" x=${w} y="31">now</text></svg><figcaption>${[...new Set(items.map(p => p.phase))].map(p => html`<span class="key phase ${p}">${PHASE_WORDS[p] || p}</span>`)}</figcaption></figure>`;
}

/** Bars beside their names: [{name, value}]. */
export function bars(label, items, kind = 'run') {
  const max = Math.max(1, ...items.map(i => i.value));
  return html`<table class="bars"><caption class="unseen">${label}</caption><tbody>${items.map(i => html`<tr><th scope="row">${i.name}</th><td class="num">${compact(i.value)}</td><td><svg viewBox="0 0 200 10" preserveAspectRatio="none" aria-hidden="true"><rect class="level ${kind}" width=${((200 * i.value) / max).toFixed(1)} height="10"></rect></svg></td></tr>`)}</tbody></table>`;
}

/** Curves of a simulation: [{name, values}], x in seconds. */
export function curves(label, series, until, unit, wide = 900) {
  const w = fit(wide);
  const h = 170, top = 8;
  const max = niceMax(Math.max(1, ...series.flatMap(s => s.values)));
  return html`<figure class="chart"><svg viewBox="0 0 ${w + 46} ${h + 30}" role="img" aria-label=${label}>
    ${[0, 0.5, 1].map(f => svg`<line class="grid" x1="0" x2=${w} y1=${top + h * (1 - f)} y2=${top + h * (1 - f)}></line><text class="tick" x=${w + 6} y=${top + h * (1 - f) + 4}>${compact(max * f)}</text>`)}
    ${series.map((s, k) => svg`<path class="curve c${k % 4}" transform="translate(0 ${top})" d=${pathOf(linePoints(s.values, w, h, max))}></path>`)}
    <text class="tick" x="0" y=${h + 26}>0</text><text class="tick end" x=${w} y=${h + 26}>${seconds(until)}</text></svg>
    <figcaption>${series.map((s, k) => html`<span class="key c${k % 4}">${s.name}</span>`)} ${unit}</figcaption></figure>`;
}
