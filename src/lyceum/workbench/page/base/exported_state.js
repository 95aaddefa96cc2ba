// What a page that was exported as a file has with it: its address, and the answers it had.

/** @typedef {{ address: string, page: string, title: string, made: string, answers: Record<string, { text?: string, bytes?: string }> }} Exported */

/** Null in the workbench itself. */
export const exported = /** @type {Exported | null} */ (/** @type {any} */ (globalThis).lyceumExported ?? null);
