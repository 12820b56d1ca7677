import { request as httpRequest, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { ENGINE_TRAITS } from "svc-access/authz";
import { isJobActive } from "svc-access/runtime";
import type { LoadedIamConfig } from "../config/load-iam-config.ts";
import { REMOVALS_JOB } from "../ground/removals/removals.ts";
import { CommandError } from "./run/command-error.ts";
import { say } from "./run/run-command.ts";

const ANSWER_MS = 5000;
const LONGEST_ANSWER = 64 * 1024;
/** Of the service itself, and what an edge routes to it, without a login. */
const PATHS = ["/readyz", "/v1/iam/login-url"];
/** Nobody listens there. */
const ABSENT: readonly unknown[] = ["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH"];
/** This machine has no such network, of the two kinds of addresses that a name has. */
const NO_NETWORK: readonly unknown[] = ["EADDRNOTAVAIL", "ENETUNREACH"];

/**
 * Refuses to work on a store that a server may use: it would not see what is changed.
 *
 * @throws CommandError if a server of this configuration answers or uses the database, or if that cannot be known
 */
export async function refuseRunning({ config, sections }: LoadedIamConfig): Promise<void> {
  const { http } = config.server;
  const own = http && ownAddress(http.address, http.tls !== undefined);
  for (const place of new Set([sections.iam.public_url, ...(own === undefined ? [] : [own])])) {
    const found = await Promise.all(PATHS.map((path) => ask(new URL(path, place))));
    if (found.includes("server")) {
      throw new CommandError(
        `a server answers at ${place}: leave out --offline and log in, or stop it first`,
      );
    }
    const doubt = found.find((one) => typeof one === "object");
    if (doubt === undefined) continue;
    throw new CommandError(
      `whether a server runs at ${place} is not known: ${doubt.reason}; stop all servers, and run this where that address answers, or refuses connections`,
    );
  }
  // A store with a lock checks it.
  if (ENGINE_TRAITS[config.security.authz.provider].locksStore) return;
  if (process.stderr.isTTY) say("looking for running replicas, about 10 s");
  if (await isJobActive(config, REMOVALS_JOB)) {
    throw new CommandError(
      "a server uses this database: stop all replicas, wait 30 seconds after one that was killed, and repeat",
    );
  }
}

/** Where this machine reaches the address that a server listens on. */
function ownAddress(address: string, isSecure: boolean): string | undefined {
  const [, host = "", port] = /^(.*):(\d+)$/.exec(address) ?? [];
  if (port === undefined || port === "0") return undefined;
  const reached = { "": "127.0.0.1", "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[host] ?? host;
  return `${isSecure ? "https" : "http"}://${reached}:${port}`;
}

/** A server of ours, nobody or somebody else, or why that is not known. */
type Finding = "server" | "none" | { readonly reason: string };

function ask(url: URL): Promise<Finding> {
  return new Promise((resolve) => {
    const options: RequestOptions & { rejectUnauthorized: boolean } = {
      signal: AbortSignal.timeout(ANSWER_MS),
      // Nothing secret is sent, and whoever answers can only make this refuse, or learns that it runs.
      rejectUnauthorized: false,
    };
    const failed = (error: Error) => resolve(findingOf(error));
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(
      url,
      options,
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.length > LONGEST_ANSWER) response.destroy();
        });
        response.on("error", failed);
        response.on("close", () => resolve(isOurs(text) ? "server" : "none"));
      },
    );
    request.on("error", failed).end();
  });
}

function findingOf(error: Error & { readonly code?: unknown }): Finding {
  if (error.name === "AbortError" || error.name === "TimeoutError") {
    return { reason: `it does not answer within ${ANSWER_MS / 1000} s` };
  }
  const errors = error instanceof AggregateError ? error.errors : [error];
  const codes = errors.map((one: { readonly code?: unknown }) => one.code);
  const isAbsent =
    codes.some((code) => ABSENT.includes(code)) &&
    codes.every((code) => ABSENT.includes(code) || NO_NETWORK.includes(code));
  return isAbsent ? "none" : { reason: `it fails with ${String(error.code ?? error.message)}` };
}

/** Whether an answer has the form of the readiness or of an error of a service, and not of an edge before it. */
function isOurs(text: string): boolean {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return false;
  }
  if (typeof body !== "object" || body === null) return false;
  const { status, code, message, request_id, login_url } = body as Record<string, unknown>;
  if (status === "ready" || status === "not_ready" || typeof login_url === "string") return true;
  const texts = [code, message, request_id];
  return typeof status === "number" && texts.every((one) => typeof one === "string");
}
