import * as z from "zod";

/** A response of Casdoor that is not one of its API. The message goes to the log only. */
export class CasdoorResponseError extends Error {
  override readonly name = "CasdoorResponseError";
  /** Whether a repetition may get another response. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

const LONGEST_MESSAGE = 200;
const MOST_RECORDS = 1_000_000_000;

/** The form of each response: an error has the status 200, too. */
const envelope = z.object({
  status: z.enum(["ok", "error"]),
  msg: z.string().nullish(),
  data: z.unknown().optional(),
  data2: z.unknown().optional(),
});

/**
 * Reads a response of the management API.
 *
 * @throws CasdoorResponseError where it reports an error, or is something else, such as a page
 */
export async function readEnvelope(
  response: Response,
): Promise<{ readonly data: unknown; readonly total: number | undefined }> {
  const { status, headers } = response;
  if (status !== 200) {
    await response.body?.cancel();
    throw new CasdoorResponseError(`the status is ${status}`, status >= 500 || status === 429);
  }
  const type = headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    // For paths that it does not know, Casdoor answers with its own page.
    await response.body?.cancel();
    throw new CasdoorResponseError("the response is not JSON: is the endpoint a Casdoor?", false);
  }
  const result = envelope.safeParse(await readJson(response));
  if (!result.success) {
    throw new CasdoorResponseError("the response does not have the form of the API", false);
  }
  const { data, data2, msg, status: outcome } = result.data;
  if (outcome === "error") {
    const reported = JSON.stringify((msg ?? "").slice(0, LONGEST_MESSAGE));
    throw new CasdoorResponseError(`it reports an error: ${reported}`, false);
  }
  const isCount = typeof data2 === "number" && Number.isInteger(data2);
  return { data, total: isCount && data2 >= 0 && data2 <= MOST_RECORDS ? data2 : undefined };
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    // The message of the error quotes the response, which is about people.
    throw new CasdoorResponseError("the response is not valid JSON", false);
  }
}
