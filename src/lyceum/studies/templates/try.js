
// -- the form -----------------------------------------------------------------------------------

const form = document.getElementById("try-form");
const shown = document.getElementById("try-answer");
const missing = "(missing)";

function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function field(column) {
  const value = start[column.name];
  if (column.categories === null) {
    const input = make("input", { name: column.name, type: "number", step: "any", placeholder: missing });
    input.value = value === null ? "" : String(value);
    return input;
  }
  const select = make("select", { name: column.name });
  for (const label of column.categories) select.append(make("option", {}, label));
  select.append(make("option", { value: "" }, missing));
  select.value = value === null ? "" : String(value);
  return select;
}

function cells() {
  return Object.fromEntries(columns.map((column) => {
    const text = form.elements.namedItem(column.name).value;
    if (text === "") return [column.name, null];
    return [column.name, column.categories === null ? Number(text) : text];
  }));
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toPrecision(3)}`;

function rows(answer, first) {
  return Object.entries(answer.probabilities).map(([label, share]) => {
    const meter = make("meter", { min: "0", max: "1", value: String(share), "aria-hidden": "true" });
    const before = first.probabilities === undefined ? "" : `${percent(first.probabilities[label])} at first`;
    return make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, meter),
      make("td", { class: "n" }, percent(share)), make("td", { class: "note" }, before));
  });
}

function attempt(record) {
  try {
    return decide(record);
  } catch (error) {
    return { error: error.message };
  }
}

function show() {
  const answer = attempt(cells());
  const first = attempt(start);
  form.dataset.answer = JSON.stringify(answer);
  if (answer.error !== undefined) {
    shown.replaceChildren(make("p", { class: "warning" }, answer.error));
    return;
  }
  const decided = answer.action ?? answer.predicted;
  const text = typeof decided === "number" && !answer.probabilities ? String(Number(decided.toPrecision(6))) : String(decided);
  const parts = [make("p", { class: "answer" }, make("strong", {}, text))];
  if (first.error === undefined && !answer.probabilities && typeof decided === "number") {
    parts.push(make("p", { class: "note" }, `${signed(decided - first.predicted)} from the row at first`));
  }
  if (answer.risk !== undefined) parts.push(make("p", {}, `Expected loss ${Number(answer.risk.toPrecision(4))}.`));
  if (answer.probabilities) parts.push(make("table", { class: "try-chances" }, make("tbody", {}, ...rows(answer, first))));
  shown.replaceChildren(...parts);
}

for (const column of columns) form.append(make("label", {}, column.name, field(column)));
form.append(make("button", { type: "reset" }, "The row at first"));
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  for (const column of columns) {
    form.elements.namedItem(column.name).value = start[column.name] === null ? "" : String(start[column.name]);
  }
  show();
});
show();
