import { TOKENS } from "./hub-process.ts";

/** A message as ProtoJSON; the types of responses are known only at run time. */
export type Json = any;

/** The result of a call, by any protocol. */
export interface Answer {
  /** The gRPC code in lower case, such as `permission_denied`, or `ok`. */
  readonly code: string;
  /** The error's message. */
  readonly error: string;
  /** The responses: one, or those of a stream. */
  readonly messages: readonly Json[];
}

/** A way to call the hub by a third-party client. */
export interface Caller {
  /** @param request one message, or those of a stream */
  call(rpc: string, request: Json, headers: Headers): Promise<Answer>;
}

export type Headers = Readonly<Record<string, string>>;

/** The headers of each caller. */
export const AS = {
  nobody: {},
  alice: { "x-svc-external-sub": "alice", "x-svc-external-owner": "acme" },
  bob: { "x-svc-external-sub": "bob" },
  mallory: { "x-svc-external-sub": "mallory", "x-svc-external-owner": "acme" },
  git: { "x-svc-internal-token": TOKENS.GIT_TOKEN },
  system: { "x-svc-internal-token": TOKENS.SYSTEM_TOKEN },
  thief: { "x-svc-internal-token": "a-token-that-nobody-gave" },
} satisfies Record<string, Headers>;

/** Short names, as the example's services have them. */
export const PACKAGES: Readonly<Record<string, string>> = {
  AuthnService: "hub.authn.v1",
  AuthzService: "hub.authz.v1",
  ProjectService: "hub.projects.v1",
  RunnerService: "hub.projects.v1",
  SkillService: "hub.skills.v1",
  SkillPackageService: "hub.skills.v1",
};

/** The full name of `Service/Method`. */
export function fullName(rpc: string): string {
  const [service = ""] = rpc.split("/");
  return `${PACKAGES[service]}.${rpc}`;
}

/** Records the RPCs that were called successfully. */
export class CountingCaller implements Caller {
  readonly succeeded = new Set<string>();
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async call(rpc: string, request: Json, headers: Headers): Promise<Answer> {
    const answer = await this.#caller.call(rpc, request, headers);
    if (answer.code === "ok") this.succeeded.add(rpc);
    return answer;
  }
}

/** Calls some RPCs by one caller until a call succeeds, then by a faster caller; the others only by that. */
export class FirstCaller implements Caller {
  readonly #first: CountingCaller;
  readonly #then: Caller;
  readonly #rpcs: ReadonlySet<string>;

  constructor(first: CountingCaller, then: Caller, rpcs: Iterable<string>) {
    this.#first = first;
    this.#then = then;
    this.#rpcs = new Set(rpcs);
  }

  call(rpc: string, request: Json, headers: Headers): Promise<Answer> {
    const isFirst = this.#rpcs.has(rpc) && !this.#first.succeeded.has(rpc);
    return (isFirst ? this.#first : this.#then).call(rpc, request, headers);
  }
}
