import { AS, type Caller, fullName } from "./caller.ts";
import type { HubProcesses } from "./hub-process.ts";

/** The outcome of a login that a load recorded: its status or code; `none` without a response. */
export type Outcome = string;

/** Concurrent clients that record logins, over HTTP and gRPC, until the hub stops answering. */
export class Load {
  /** The user agents of the acknowledged logins. */
  readonly acknowledged: string[] = [];
  readonly outcomes = new Set<Outcome>();
  readonly #work: Promise<unknown>;
  #reached: () => void = () => undefined;
  readonly #wanted: number;
  readonly warm: Promise<void>;

  /** @param wanted the number of acknowledged logins after which `warm` resolves */
  constructor({ http }: HubProcesses, grpc: Caller, wanted: number) {
    this.#wanted = wanted;
    this.warm = new Promise((resolve) => {
      this.#reached = resolve;
    });
    const overHttp = async (login: object): Promise<Outcome> => {
      const headers = { ...AS.git, "content-type": "application/json" };
      const body = JSON.stringify(login);
      const response = await fetch(`${http}/v1/authn/logins`, { method: "POST", headers, body });
      await response.arrayBuffer();
      return response.status === 200 ? "ok" : String(response.status);
    };
    const overGrpc = async (login: object): Promise<Outcome> =>
      (await grpc.call(fullName("AuthnService/RecordLogin"), { login }, AS.git)).code;
    const workers = [overHttp, overHttp, overGrpc, overGrpc];
    this.#work = Promise.all(workers.map((record, index) => this.#run(record, String(index))));
  }

  /** Resolves when no client gets a response any more. */
  async end(): Promise<void> {
    await this.#work;
  }

  async #run(record: (login: object) => Promise<Outcome>, worker: string): Promise<void> {
    for (let count = 0; ; count++) {
      const userAgent = `load-${worker}-${count}`;
      const login = { userId: "alice", userAgent, loginTime: "2026-01-01T00:00:00Z" };
      const outcome = await record(login).catch(() => "none");
      this.outcomes.add(outcome);
      if (outcome !== "ok") return;
      this.acknowledged.push(userAgent);
      if (this.acknowledged.length === this.#wanted) this.#reached();
    }
  }
}

/** The user agents of all logins of alice that the hub has stored. */
export async function recordedLogins(caller: Caller): Promise<string[]> {
  const agents: string[] = [];
  let pageToken = "";
  do {
    const request = { pageSize: 100, pageToken };
    const { messages } = await caller.call(
      fullName("AuthnService/ListMyLogins"),
      request,
      AS.alice,
    );
    agents.push(...messages[0].logins.map(({ userAgent }: { userAgent: string }) => userAgent));
    pageToken = messages[0].nextPageToken;
  } while (pageToken !== "");
  return agents;
}
