// ---- the chosen report ----

const addressOf = ({ system, task, run }) => "#" + [system, task, run].map(encodeURIComponent).join("/");

async function show(number, focus) {
  chosen = number;
  for (const button of find("list").querySelectorAll("button")) {
    const current = Number(button.dataset.number) === number;
    button.setAttribute("aria-current", current);
    button.setAttribute("tabindex", current ? "0" : "-1");
  }
  if (!find("list").querySelector("[tabindex='0']")) find("list").querySelector("button")?.setAttribute("tabindex", "0");
  const stored = await unpack(`case-${number}`);
  if (chosen !== number) return;
  const body = stored ? [...build(stored.case).childNodes] : [element("p", { class: "remark" },
    "This report is in the list alone: the page would be too large with it.")];
  find("pane").replaceChildren(tools(number), element("div", { id: "versus" }), ...body, await transcript(number));
  document.body.classList.add("reading");
  if (focus || NARROW.matches) find("pane").focus({ preventScroll: !NARROW.matches });
  if (NARROW.matches || find("pane").getBoundingClientRect().top < 0) find("pane").scrollIntoView();
}

function tools(number) {
  const report = reports[number];
  const others = reports.map((_, at) => at).filter(at => at !== number && reports[at].task === report.task);
  const select = element("select", { id: "other" }, element("option", { value: "" }, "another report on this task"), ...others.map(at =>
    element("option", { value: at }, `${titleOf(at)}: ${reports[at].told}`)));
  select.addEventListener("change", () => compare(number, select.value));
  const label = element("label", { for: "other" }, "Compare with");
  return element("div", { class: "tools" }, backButton(), ...(others.length && tasks.get(report.task) ? [label, select] : []));
}

function backButton() {
  const back = element("button", { type: "button", id: "back" }, "Back to the list");
  back.addEventListener("click", backToList);
  return back;
}

async function transcript(number) {
  if (!find(`transcript-${number}`)) return element("p", { class: "soft" },
    reports[number].transcript ? "The transcript is not in this page." : "No transcript was kept for this report.");
  const details = element("details", { id: "transcript" }, element("summary", {}, "The transcript"));
  details.addEventListener("toggle", async () => {
    if (details.open && details.children.length === 1) details.append(...build(await unpack(`transcript-${number}`)).childNodes);
  });
  return details;
}

const titleOf = number => `${reports[number].system}, run ${reports[number].run}`;

async function compare(number, other) {
  find("versus").replaceChildren();
  if (other === "") return;
  const pair = [number, Number(other)];
  const stored = await Promise.all(pair.map(one => unpack(`case-${one}`)));
  const verdict = (one, id) => one?.verdicts[id] ?? ["unknown", "open", ""];
  const { rubrics, lang } = tasks.get(reports[number].task);
  const rows = rubrics.map(([id, weight, criterion]) => ({ id, weight, criterion, both: stored.map(one => verdict(one, id)) }));
  const differs = row => row.both[0][0] !== row.both[1][0];
  rows.sort((a, b) => differs(b) - differs(a) || b.weight - a.weight);
  // Roles are named, as a narrow page lays the table out as a grid.
  const cell = (attributes, ...children) => element("td", { role: "cell", ...attributes }, ...children);
  const head = element("tr", { role: "row" }, ...["Requirement", ...pair.map(titleOf)].map(
    text => element("th", { scope: "col", role: "columnheader" }, text)));
  const lines = rows.map(row => element("tr", { role: "row", class: differs(row) ? "differs" : "" },
    cell({ lang }, `${row.id} (weight ${row.weight}): ${row.criterion}`), ...row.both.map(([told, look, reason]) =>
      cell({}, element("span", { class: look }, told), element("p", { class: "soft" }, reason)))));
  const heading = element("h3", {}, `${rows.filter(differs).length} of ${rows.length} verdicts differ`);
  const table = element("table", { role: "table" }, element("thead", {}, head), element("tbody", {}, ...lines));
  find("versus").replaceChildren(heading, element("div", { class: "versus", tabindex: "0", role: "region",
    "aria-label": "Verdicts side by side" }, table));
}

function backToList() {
  document.body.classList.remove("reading");
  const current = find("list").querySelector("[aria-current='true']") ?? find("list").querySelector("button");
  current?.focus();
}

function open(number, focus) {
  const address = addressOf(reports[number]);
  if (location.hash !== address) history.pushState(null, "", address);
  return show(number, focus);
}

function openAddressed() {
  const number = reports.findIndex(report => addressOf(report) === location.hash);
  if (number >= 0) return show(number, false);
  if (!location.hash) document.body.classList.remove("reading");
  return null;
}

// ---- what people do ----

function tell(error) {
  find("fault").hidden = false;
  find("fault").textContent = "DecompressionStream" in window ? `This page is damaged: ${error}` :
    "This browser is too old for this page: it cannot unpack what the page holds.";
}

let waiting = 0;
const refilter = delay => {
  clearTimeout(waiting);
  waiting = setTimeout(() => filter().catch(tell), delay);
};
find("filters").addEventListener("input", () => refilter(120));
find("filters").addEventListener("reset", () => refilter(0));
find("filters").addEventListener("submit", event => event.preventDefault());
find("list").addEventListener("keydown", move);
find("list").addEventListener("click", event => {
  const button = event.target.closest("button");
  if (button) open(Number(button.dataset.number), false).catch(tell);
});
find("more").addEventListener("click", () => {
  const first = drawn;
  draw();
  find("list").querySelectorAll("button")[first]?.focus();
});
find("pane").addEventListener("keydown", event => { if (event.key === "Escape") backToList(); });
find("pane").addEventListener("click", event => {
  const link = event.target.closest("a[href^='#finding-']");
  if (!link) return;
  event.preventDefault();
  find(link.getAttribute("href").slice(1))?.scrollIntoView({ block: "center" });
});
find("compare").addEventListener("click", () => showPairs(true));
window.addEventListener("popstate", () => openAddressed()?.catch(tell));
makeFilters();
if (systems.length > 1 && tasks.size) {
  find("bar").hidden = false;
  showPairs(false);
}
filter().then(openAddressed).then(() => { document.documentElement.dataset.ready = "yes"; }, tell);
