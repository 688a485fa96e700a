// ---- filters and list ----

function makeFilters() {
  const values = { mode: report => report.modes, ...Object.fromEntries(["type", "necessity", "priority"].map(
    (name, at) => [name, report => report.failed.map(one => one[at])])) };
  for (const [name, title] of FILTERS) {
    const known = new Set(reports.flatMap(values[name] || (report => [report[name]])));
    addSelect(name, title, [["", "any"], ...[...known].sort().map(one => [one, one])]);
  }
  addSelect("order", "Order", ORDERS);
}

function addSelect(name, title, options) {
  const select = element("select", { id: `filter-${name}` }, ...options.map(([value, text]) =>
    element("option", { value }, text)));
  find("fields").append(element("p", { class: "field" }, element("label", { for: select.id }, title), select));
}

function passes(report, wanted) {
  if (["system", "domain", "language", "status"].some(name => wanted[name] && report[name] !== wanted[name])) return false;
  if (wanted.mode && !report.modes.includes(wanted.mode)) return false;
  const attributes = [wanted.type, wanted.necessity, wanted.priority];
  // One and the same rubric has to have all the attributes.
  return attributes.every(one => !one) ||
    report.failed.some(rubric => attributes.every((one, at) => !one || rubric[at] === one));
}

async function filter() {
  const mine = ++round;
  const wanted = Object.fromEntries([...FILTERS, ["order"]].map(([name]) => [name, find(`filter-${name}`).value]));
  const active = Object.values(wanted).filter(Boolean).length;
  find("chosen-filters").textContent = active ? `Filters and order (${active} set)` : "Filters and order";
  const words = find("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const deep = find("deep").checked;
  let numbers = reports.map((_, number) => number).filter(number => passes(reports[number], wanted));
  if (words.length) {
    const kept = [];
    for (const [at, number] of numbers.entries()) {
      const text = listed(number) + (deep ? await textOf(number) : "");
      if (mine !== round) return;
      if (words.every(word => text.includes(word))) kept.push(number);
      if (deep && at % 200 === 199) {
        say(`Looking into the texts: ${at + 1} of ${numbers.length}`);
        await new Promise(resolve => setTimeout(resolve));
      }
    }
    numbers = kept;
  }
  if (mine !== round) return;
  matching = sorted(numbers, wanted.order);
  say(`${matching.length.toLocaleString("en")} of ${reports.length.toLocaleString("en")} reports`);
  drawn = 0;
  find("list").replaceChildren();
  draw();
}

function sorted(numbers, order) {
  if (!order) return numbers;
  const sign = order === "low" ? 1 : -1;
  const [open, scored] = [numbers.filter(one => reports[one].score === null), numbers.filter(one => reports[one].score !== null)];
  return [...scored.sort((a, b) => sign * (reports[a].score - reports[b].score) || a - b), ...open];
}

function listed(number) {
  const { system, task, domain } = reports[number];
  return [system, task, domain, tasks.get(task)?.question ?? ""].join("\n").toLowerCase() + "\n";
}

async function textOf(number) {
  if (!texts.has(number)) {
    const stored = await unpack(`case-${number}`);
    texts.set(number, stored ? flatten(stored.case).toLowerCase() : "");
  }
  return texts.get(number);
}

function say(text) { find("count").textContent = text; }

function draw() {
  const batch = matching.slice(drawn, drawn + BATCH);
  find("list").append(...batch.map(entry));
  drawn += batch.length;
  const left = matching.length - drawn;
  find("more").hidden = left === 0;
  find("more").textContent = `Show ${Math.min(left, BATCH)} more of ${left.toLocaleString("en")}`;
  if (!find("list").querySelector("[tabindex='0']")) find("list").querySelector("button")?.setAttribute("tabindex", "0");
}

function entry(number) {
  const report = reports[number], task = tasks.get(report.task);
  const name = element("span", { class: "name" }, element("bdi", {}, report.system), ", ", element("bdi", {}, report.task),
    `, run ${report.run}`);
  const told = element("span", { class: "told" }, report.told);
  const facts = [report.domain, ...(report.status === "answered" ? [] : [report.status])];
  const excerpt = element("span", { class: "excerpt", lang: task?.lang ?? "en" },
    task ? task.question.slice(0, 160) : "no such task here");
  const current = number === chosen;
  const button = element("button", { type: "button", class: "entry", tabindex: current ? "0" : "-1", "aria-current": current,
    "data-number": number }, name, told, element("span", { class: "soft" }, facts.join(", ")), excerpt);
  return element("li", {}, button);
}

function move(event) {
  const entries = [...find("list").querySelectorAll("button")];
  const at = entries.indexOf(document.activeElement);
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1, PageDown: at + 10, PageUp: at - 10 };
  if (at < 0 || !(event.key in steps)) return;
  event.preventDefault();
  if (steps[event.key] >= entries.length && drawn < matching.length) {
    draw();
    entries.push(...[...find("list").querySelectorAll("button")].slice(entries.length));
  }
  const next = entries[Math.max(0, Math.min(entries.length - 1, steps[event.key]))];
  entries[at].setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
