/** A promise that a test resolves: what a part under test waits for. */
export interface Pending {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

export function pending(): Pending {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
