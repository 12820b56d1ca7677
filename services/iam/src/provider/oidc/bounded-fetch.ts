/** More than any discovery document, key set or token response has. */
const LARGEST_BYTES = 1024 * 1024;
const TIMEOUT_MS = 4000;

/** A `fetch` for an identity provider. */
export type ProviderFetch = (url: string, init: RequestInit) => Promise<Response>;

/** The bounds of a fetch. */
export interface FetchBounds {
  /** Of a body; 1 MiB if absent. */
  readonly largestBytes?: number;
  /** Of a request and its whole response; 4 seconds if absent. */
  readonly timeoutMs?: number;
}

/** A body that is larger than the bound. It will be as large the next time. */
export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";
}

/**
 * A `fetch` whose answers are bounded in time and size, and which follows no redirect: a provider is
 * trusted to identify people, and no further.
 *
 * @param baseFetch for tests, and for a provider in this process
 */
export function boundedFetch(
  baseFetch: ProviderFetch = fetch,
  { largestBytes = LARGEST_BYTES, timeoutMs = TIMEOUT_MS }: FetchBounds = {},
): ProviderFetch {
  return async (url, init) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal == null ? timeout : AbortSignal.any([init.signal, timeout]);
    const response = await baseFetch(url, { ...init, signal, redirect: "manual" });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const body = await readBounded(response.body, largestBytes);
    return new Response(body, { status, statusText, headers });
  };
}

async function readBounded(
  stream: ReadableStream<Uint8Array>,
  largestBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the stream, which closes the connection.
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > largestBytes) {
      throw new ResponseTooLargeError(`the response is larger than ${largestBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks) as Uint8Array<ArrayBuffer>;
}
