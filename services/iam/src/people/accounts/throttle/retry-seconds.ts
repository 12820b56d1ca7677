/** How long somebody waits who has tried too often, in whole seconds, as `Retry-After` says it: at least one. */
export function retrySeconds({ retryAfterMs }: { readonly retryAfterMs: number }): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1000));
}
