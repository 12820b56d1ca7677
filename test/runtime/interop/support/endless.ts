/** A stream of requests that does not end by itself. */
export async function* endless<Request>(...requests: Request[]): AsyncGenerator<Request> {
  yield* requests;
  await new Promise(() => undefined);
}
