import type { ClientInterceptor } from "svc-access/runtime";
import { CommandError } from "./command-error.ts";
import { whyUnreachable } from "./why-unreachable.ts";

/** What the client says of an answer that is not JSON, as of a web server that is not a service. */
const NOT_OURS = "the response does not have the requested Content-Type";

/** Says which server cannot be reached or used, why, and how to fix it. */
export function namingTheServer(server: string): ClientInterceptor {
  return async (_, next) => {
    try {
      return await next();
    } catch (error) {
      const problem = problemOf(server, error as Failure);
      if (problem === undefined) throw error;
      throw new CommandError(problem, { cause: error });
    }
  };
}

type Failure = Error & { readonly code?: unknown; readonly isRemote?: unknown };

function problemOf(server: string, error: Failure): string | undefined {
  const { code, message, isRemote } = error;
  const unusable = `the server ${server} cannot be reached or used`;
  if (code === "INTERNAL" && isRemote === false && message === NOT_OURS) {
    return `${unusable}: what answers there is not svc-iam: check the address`;
  }
  if (code !== "UNAVAILABLE") return undefined;
  if (isRemote === true) {
    const said = message === "unavailable" ? "503" : `503, ${message}`;
    return `the server ${server} cannot answer now (${said}): look at /readyz and the log of the server, and repeat the command`;
  }
  const failed = `the connection failed (${codeOf(error)}): check the address and the network`;
  return `${unusable}: ${whyUnreachable(error) ?? failed}`;
}

/** The code of the connection's error, such as `EADDRNOTAVAIL`. */
function codeOf({ cause }: Error): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "UNAVAILABLE";
}
