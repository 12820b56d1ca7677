import { PlatformError } from "./platform-error.ts";

/** A call of a service of the platform. */
export interface JsonCall {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
}

/** The response to a call. */
export interface JsonResponse {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: responses of many RPCs
  readonly body: any;
}

/** Calls a service, whatever it responds. */
export async function callJson(
  url: string,
  { body, headers, signal, method = body === undefined ? "GET" : "POST" }: JsonCall,
): Promise<JsonResponse> {
  const response = await fetch(url, {
    method,
    signal,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

/**
 * Calls a service that must succeed.
 *
 * @returns the body of the response
 * @throws PlatformError with what it responded
 */
export async function mustCall(url: string, call: JsonCall): Promise<JsonResponse["body"]> {
  const { status, body } = await callJson(url, call);
  if (status === 200) return body;
  const { pathname } = new URL(url);
  throw new PlatformError(`${pathname}: ${status} ${body?.message ?? ""}; see the logs`);
}
