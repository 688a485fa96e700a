// ---- two systems: the tasks on which they differ most ----

const systems = [...new Set(reports.map(one => one.system))];
let pair = systems.slice(0, 2);

// Mean score of a system on each of its tasks; none where a report of it has none.
function taskScores(system) {
  const groups = new Map();
  for (const one of reports.filter(report => report.system === system && tasks.has(report.task)))
    groups.set(one.task, [...(groups.get(one.task) ?? []), one.score]);
  return new Map([...groups].map(([task, scores]) => [task,
    scores.includes(null) ? null : scores.reduce((sum, one) => sum + one, 0) / scores.length]));
}

function differences() {
  const [first, second] = pair.map(taskScores);
  const shared = [...first.keys()].filter(task => second.has(task)).map(task => {
    const both = [first.get(task), second.get(task)];
    return { task, both, gap: both.includes(null) ? null : both[0] - both[1] };
  });
  return shared.sort((a, b) => (a.gap === null) - (b.gap === null) || Math.abs(b.gap) - Math.abs(a.gap));
}

const percent = value => value === null ? "open" : `${(100 * value).toFixed(1)}%`;
const points = gap => gap === null ? "not judged in full" : `${gap < 0 ? "−" : "+"}${Math.abs(100 * gap).toFixed(1)} points`;

function showPairs(focus) {
  chosen = -1;
  for (const button of find("list").querySelectorAll("[aria-current='true']")) button.setAttribute("aria-current", "false");
  const fields = pair.map((own, at) => {
    const select = element("select", { id: `system-${at}` }, ...systems.map(name => element("option", { value: name }, name)));
    select.value = own;
    select.addEventListener("change", () => { pair[at] = select.value; showPairs(); find(select.id).focus(); });
    return element("p", { class: "field" }, element("label", { for: select.id }, at ? "and" : "Differences of"), select);
  });
  const rows = pair[0] === pair[1] ? [] : differences();
  const told = pair[0] === pair[1] ? "Choose two systems." : rows.length ?
    `${rows.length} tasks, the largest difference first. Choose one to see the two reports requirement by requirement.` :
    "The two have reports on no common task.";
  find("pane").replaceChildren(element("div", { class: "tools" }, backButton()), element("h2", {}, "Two systems, task by task"),
    element("div", { class: "two" }, ...fields), element("p", { class: "soft", role: "status" }, told),
    element("ol", { class: "pairs" }, ...rows.map(pairEntry)));
  if (focus) {
    document.body.classList.add("reading");
    find("pane").focus({ preventScroll: !NARROW.matches });
    find("pane").scrollIntoView();
  }
}

function pairEntry({ task, both, gap }) {
  const { question, lang } = tasks.get(task);
  const button = element("button", { type: "button", class: "choice" },
    element("span", { class: "name" }, element("bdi", {}, task)),
    element("span", { class: "told" }, element("b", { class: "gap" }, points(gap)), ` (${percent(both[0])} and ${percent(both[1])})`),
    element("span", { class: "excerpt", lang }, question.slice(0, 160)));
  button.addEventListener("click", () => openPair(task).catch(tell));
  return element("li", {}, button);
}

// The two systems' reports of the same run where there is one.
async function openPair(task) {
  const [own, others] = pair.map(system => reports.map((_, at) => at).filter(
    at => reports[at].system === system && reports[at].task === task));
  const other = others.find(at => reports[at].run === reports[own[0]].run) ?? others[0];
  await open(own[0], true);
  find("other").value = other;
  await compare(own[0], other);
}
