import type { AccessPolicy, RouteDocument } from "../../api/format.ts";
import type { BoundMethod } from "../binding/bound-method.ts";
import type { Call } from "../call/call.ts";
import { type AnsweredRequest, recordAnswer } from "../http/raw/raw-answer.ts";
import type { RawHandler, RawPath } from "../http/raw/raw-handler.ts";
import type { RawMethod } from "../http/raw/raw-route.ts";

/** The methods of raw handlers, or their problems. */
export interface BoundRawHandlers {
  readonly methods: readonly RawMethod[];
  readonly problems: readonly string[];
  /** The declared paths that have no handler. */
  readonly unserved: readonly string[];
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Binds raw handlers to the paths that the platform configuration declares: a handler without one
 * is a problem, since it would have no exposure.
 *
 * @param first the index of the first method, after those of the RPCs
 */
export function bindRawHandlers(
  handlers: readonly RawHandler[],
  declared: RouteDocument["paths"],
  first: number,
): BoundRawHandlers {
  const problems: string[] = [];
  const methods: RawMethod[] = [];
  const bound = new Set<string>();
  for (const { path: name, handle, renderError } of handlers) {
    // A path may be declared more than once, with other methods and another exposure.
    const paths = declared.filter((one) => one.path === name);
    const closed = paths.find(({ exposure }) => !isOpenToHandlers(exposure));
    if (paths.length === 0) {
      const known = declared.map((one) => one.path).join(", ") || "none";
      problems.push(
        `the raw handler of ${name} has no declared path: add it to paths in svc-access.yaml and generate; declared paths: ${known}`,
      );
    } else if (closed !== undefined) {
      problems.push(
        `the declared path ${name} is ${closed.exposure}; a raw handler is PUBLIC or AUTHENTICATED`,
      );
    } else if (bound.has(name)) {
      problems.push(`there are two raw handlers of ${name}`);
    } else {
      bound.add(name);
      for (const { exposure, ...path } of paths) {
        if (!isOpenToHandlers(exposure)) continue;
        const declaredPath: RawPath = { ...path, exposure };
        const method = bindRawHandler(declaredPath, handle, first + methods.length);
        methods.push({ method, path: declaredPath, renderError });
      }
    }
  }
  const unserved = new Set(declared.map(({ path }) => path));
  for (const { path } of handlers) unserved.delete(path);
  return { methods, problems, unserved: [...unserved] };
}

function isOpenToHandlers(exposure: string): exposure is RawPath["exposure"] {
  return exposure === "PUBLIC" || exposure === "AUTHENTICATED";
}

function bindRawHandler(
  { path, methods, exposure, audit, rateLimit }: RawPath,
  handler: RawHandler["handle"],
  index: number,
): BoundMethod {
  const policy: AccessPolicy = {
    exposure,
    publish: true,
    ...(audit === undefined ? {} : { audit }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
  };
  const isWrite = methods.some((method) => !SAFE_METHODS.has(method));
  return {
    index,
    rpc: path,
    kind: "raw",
    descriptor: undefined,
    policy,
    isWrite,
    routes: [],
    async handler(request: AnsweredRequest, call: Call) {
      const answer = await handler(request, call);
      // Before the call ends, so that logs, metrics and traces contain it.
      recordAnswer(call, request, answer);
      return answer;
    },
  };
}
