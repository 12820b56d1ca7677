import type { JsonObject } from "./jwt-parts.ts";
import { parseUniqueJson } from "./unique-json.ts";

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a JSON object from the provider: within 5 seconds, 1 MiB at most, and from
 * the address itself, for a redirect could lead anywhere.
 *
 * @throws Error whatever is wrong, with the address in its message
 */
export async function fetchJsonObject(url: string): Promise<JsonObject> {
  try {
    const response = await fetch(url, {
      redirect: "error",
      headers: { accept: "application/json, application/jwk-set+json" },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it answered ${response.status}`);
    }
    const value = parseUniqueJson(await readText(response));
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new Error("it answered no JSON object");
    }
    return value as JsonObject;
  } catch (error) {
    throw new Error(`${url} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop ends the connection.
    if (size > MAX_BYTES) throw new Error(`it answered more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
}

/** The message of fetch is only "fetch failed"; its cause says why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message || error.message : error.message;
}
