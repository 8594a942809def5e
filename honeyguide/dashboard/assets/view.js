// Draw one crawl. Texts from the web become text nodes, never markup.

export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const number = (value) => Math.round(value).toLocaleString("en");
export const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
export const percent = (value) => `${Math.round(100 * value)}%`;

export function size(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  let unit = 0;
  while (bytes >= 1000 && unit < 4) { bytes /= 1000; unit += 1; }
  return `${bytes >= 100 || unit === 0 ? Math.round(bytes) : bytes.toFixed(1)} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}

export function duration(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86400).toFixed(1)} days`;
}

// A link to a page of the web: only http, and nothing about this page is told to it.
export function outside(url, text, css = "") {
  const isWeb = /^https?:\/\//i.test(url);
  return isWeb ? make("a", { href: url, target: "_blank", rel: "noreferrer noopener", class: css }, text) : make("span", { class: css }, text);
}

export const pathOf = (url) => { try { const { pathname, search } = new URL(url); return pathname + search; } catch { return url; } };
export const hostOf = (url) => { try { return new URL(url).host; } catch { return url; } };

function bar(share) {
  const inner = make("i");
  inner.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return make("div", { class: "bar", "aria-hidden": "true" }, inner);
}

export function figures(crawl) {
  const errors = Object.values(crawl.errors).reduce((sum, count) => sum + count, 0);
  const left = Math.max(0, crawl.budget - crawl.visits);
  const shown = [
    [number(crawl.relevant), "relevant pages", null],
    [number(crawl.visits), "pages fetched", null],
    [percent(crawl.harvest), "relevant in the last 100", crawl.harvest],
    [!crawl.running ? "–" : crawl.rate >= 10 ? number(crawl.rate) : crawl.rate.toFixed(1), "pages a second", null],
    [number(errors), `errors, ${percent(crawl.visits ? errors / crawl.visits : 0)}`, null],
    [number(crawl.waiting), "links wait", null],
    [number(crawl.host_count), "hosts visited", null],
    [crawl.memory ? size(crawl.memory) : "–", "memory", null],
    [size(crawl.disk), "on disk", null],
    [number(left), "of the budget left", crawl.budget ? crawl.visits / crawl.budget : 0],
  ];
  return shown.map(([value, name, share]) => make("div", { class: "figure" }, make("b", {}, value), make("span", {}, name), share === null ? null : bar(share)));
}

function rows(pairs, kind, format) {
  const most = Math.max(1e-9, ...pairs.map(([, value]) => Math.abs(value)));
  return pairs.map(([text, value]) => {
    const fill = make("i");
    fill.style.width = `${(100 * Math.abs(value)) / most}%`;
    const css = kind || (value < 0 ? "against" : "for");
    return make("div", { class: `row ${css}` }, fill, make("span", { class: "text", title: text }, text), make("span", { class: "value" }, format(value)));
  });
}

export const counts = (pairs) => (pairs.length ? rows(pairs, "plain", number) : [make("p", { class: "empty" }, "none")]);

export function learnt(crawl) {
  const { signs, for: good, against } = crawl.learnt;
  if (!signs.length && !good.length) return [make("p", { class: "empty" }, "Nothing to show: this agent does not learn, or has just begun.")];
  const against_ = against.filter(([, value]) => value < (good[0]?.[1] ?? 0));
  return [
    make("div", { class: "pair" },
      make("div", {}, make("h3", {}, "Words that speak for a link"), ...rows(good, "for", signed)),
      make("div", {}, make("h3", {}, "Words that speak for it least"), ...rows(against_, "against", signed))),
    make("h3", {}, "What sets the best links apart"), ...rows(signs, "", signed),
  ];
}

export function page(each, crawl, acts) {
  const said = crawl.answers[each.url];
  const verdict = each.failure ? ["failed", "failed"] : each.relevant ? ["yes", `relevant ${each.relevance.toFixed(2)}`] : ["", `no ${each.relevance.toFixed(2)}`];
  const chip = make("span", { class: `chip ${verdict[0]} ${said === undefined ? "" : "said"}`, title: said === undefined ? "the judge's verdict" : `you said ${said ? "yes" : "no"}` }, verdict[1]);
  const title = each.title || (each.failure ? each.failure : "(no title)");
  return make("li", { "data-url": each.url, "data-n": each.n },
    chip,
    make("div", {}, make("div", { class: "title" }, title), make("div", { class: "where" }, outside(each.url, each.url))),
    make("div", { class: "acts" },
      make("button", { class: "small", type: "button", "aria-label": `relevant: ${title}`, onclick: () => acts.answer(each.url, true), disabled: each.failure ? "" : null }, "yes"),
      make("button", { class: "small", type: "button", "aria-label": `not relevant: ${title}`, onclick: () => acts.answer(each.url, false), disabled: each.failure ? "" : null }, "no"),
      make("button", { class: "small", type: "button", "aria-label": `why: ${title}`, onclick: () => acts.why(each.url) }, "why")),
    each.passage ? make("p", { class: "passage" }, `“${each.passage}”`) : null);
}

export function link(each, acts) {
  const reasons = each.parts.filter((part) => part.name !== "what every link starts with").slice(0, 3);
  return make("li", {},
    make("div", { class: "linkhead" },
      make("span", { class: "score" }, each.score === null ? "seed" : each.score.toFixed(2)),
      outside(each.url, each.anchor || pathOf(each.url), "title"),
      make("button", { class: "small", type: "button", "aria-label": `why: ${each.url}`, onclick: () => acts.why(each.url) }, "why")),
    make("div", { class: "where" }, hostOf(each.url)),
    make("div", { class: "reasons" }, ...reasons.map((part) => make("span", { class: `reason ${part.value < 0 ? "against" : ""}`, title: part.name }, `${signed(part.value)} ${part.name}`)),
      each.rests > 0.5 ? make("span", { class: "chip" }, `its host rests ${duration(each.rests)}`) : null));
}

export function host(each, crawl, acts) {
  const denied = (crawl.orders.denied || []).includes(each.host);
  const share = each.pages ? each.relevant / each.pages : 0;
  const failures = Object.entries(each.failures).map(([name, count]) => `${name}: ${count}`).join(", ");
  const cell = (text, title) => make("td", { title }, text);
  return make("tr", { class: denied ? "denied" : "", "data-host": each.host },
    make("td", { title: each.host }, each.host),
    make("td", {}, bar(share), percent(share)),
    cell(number(each.pages)), cell(number(each.relevant)), cell(number(each.errors), failures), cell(number(each.waiting)),
    cell(each.rests > 0.5 ? duration(each.rests) : "–"),
    make("td", { class: "acts" },
      make("button", { class: "small", type: "button", "aria-label": `${denied ? "allow" : "block"} ${each.host}`, onclick: () => acts.block(each.host, denied) }, denied ? "allow" : "block"),
      make("button", { class: "small", type: "button", "aria-label": `forget the waiting links of ${each.host}`, onclick: () => acts.forget(each.host) }, "forget")));
}

export function inForce(orders, acts) {
  const lines = [];
  if (orders.paused) lines.push(make("p", {}, "paused ", make("button", { class: "small", type: "button", onclick: () => acts.order({ order: "unpause" }) }, "go on")));
  for (const pattern of orders.denied || []) lines.push(make("p", {}, `denied: ${pattern} `, make("button", { class: "small", type: "button", onclick: () => acts.block(pattern, true) }, "allow")));
  for (const pattern of orders.allowed || []) lines.push(make("p", {}, `allowed: ${pattern}`));
  for (const [name, seconds] of Object.entries(orders.delays || {})) lines.push(make("p", {}, `delay of ${name}: ${seconds} s `, make("button", { class: "small", type: "button", onclick: () => acts.order({ order: "delay", host: name }) }, "undo")));
  return lines.length ? lines : [make("p", { class: "empty" }, "the settings of the crawl, nothing else")];
}

export function reasonsList(parts) {
  const most = Math.max(1e-9, ...parts.map((part) => Math.abs(part.value)));
  return parts.map((part) => {
    const fill = make("i");
    const width = (50 * Math.abs(part.value)) / most;
    fill.style.width = `${width}%`;
    fill.style.left = part.value < 0 ? `${50 - width}%` : "50%";
    return make("div", { class: `why-row ${part.value < 0 ? "against" : ""}` }, make("span", {}, part.name), make("span", { class: "track", "aria-hidden": "true" }, fill), make("span", { class: "value" }, signed(part.value)));
  });
}

export function why(found) {
  const shown = [make("p", {}, outside(found.url, found.url))];
  const { fetched, chosen, waits } = found;
  if (fetched) {
    const verdict = fetched.failure ? `failed: ${fetched.failure}` : `${fetched.relevant ? "relevant" : "not relevant"} (${fetched.relevance.toFixed(2)})`;
    shown.push(make("h3", {}, `Fetched ${new Date(fetched.when * 1000).toLocaleString()}: ${verdict}`));
    if (fetched.title) shown.push(make("p", {}, fetched.title));
    if (fetched.passage) shown.push(make("blockquote", {}, fetched.passage));
    for (const reason of fetched.reasons) shown.push(make("p", { class: "note" }, reason));
  } else shown.push(make("h3", {}, { waiting: "It waits", "in flight": "It is being fetched", refused: "Never taken", skipped: "Skipped by the gate", dropped: "Not taken: dropped for lack of room, or refused in its turn" }[found.state] || found.state));
  if (found.refusal) shown.push(make("p", {}, found.refusal));
  const split = chosen || waits;
  if (chosen) shown.push(make("h3", {}, chosen.score === null ? "Chosen as a seed" : `${chosen.at_random ? "Drawn at random" : "Chosen"}: rank ${number(chosen.rank)} of ${number(chosen.waiting)} waiting links, score ${chosen.score.toFixed(2)}`));
  else if (waits) shown.push(make("h3", {}, waits.score === null ? "A seed: it comes first" : `Rank ${number(waits.rank)} of ${number(found.waiting)} now, score ${waits.score.toFixed(2)}`));
  if (split) shown.push(...reasonsList(split.parts));
  if (waits) shown.push(make("p", { class: "note" }, found.stopped ? `the crawl has stopped: ${found.stopped}` : waits.rests > 0 ? `its host rests for ${duration(waits.rests)}` : "it waits for its turn"));
  if (found.shown) shown.push(make("h3", {}, "Linked from"), make("p", {}, outside(found.shown.source, found.shown.source), found.shown.anchor ? ` by “${found.shown.anchor}”` : ""), found.parent_count > 1 ? make("p", { class: "note" }, found.parent_count > 2 ? `and ${number(found.parent_count - 1)} other pages` : "and another page") : null);
  if (found.path.length > 1) shown.push(make("h3", {}, "Path from a seed"), make("ol", { class: "path" }, ...found.path.map((step) => make("li", {}, outside(step.url, step.title || step.url), step.relevant ? make("span", { class: "chip yes" }, "relevant") : null))));
  return shown.filter((each) => each !== null);
}
