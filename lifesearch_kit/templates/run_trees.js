"use strict";
// Texts reach the page as text nodes alone, elements by createElement from the list below. Nothing is parsed as HTML.
const ELEMENTS = new Set(("a bdi blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr li mark ol p pre " +
  "s span strong summary sup table tbody td th thead tr ul").split(" "));
const ATTRIBUTES = new Set(["class", "lang", "title", "start", "open"]);
const FILTERS = [["system", "System"], ["domain", "Domain"], ["language", "Language"], ["status", "Status"],
  ["mode", "Failure mode"], ["type", "Failed rubric: type"], ["necessity", "Failed rubric: necessity"],
  ["priority", "Failed rubric: priority"]];
const ORDERS = [["", "as in the run"], ["low", "lowest score first"], ["high", "highest score first"]];
const BATCH = 100;
const NARROW = window.matchMedia("(max-width: 59.99rem)");

const find = id => document.getElementById(id);
const index = JSON.parse(find("index").textContent);
const reports = index.reports;
const tasks = new Map(Object.entries(index.tasks));  // no task is found by the name of an object's own methods
const texts = new Map();  // lower-case texts of the reports that were searched
let matching = [];        // numbers of the reports that pass the filters, in order
let chosen = -1;
let drawn = 0;
let round = 0;            // a later round of filtering ends an earlier one

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// ---- stored trees ----

async function unpack(id) {
  const holder = find(id);
  if (!holder) return null;
  const bytes = Uint8Array.from(atob(holder.textContent), one => one.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, ...children] = node;
  const made = document.createElement(ELEMENTS.has(tag) ? tag : "span");
  for (const [name, value] of Object.entries(attributes)) {
    if (ATTRIBUTES.has(name)) made.setAttribute(name, value);
    if (name === "id" && /^finding-\d+$/.test(value)) made.id = value;
  }
  if (tag === "a") pointTo(made, attributes.href || "");
  made.append(...children.map(build));
  return made;
}

function pointTo(link, address) {
  if (/^#finding-\d+$/.test(address)) link.setAttribute("href", address);
  if (!/^https?:\/\//i.test(address)) return;
  link.setAttribute("href", address);
  link.setAttribute("rel", "noopener noreferrer nofollow");
  link.setAttribute("target", "_blank");
}

function flatten(node) {
  return typeof node === "string" ? node : node.slice(2).map(flatten).join(" ");
}
