// The harvest curve as SVG: relevant pages against pages fetched, one line a crawl.

const SVG = "http://www.w3.org/2000/svg";
const LEFT = 46, RIGHT = 14, TOP = 12, BOTTOM = 26;

function shape(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A round number at or above what is shown, in steps that people count by.
function ticks(most, count) {
  const rough = Math.max(most, 1) / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= rough));
  const found = [];
  for (let at = 0; at <= Math.max(most, 1) + step * 0.01; at += step) found.push(at);
  return found;
}

export function drawCurve(place, crawls, chosen) {
  const width = Math.max(280, place.clientWidth || 600), height = place.clientWidth < 500 ? 208 : 272;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const pages = Math.max(10, ...crawls.map((crawl) => crawl.curve.at(-1)[0]));
  const relevant = Math.max(5, ...crawls.map((crawl) => crawl.curve.at(-1)[1])) * 1.06;
  const x = (value) => LEFT + (value / pages) * (width - LEFT - RIGHT);
  const y = (value) => height - BOTTOM - (value / relevant) * (height - TOP - BOTTOM);
  svg.append(shape("title", {}, crawls.map((crawl) => `${crawl.name}: ${crawl.relevant} relevant pages among ${crawl.visits}`).join("; ")));
  for (const at of ticks(relevant, 4)) {
    if (at > relevant) continue;
    svg.append(shape("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(at), y2: y(at) }));
    svg.append(shape("text", { class: "axis", x: LEFT - 8, y: y(at) + 4, "text-anchor": "end" }, at.toLocaleString("en")));
  }
  for (const at of ticks(pages, width < 500 ? 3 : 6)) {
    if (at > pages) continue;
    svg.append(shape("text", { class: "axis", x: x(at), y: height - 6, "text-anchor": at === 0 ? "start" : "middle" }, at.toLocaleString("en")));
  }
  const most = Math.min(pages, relevant);
  svg.append(shape("path", { class: "ideal", d: `M${x(0)} ${y(0)}L${x(most)} ${y(most)}` }));
  crawls.forEach((crawl, place) => {
    const points = crawl.curve.map(([at, count]) => `${x(at).toFixed(1)} ${y(count).toFixed(1)}`);
    const line = `M${points.join("L")}`;
    if (place === chosen) {
      const [end] = crawl.curve.at(-1);
      svg.append(shape("path", { class: `area s${place % 4}`, stroke: "none", d: `${line}L${x(end).toFixed(1)} ${y(0)}L${x(0)} ${y(0)}Z` }));
    }
    const path = shape("path", { class: `path s${place % 4}`, d: line });
    path.style.fill = "none";
    svg.append(path);
    if (crawls.length > 1) {
      const [end, count] = crawl.curve.at(-1);
      const near = x(end) > width - 120;
      svg.append(shape("text", { class: `name s${place % 4}`, x: x(end) + (near ? -6 : 6), y: y(count) - 6, "text-anchor": near ? "end" : "start" }, crawl.name));
    }
  });
  place.replaceChildren(svg);
}
