/** @throws Error if a function returned a status that is not one from `min` to 599 */
export function requireStatus(source: string, status: number, min: number): void {
  if (Number.isInteger(status) && status >= min && status <= 599) return;
  throw new Error(`${source} returned the status ${status}, which is not from ${min} to 599`);
}

/** @throws Error if a function returned a body of another type */
export function requireBody(source: string, body: unknown): void {
  if (typeof body === "string" || body instanceof Uint8Array) return;
  throw new Error(`${source} returned a body that is neither a string nor bytes`);
}
