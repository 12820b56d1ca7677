import { type ConnectionFailure, connectionFailure } from "../../common/connection-failure.ts";
import { AuthzError } from "./authz-error.ts";

/**
 * The server that an engine asks, as messages for operators name it. `/readyz` shows them to anybody, so they
 * contain what the operator has configured, and nothing that the server or a library says.
 */
export interface AskedServer {
  /** What it is: `SpiceDB`, `IAM`. */
  readonly name: string;
  /** Where it answers, `host:port`. */
  readonly address: string;
  /** What an operator can correct: keys of the configuration, or options of the engine. */
  readonly keys: AskedServerKeys;
}

/** The names of the settings of a connection. */
export interface AskedServerKeys {
  readonly endpoint: string;
  readonly insecure: string;
  readonly token: string;
  readonly ca: string;
  /** The client certificate and its key; absent if the engine has none. */
  readonly certificate?: string;
}

/** The server in a sentence: `SpiceDB at spicedb:50051`. */
export function titleOf({ name, address }: Pick<AskedServer, "name" | "address">): string {
  return `${name} at ${address}`;
}

/**
 * Why no connection comes about, and what to correct.
 *
 * @param said the text of the client library, of which nothing is shown
 */
export function whyUnreachable(server: AskedServer, said: string): string {
  const failure = connectionFailure(said);
  return failure === undefined ? unreachable(server, "") : REASONS[failure](server);
}

/** Why the engine cannot answer, for its `ready()`. */
export function whyNotReady(server: AskedServer, error: unknown): string {
  const { name, address, keys } = server;
  const code = error instanceof AuthzError ? error.code : "INTERNAL";
  switch (code) {
    case "UNAVAILABLE":
      return (error as AuthzError).message;
    case "DEADLINE_EXCEEDED":
      return `${titleOf(server)} does not answer: check that it runs, the network, and ${keys.endpoint}`;
    case "UNIMPLEMENTED":
      return `what answers at ${address} is not ${name}: correct ${keys.endpoint}`;
    default:
      return `${titleOf(server)} fails (${code}): look at its log and at that of this service`;
  }
}

type Reason = (server: AskedServer) => string;

const REASONS: Readonly<Record<ConnectionFailure, Reason>> = {
  refused: (server) => unreachable(server, " (connection refused)"),
  "unknown name": (server) =>
    `${titleOf(server)} cannot be reached (the name is not found): correct ${server.keys.endpoint}, or the DNS`,
  "no route": (server) => unreachable(server, " (no route to it, or no answer)"),
  broken: (server) => unreachable(server, " (the connection broke)"),
  "closed before use": (server) =>
    `${titleOf(server)} closes each connection: check ${server.keys.endpoint}, and ${server.keys.insecure}, since it may require TLS`,
  "certificate for another name": (server) =>
    `the certificate of ${titleOf(server)} is for another name: name the server in ${server.keys.endpoint} as its certificate does`,
  "certificate expired": (server) => `the certificate of ${titleOf(server)} has expired: renew it`,
  "certificate not valid yet": (server) =>
    `the certificate of ${titleOf(server)} is not valid yet: check the clocks of both machines`,
  "certificate not trusted": (server) =>
    `the certificate of ${titleOf(server)} is not signed by a trusted CA: name that CA in ${server.keys.ca}`,
  "client certificate required": (server) =>
    server.keys.certificate === undefined
      ? `${titleOf(server)} requires a client certificate, which this engine does not have: let it accept clients without one`
      : `${titleOf(server)} requires a client certificate: name one that it trusts in ${server.keys.certificate}`,
  "client certificate refused": (server) =>
    `${titleOf(server)} does not accept the client certificate of this service: correct ${server.keys.certificate ?? server.keys.endpoint}`,
  "no TLS there": (server) =>
    `${titleOf(server)} does not use TLS: correct ${server.keys.endpoint}, or set ${server.keys.insecure} in a network that is trusted`,
  "no common TLS version": (server) =>
    `${titleOf(server)} and this service have no TLS version or cipher in common: TLS 1.2 or later is required`,
  "another protocol": ({ name, address, keys }) =>
    `what answers at ${address} is not the gRPC port of ${name}: correct ${keys.endpoint}`,
};

function unreachable(server: AskedServer, why: string): string {
  return `${titleOf(server)} cannot be reached${why}: check that it runs, and ${server.keys.endpoint}`;
}
