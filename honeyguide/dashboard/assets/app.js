// Ask the server for the crawls' state, draw it, and send what a person orders.

import { drawCurve } from "./chart.js";
import * as view from "./view.js";

const find = (id) => document.getElementById(id);
const csrf = document.querySelector('meta[name="csrf"]').content;
const EVERY = 1500; // milliseconds between two looks
let crawls = [], chosen = 0, current = "", undo = null, isOffline = false;

async function send(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", "X-Honeyguide": csrf } };
  const response = await fetch(path, options);
  const text = await response.text();
  let said = null;
  try { said = JSON.parse(text); } catch { throw new Error(text.trim() || `the server answered ${response.status}`); }
  if (!response.ok) throw new Error(said.error || text);
  return said;
}

function toast(text, undoing) {
  const box = view.make("div", { class: "toast" }, view.make("span", {}, text));
  if (undoing) {
    undo = undoing;
    box.append(view.make("button", { type: "button", onclick: () => { box.remove(); undoLast(); } }, "Undo"));
  }
  find("toasts").append(box);
  while (find("toasts").children.length > 3) find("toasts").firstChild.remove();
  setTimeout(() => box.remove(), undoing ? 12000 : 6000);
}

async function tell(path, body, undoing) {
  try {
    toast((await send(path, body)).told, undoing);
    await refresh();
  } catch (error) { toast(error.message); }
}

const base = () => `/api/crawls/${chosen}`;
const acts = {
  order: (body, undoing) => tell(`${base()}/order`, body, undoing),
  answer(url, relevant) {
    const before = crawls[chosen].answers[url] ?? null;
    return tell(`${base()}/answer`, { url, relevant }, () => acts.answer(url, before));
  },
  block(host, isDenied) {
    const [doing, undoing] = isDenied ? ["allow", "deny"] : ["deny", "allow"];
    return acts.order({ order: doing, patterns: [host] }, () => acts.order({ order: undoing, patterns: [host] }));
  },
  forget: (host) => acts.order({ order: "forget", host }),
  pause() {
    const isPaused = crawls[chosen].orders.paused;
    const [doing, undoing] = isPaused ? ["unpause", "pause"] : ["pause", "unpause"];
    return acts.order({ order: doing }, () => acts.order({ order: undoing }));
  },
  async why(url) {
    find("why").replaceChildren(view.make("p", { class: "empty" }, "asking the crawl …"));
    find("why-box").showModal();
    try { find("why").replaceChildren(...view.why(await send(`${base()}/why?url=${encodeURIComponent(url)}`))); }
    catch (error) { find("why").replaceChildren(view.make("p", {}, error.message)); }
  },
};

function undoLast() {
  const last = undo;
  undo = null;
  if (last) last(); else toast("there is nothing to undo");
}

// ------------------------------------------------------------------ drawing

// Replace the children of a list only when what it shows has changed: focus and scrolling stay.
const drawn = new Map();
function draw(id, data, children) {
  const key = JSON.stringify([chosen, data]);
  if (drawn.get(id) === key) return;
  const focused = document.activeElement?.getAttribute?.("aria-label");
  const isInside = find(id).contains(document.activeElement);
  drawn.set(id, key);
  find(id).replaceChildren(...children());
  if (isInside && focused) [...find(id).querySelectorAll("[aria-label]")].find((each) => each.getAttribute("aria-label") === focused)?.focus();
}

function stateOf(crawl) {
  if (crawl.reading) return ["", `reading ${view.number(crawl.visits || 0)} pages …`];
  if (crawl.running) return crawl.orders.paused ? ["paused", "paused"] : ["runs", crawl.flying ? `running, ${crawl.flying} in flight` : "running"];
  return [/cut off/.test(crawl.stopped) ? "cut" : "", /cut off/.test(crawl.stopped) ? "ended without a word: honeyguide resume continues it" : `ended: ${crawl.stopped}`];
}

function render() {
  const crawl = crawls[chosen];
  if (!crawl) return;
  document.title = `${crawl.topic || crawl.name} · honeyguide`;
  draw("crawls", crawls.map((each) => each.name), () => crawls.map((each, place) => view.make("button", { type: "button", "aria-pressed": String(place === chosen), title: each.folder, onclick: () => choose(place) }, each.name)));
  const [css, text] = stateOf(crawl);
  draw("state", [css, text], () => [view.make("span", { class: `dot ${css}`, "aria-hidden": "true" }), view.make("span", {}, text)]);
  warn(isOffline ? "The dashboard has ended, or cannot be reached. Figures are from before." : crawl.error || "");
  if (crawl.visits === undefined || crawl.reading) return;
  find("pause").disabled = find("stop").disabled = !crawl.running;
  find("pause").textContent = crawl.orders.paused ? "Go on" : "Pause";
  draw("figures", [crawl.relevant, crawl.visits, crawl.harvest, crawl.rate, crawl.errors, crawl.waiting, crawl.host_count, crawl.memory, crawl.disk, crawl.budget], () => view.figures(crawl));
  find("curve-note").textContent = `relevant pages against pages fetched, about “${crawl.topic}”, by ${crawl.agent}`;
  const ready = crawls.filter((each) => each.curve);
  draw("curve", [ready.map((each) => each.curve), innerWidth], () => []);
  drawCurve(find("curve"), ready, ready.indexOf(crawl));
  draw("learnt", crawl.learnt, () => view.learnt(crawl));
  draw("pages", [crawl.pages, crawl.answers], () => crawl.pages.map((each) => view.page(each, crawl, acts)));
  mark();
  find("links-note").textContent = `${view.number(crawl.waiting)} links wait; these come next, if their hosts may be asked`;
  draw("links", crawl.links, () => (crawl.links.length ? crawl.links.map((each) => view.link(each, acts)) : [view.make("li", { class: "empty" }, "no link waits")]));
  find("hosts-note").textContent = `${view.number(crawl.host_count)} hosts; those that brought most come first`;
  draw("hosts", [crawl.hosts, crawl.orders.denied], () => crawl.hosts.map((each) => view.host(each, crawl, acts)));
  draw("errors", crawl.errors, () => view.counts(Object.entries(crawl.errors)));
  draw("cuts", crawl.cuts, () => view.counts(crawl.cuts.map(([reason, count]) => [reason, count])));
  draw("orders", crawl.orders, () => view.inForce(crawl.orders, acts));
}

function warn(text) {
  find("warning").hidden = !text;
  find("warning").textContent = text;
}

let news = [];
async function refresh() {
  try {
    crawls = await send("/api/crawls");
    isOffline = false;
    crawls.forEach((crawl, place) => {
      if (crawl.news && crawl.news !== news[place]) toast(crawl.news);
      news[place] = crawl.news;
    });
  } catch { isOffline = true; }
  render();
}

function choose(place) {
  if (place < crawls.length) { chosen = place; current = ""; drawn.clear(); render(); }
}

// ------------------------------------------------------------------ keys

function items() { return [...find("pages").querySelectorAll("li")]; }

function mark() {
  const all = items();
  if (!all.some((each) => each.dataset.n === current)) current = all[0]?.dataset.n ?? "";
  for (const each of all) each.setAttribute("aria-current", String(each.dataset.n === current));
}

function move(by) {
  const all = items();
  const place = all.findIndex((each) => each.dataset.n === current) + by;
  if (!all[place]) return;
  current = all[place].dataset.n;
  mark();
  all[place].scrollIntoView({ block: "nearest" });
}

const currentUrl = () => items().find((each) => each.dataset.n === current)?.dataset.url;
const keys = {
  j: () => move(1), k: () => move(-1),
  y: () => currentUrl() && acts.answer(currentUrl(), true),
  n: () => currentUrl() && acts.answer(currentUrl(), false),
  w: () => currentUrl() && acts.why(currentUrl()),
  u: undoLast, p: () => !find("pause").disabled && acts.pause(), o: () => showOrders(), "?": () => find("help-box").showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|TEXTAREA/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
  if (/^[1-9]$/.test(event.key)) choose(Number(event.key) - 1);
  else if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

// ------------------------------------------------------------------ orders

function form(name, fields, read, undoing) {
  const inputs = fields.map(([label, type, value]) => view.make("input", { "aria-label": `${name}: ${label}`, placeholder: label, type, value, min: type === "number" ? "0" : null, step: "any" }));
  const give = (event) => {
    event.preventDefault();
    const back = undoing?.(...inputs.map((input) => input.value.trim()));
    acts.order(read(...inputs.map((input) => input.value.trim())), back && (() => acts.order(back)));
  };
  const body = inputs.length > 1 ? view.make("div", { class: "two" }, ...inputs) : inputs[0];
  return view.make("form", { class: "order", onsubmit: give }, view.make("label", {}, name), body, view.make("button", {}, "Give"));
}

function showOrders() {
  const crawl = crawls[chosen];
  const many = (text) => text.split(/\s+/).filter(Boolean);
  find("order-forms").replaceChildren(
    form("Deny", [["hosts, beginnings of URLs or patterns with *", "text", ""]], (what) => ({ order: "deny", patterns: many(what) }), (what) => ({ order: "allow", patterns: many(what) })),
    form("Allow", [["hosts, beginnings of URLs or patterns with *", "text", ""]], (what) => ({ order: "allow", patterns: many(what) }), (what) => ({ order: "deny", patterns: many(what) })),
    form("Seed", [["URLs to fetch next", "text", ""]], (what) => ({ order: "seed", urls: many(what) })),
    form("Budget", [["pages", "number", crawl.budget]], (pages) => ({ order: "budget", pages: Number(pages) }), () => ({ order: "budget", pages: crawl.budget })),
    form("In flight", [["visits at once", "number", crawl.in_flight ?? ""]], (visits) => ({ order: "in-flight", visits: Number(visits) }), () => (crawl.in_flight ? { order: "in-flight", visits: crawl.in_flight } : null)),
    form("Delay", [["host", "text", ""], ["seconds", "number", ""]], (host, seconds) => ({ order: "delay", host, seconds: seconds === "" ? null : Number(seconds) }), (host) => ({ order: "delay", host, seconds: crawl.orders.delays?.[host] ?? null })),
    form("Forget", [["host whose waiting links are dropped", "text", ""]], (host) => ({ order: "forget", host })),
  );
  find("orders-box").showModal();
}

find("pause").addEventListener("click", acts.pause);
find("stop").addEventListener("click", () => acts.order({ order: "stop" }));
find("more").addEventListener("click", showOrders);
find("help").addEventListener("click", () => find("help-box").showModal());
addEventListener("resize", render);

await refresh();
setInterval(() => { if (!document.hidden) refresh(); }, EVERY);
