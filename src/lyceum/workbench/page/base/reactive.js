// A small reactive core: signals hold values, effects run again when a signal that they read changes.
//
//   const count = signal(1);
//   effect(() => console.log(count()));   // 1
//   count.set(2);                         // 2
//
// An effect owns the effects that are made while it runs, and ends them before it runs again.

/**
 * @typedef {{ run: () => void, sources: Set<Set<Effect>>, owned: Effect[], ends: (() => void)[], ended: boolean }} Effect
 */

/**
 * @template T
 * @typedef {(() => T) & { set: (value: T) => void, change: (how: (value: T) => T) => void }} Signal
 */

/** @type {Effect | null} */
let running = null; // owns the effects that are made
let follows = false; // whether signals that are read are followed
/** @type {Set<Effect>} */
const waiting = new Set();
let batches = 0;

/**
 * A value that effects follow. Setting an equal value changes nothing.
 * @template T
 * @param {T} value
 * @returns {Signal<T>}
 */
export function signal(value) {
  /** @type {Set<Effect>} */
  const readers = new Set();
  const read = () => {
    if (running && follows) {
      readers.add(running);
      running.sources.add(readers);
    }
    return value;
  };
  const set = (/** @type {T} */ next) => {
    if (Object.is(next, value)) return;
    value = next;
    for (const reader of readers) waiting.add(reader);
    if (batches === 0) runWaiting();
  };
  return Object.assign(read, { set, change: (/** @type {(value: T) => T} */ how) => set(how(value)) });
}

/**
 * Run now, and again whenever a signal that was read changes; the answer ends it.
 * @param {() => void} run
 * @returns {() => void}
 */
export function effect(run) {
  /** @type {Effect} */
  const made = { run, sources: new Set(), owned: [], ends: [], ended: false };
  running?.owned.push(made);
  runEffect(made);
  return () => end(made);
}

/**
 * A signal that is computed from others; it changes only where its value does.
 * @template T
 * @param {() => T} compute
 * @returns {() => T}
 */
export function computed(compute) {
  const result = signal(/** @type {T} */ (undefined));
  effect(() => result.set(compute()));
  return result;
}

/**
 * What is to be done when the running effect ends or runs again: a timer stopped, a request aborted.
 * @param {() => void} undo
 */
export function onEnd(undo) {
  running?.ends.push(undo);
}

/**
 * Several changes, after which effects run once.
 * @param {() => void} change
 */
export function batch(change) {
  batches += 1;
  try {
    change();
  } finally {
    batches -= 1;
    if (batches === 0) runWaiting();
  }
}

/**
 * Read signals without following them.
 * @template T
 * @param {() => T} read
 * @returns {T}
 */
export function untracked(read) {
  const before = follows;
  follows = false;
  try {
    return read();
  } finally {
    follows = before;
  }
}

function runWaiting() {
  while (waiting.size) {
    const [next] = waiting;
    waiting.delete(next);
    if (!next.ended) runEffect(next);
  }
}

/** @param {Effect} made */
function runEffect(made) {
  clear(made);
  const before = running;
  const followedBefore = follows;
  running = made;
  follows = true;
  batches += 1; // what an effect changes is worked on when it is through
  try {
    made.run();
  } finally {
    running = before;
    follows = followedBefore;
    batches -= 1;
    if (batches === 0) runWaiting();
  }
}

/** @param {Effect} made */
function clear(made) {
  for (const undo of made.ends.splice(0)) undo();
  for (const owned of made.owned.splice(0)) end(owned);
  for (const readers of made.sources) readers.delete(made);
  made.sources.clear();
}

/** @param {Effect} made */
function end(made) {
  clear(made);
  made.ended = true;
}
