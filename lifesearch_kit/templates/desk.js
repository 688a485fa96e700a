// Texts reach the page as text nodes alone, elements by createElement from the list below. Nothing is parsed as HTML.
const ELEMENTS = new Set(("a bdi blockquote br button code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr kbd li mark ol p pre " +
  "progress s span strong sup table tbody td textarea th thead tr ul").split(" "));
const ATTRIBUTES = new Set(("class lang title start type role tabindex max value rows placeholder scope disabled hidden " +
  "aria-label aria-pressed data-key data-local data-keep data-item data-leave data-focus").split(" "));
const PATIENCE = 4000;  // milliseconds without a word from the kernel
const SILENT = "Not stored yet: the kernel does not answer. If it is busy, wait. If it was restarted or has died, run this " +
  "cell again: whatever was marked as stored is kept, and it goes on there.";

function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  const made = document.createElement(ELEMENTS.has(tag) ? tag : "span");
  for (const [name, value] of Object.entries(attributes)) {
    if (ATTRIBUTES.has(name)) made.setAttribute(name, value);
    if (name === "id" && /^finding-\d+$/.test(value)) made.className = "lk-finding";
  }
  if (tag === "a" && /^https?:\/\//i.test(attributes.href || "")) {
    made.href = attributes.href;
    made.rel = "noopener noreferrer nofollow";
    made.target = "_blank";
  }
  made.append(...children.map(build));
  return made;
}

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "lk-desk";
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Work page; press ? for the keys");
  root.dataset.lmSuppressShortcuts = "true";  // JupyterLab's own keys rest while this has the focus
  const alarm = document.createElement("p");
  alarm.className = "lk-alarm";
  alarm.setAttribute("role", "alert");
  alarm.hidden = true;
  const body = document.createElement("div");
  root.append(alarm, body);
  el.append(root);

  let waiting = 0;     // the number of the key that the kernel has not dealt with
  let timer = 0;
  let draft = null;    // what is typed and not stored: its item and text
  let passage = 0;
  let helping = false;

  const find = selector => body.querySelector(selector);

  function draw() {
    const hadFocus = root.contains(document.activeElement);
    const pane = find(".lk-pane");
    const left = pane && { keep: pane.dataset.keep, item: pane.dataset.item, top: pane.scrollTop };
    body.replaceChildren(...model.get("page").slice(2).map(build));
    find(".lk-help").hidden = !helping;
    const box = find("textarea");
    if (box && draft && draft.item === box.dataset.item) box.value = draft.text; else draft = null;
    if (hadFocus) (box && "focus" in box.dataset ? box : root).focus({ preventScroll: true });
    place(find(".lk-pane"), left);
  }

  function place(pane, left) {
    if (!pane) return;
    if (left && left.keep === pane.dataset.keep && left.item === pane.dataset.item) pane.scrollTop = left.top;
    else if (findings(pane).length) point(pane, 0);
    else pane.scrollTop = left && left.keep === pane.dataset.keep ? left.top : 0;
  }

  function findings(pane) {
    return [...pane.querySelectorAll("sup.lk-finding")].sort((a, b) => a.textContent - b.textContent);
  }

  function point(pane, number) {
    const found = findings(pane);
    if (!found.length) return;
    passage = number % found.length;
    found.forEach((one, at) => one.classList.toggle("lk-now", at === passage));
    const offset = found[passage].getBoundingClientRect().top - pane.getBoundingClientRect().top;
    pane.scrollTop += offset - pane.clientHeight / 3;
  }

  function send(key) {
    if (waiting) return;
    const box = find("textarea");
    waiting = 1 + Math.floor(Math.random() * 2 ** 30);
    timer = setTimeout(() => tell(SILENT), PATIENCE);
    try {
      model.send({ key, text: box ? box.value : null, turn: model.get("turn"), number: waiting });
    } catch {
      tell(SILENT);  // the way to the kernel is closed
    }
  }

  function answered() {
    if (model.get("done") !== waiting) return;
    waiting = 0;
    clearTimeout(timer);
    tell(model.get("alarm"));
  }

  function tell(words) {
    alarm.textContent = words;
    alarm.hidden = !words;
  }

  const local = {
    help() { helping = !helping; find(".lk-help").hidden = !helping; },
    passage() { const pane = find(".lk-pane"); if (pane) point(pane, passage + 1); },
    note() { const box = find("textarea"); if (box) { box.focus(); box.setSelectionRange(box.value.length, box.value.length); } },
  };

  function scroll(key) {
    const pane = find(".lk-pane");
    if (!pane) return false;
    const page = pane.clientHeight * 0.85;
    const way = { ArrowUp: -60, ArrowDown: 60, PageUp: -page, PageDown: page, " ": page, Home: -1e7, End: 1e7 }[key];
    if (way === undefined) return false;
    pane.scrollBy({ top: way });
    return true;
  }

  function typed(event) {
    const leaves = event.key === "Escape" || (event.key === "Enter" && !event.shiftKey);
    if (!leaves) return;
    event.preventDefault();
    const stores = event.key === "Enter" || event.target.dataset.leave;
    root.focus({ preventScroll: true });
    if (stores) send("Enter");
  }

  function pressed(event) {
    // An input method that is composing a Chinese word owns every key, Enter and Escape too.
    if (event.isComposing || event.keyCode === 229) { event.stopPropagation(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if (event.key === "s") event.preventDefault();  // the answers are stored; a browser's own dialog would be in the way
      return;
    }
    event.stopPropagation();
    if (event.key === "Tab") return;
    if (event.target.matches("textarea")) { typed(event); return; }
    if (event.target.closest("button, a") && (event.key === "Enter" || event.key === " ")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = { n: "note", h: "passage", "?": "help" }[key];
    if (model.get("known_keys").includes(key)) {
      event.preventDefault();
      if (!event.repeat) send(key);  // a key held down answers one question, not the next ones
    } else if (action) {
      event.preventDefault();
      local[action]();
    } else if (scroll(event.key)) event.preventDefault();
  }

  function clicked(event) {
    const button = event.target.closest("button");
    if (!button || button.disabled) return;
    if (button.dataset.key) send(button.dataset.key);
    else if (button.dataset.local) local[button.dataset.local]();
    root.focus({ preventScroll: true });
  }

  function left(event) {
    const box = event.target;
    const toButton = event.relatedTarget && event.relatedTarget.closest("button");
    if (box.matches("textarea") && box.dataset.leave && draft && !toButton && body.contains(box)) send("Enter");
  }

  root.addEventListener("keydown", pressed);
  for (const name of ["keyup", "keypress", "mousedown", "paste", "copy", "cut"]) {
    root.addEventListener(name, event => event.stopPropagation());
  }
  root.addEventListener("click", clicked);
  root.addEventListener("input", event => { draft = { item: event.target.dataset.item, text: event.target.value }; });
  root.addEventListener("focusout", left);
  model.on("change:page", draw);
  model.on("change:done", answered);
  draw();
  // On its first drawing the pane has no size yet.
  const sized = new ResizeObserver(() => { if (root.clientHeight) { place(find(".lk-pane"), null); sized.disconnect(); } });
  sized.observe(root);
  return () => { sized.disconnect(); model.off("change:page", draw); model.off("change:done", answered); clearTimeout(timer); };
}

export default { render };
