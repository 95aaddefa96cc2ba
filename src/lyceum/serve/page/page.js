// A form made of a model's columns, its decision and why. Every number in a picture is also text.

const byId = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));

/** @type {any} */
let described = null;

/**
 * @param {string} path
 * @param {unknown} [body]
 */
async function ask(path, body) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (byId("key").value) headers.Authorization = `Bearer ${byId("key").value}`;
  /** @type {RequestInit} */
  const request = { headers };
  if (body !== undefined) {
    headers["Content-Type"] = "application/json";
    request.method = "POST";
    request.body = JSON.stringify(body);
  }
  const response = await fetch(path, request);
  if (response.status === 401) byId("key-label").hidden = false;
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/**
 * A name that breaks after its underscores where it must break.
 * @param {string} name
 */
function breakable(name) {
  const parts = name.split(/(?<=_)/);
  return element("span", {}, ...parts.flatMap((part) => [part, element("wbr")]));
}

/** @param {any} column */
function field(column) {
  const example = described.example[column.name];
  if (column.categories) {
    const options = column.categories.map((/** @type {any} */ value) => {
      const option = element("option", { value: JSON.stringify(value) }, String(value));
      if (value === example) option.setAttribute("selected", "");
      return option;
    });
    const missing = element("option", { value: "null" }, "(missing)");
    return element("select", { name: column.name }, ...options, missing);
  }
  const isNumber = column.kind === "continuous";
  const attributes = { name: column.name, type: isNumber ? "number" : "text", step: "any" };
  const input = /** @type {HTMLInputElement} */ (element("input", attributes));
  input.value = example === null ? "" : String(example);
  return input;
}

function showForm() {
  const fields = described.columns.map((/** @type {any} */ column) => {
    const range = column.range ? element("small", {}, `${column.range[0]} to ${column.range[1]}`) : "";
    return element("label", {}, breakable(column.name), field(column), range);
  });
  byId("record").replaceChildren(...fields, element("button", {}, "Decide"));
  const target = described.target ? ` of ${described.target}` : "";
  byId("about").textContent = `${described.learner}${target}, version ${described.version}`;
  byId("answer").replaceChildren();
}

function record() {
  /** @type {Record<string, unknown>} */
  const cells = {};
  for (const column of described.columns) {
    const text = byId("record").elements.namedItem(column.name).value;
    if (column.categories) cells[column.name] = JSON.parse(text);
    else if (text === "") cells[column.name] = null;
    else cells[column.name] = column.kind === "continuous" ? Number(text) : text;
  }
  return cells;
}

/**
 * @param {number} share from `least` to 1
 * @param {number} [least]
 */
function bar(share, least = -1) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("viewBox", `${100 * least} 0 ${100 - 100 * least} 10`);
  drawing.setAttribute("aria-hidden", "true");
  drawing.setAttribute("preserveAspectRatio", "none");
  const length = 100 * Math.min(1, Math.abs(share));
  const rectangle = document.createElementNS(space, "rect");
  rectangle.setAttribute("x", String(share < 0 ? -length : 0));
  rectangle.setAttribute("width", String(length));
  rectangle.setAttribute("height", "10");
  rectangle.setAttribute("class", share < 0 ? "against" : "for");
  drawing.append(rectangle);
  return drawing;
}

/** @param {number} value */
const short = (value) => String(Number(value.toPrecision(4)));

/** @param {any} answer */
function rowsOf(answer) {
  const parts = answer.contributions ?? [];
  const most = Math.max(1e-300, ...parts.map((/** @type {any} */ part) => Math.abs(part.adds)));
  return parts.map((/** @type {any} */ part) =>
    element(
      "tr",
      {},
      element("td", {}, breakable(part.column)),
      element("td", {}, part.value === null ? "(missing)" : String(part.value)),
      element("td", { class: "number" }, short(part.adds)),
      element("td", { class: "bar" }, bar(part.adds / most)),
    ),
  );
}

/** @param {any} answer */
function showAnswer(answer) {
  const decided = answer.action ?? answer.predicted;
  const text = typeof decided === "number" && !answer.probabilities ? short(decided) : String(decided);
  const said = [element("h2", {}, text)];
  const chances = Object.entries(answer.probabilities ?? {}).map(([label, share]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, label),
      element("td", { class: "number" }, `${(100 * Number(share)).toFixed(1)} %`),
      element("td", {}, bar(Number(share), 0)),
    ),
  );
  if (chances.length) said.push(element("table", { class: "chances" }, ...chances));
  if (answer.risk !== undefined) {
    said.push(element("p", {}, `expected cost ${short(answer.risk)}${answer.rejected ? ", rejected" : ""}`));
  }
  for (const warning of answer.warnings) {
    said.push(element("p", { class: "warning" }, `${warning.column}: ${warning.warning}`));
  }
  if (answer.change) {
    const changes = Object.entries(answer.change.columns).map(([name, value]) =>
      `${name} = ${typeof value === "number" ? short(value) : value}`);
    said.push(element("p", {}, `It would be ${answer.change.action} with ${changes.join(" and ")}.`));
  }
  const rows = rowsOf(answer);
  if (rows.length) {
    const names = ["column", "value", answer.unit].map((name) => element("th", { scope: "col" }, name));
    said.push(element("table", {}, element("tr", {}, ...names, element("td")), ...rows));
  }
  byId("answer").replaceChildren(...said);
  byId("answer").scrollIntoView({ block: "nearest" }); // on a phone it is below the form
}

/** @param {() => Promise<void>} action */
async function attempt(action) {
  try {
    await action();
  } catch (error) {
    byId("answer").replaceChildren(element("p", { class: "error" }, String(error)));
  }
}

async function describe() {
  described = await ask(`/models/${encodeURIComponent(byId("model").value)}`);
  showForm();
}

async function start() {
  const { models } = await ask("/models");
  const options = models.map((/** @type {any} */ model) => element("option", {}, model.name));
  byId("model").replaceChildren(...options);
  await describe();
}

byId("model").addEventListener("change", () => attempt(describe));
byId("key").addEventListener("change", () => attempt(start));
byId("choice").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
function decide() {
  return attempt(async () => {
    showAnswer(await ask(`/models/${encodeURIComponent(byId("model").value)}/explain`, record()));
  });
}

byId("record").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  decide();
});
// whoever has seen a decision sees it move with every cell
byId("record").addEventListener("change", () => {
  if (byId("answer").childElementCount) decide();
});
attempt(start);
