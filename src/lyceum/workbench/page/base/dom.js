// Elements from values: h("label", { class: "wide" }, "Target ", () => name()). A function as a child
// or as an attribute is followed: it is asked again when a signal that it reads changes.

import { effect, untracked } from "./reactive.js";

/** @typedef {Node | string | number | null | undefined | false | (() => any) | any[]} Child */
/** @typedef {Record<string, any>} Attributes */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element of HTML. Attributes that begin with "on" are listeners.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  append(made, children); // before the value of a select is set
  setAll(made, attributes);
  return made;
}

/**
 * An element of SVG.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  setAll(made, attributes);
  append(made, children);
  return made;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 */
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (typeof value === "function") effect(() => set(element, name, value()));
    else set(element, name, value);
  }
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {any} value
 */
function set(element, name, value) {
  const isProperty = name === "value" || name === "checked" || name === "open" || name === "indeterminate";
  if (isProperty && name in element) Object.assign(element, { [name]: value ?? "" });
  else if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : String(value));
}

/**
 * @param {Element} parent
 * @param {Child[]} children
 */
export function append(parent, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (typeof child === "function") follow(parent, child);
    else if (child !== null && child !== undefined && child !== false) {
      parent.append(child instanceof Node ? child : String(child));
    }
  }
}

/**
 * A part of an element that a function makes again and again.
 * @param {Element} parent
 * @param {() => Child} make
 */
function follow(parent, make) {
  const first = document.createComment("");
  const last = document.createComment("");
  parent.append(first, last);
  effect(() => {
    const holder = document.createElement("template");
    const value = make();
    untracked(() => append(/** @type {any} */ (holder.content), [value]));
    const focused = focusedWithin(first, last);
    const opened = [];
    while (first.nextSibling && first.nextSibling !== last) {
      const old = first.nextSibling;
      if (old instanceof Element) opened.push(...old.querySelectorAll("details[open][id]"));
      old.remove();
    }
    first.after(holder.content);
    for (const { id } of opened) document.getElementById(id)?.setAttribute("open", "");
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  });
}

/**
 * The id of the element between two nodes that has the focus: whoever types there goes on typing.
 * @param {Node} first
 * @param {Node} last
 */
function focusedWithin(first, last) {
  const active = document.activeElement;
  if (!active?.id || !first.parentNode?.contains(active)) return "";
  const isAfter = first.compareDocumentPosition(active) & Node.DOCUMENT_POSITION_FOLLOWING;
  const isBefore = last.compareDocumentPosition(active) & Node.DOCUMENT_POSITION_PRECEDING;
  return isAfter && isBefore ? active.id : "";
}

/**
 * Say something to people who cannot see that it changed.
 * @param {string} text
 */
export function announce(text) {
  const box = document.getElementById("announcements");
  if (box) box.textContent = text;
}

let lastNumber = 0;

/** A name that no other element has, for labels. */
export function freshId(prefix = "id") {
  lastNumber += 1;
  return `${prefix}-${lastNumber}`;
}
