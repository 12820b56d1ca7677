import { AuthzError } from "svc-access/authz";
import { DatabaseError } from "svc-access/database";
import { databaseOf } from "../support/browser-login.ts";
import type { IamService } from "../support/iam-service.ts";

const READS: ReadonlySet<string> = new Set([
  ...["check", "checkAny", "checkBulk", "explain"],
  ...["lookupResources", "lookupSubjects", "readRelationships"],
]);

type Call = (...args: unknown[]) => Promise<unknown>;

/**
 * Cuts a service off from its database and its authorization engine, at a call of either of them: as if its process
 * had ended there. Calls are counted from `begin`, and none is answered after the last one.
 */
export class CutOff {
  /** How many calls are still answered. */
  #left = Number.POSITIVE_INFINITY;
  readonly #moment: "before" | "after";

  /** @param moment whether the call at which it is cut off happens; it does not learn of it */
  constructor(service: IamService, moment: "before" | "after") {
    this.#moment = moment;
    const engine = service.options.engine as unknown as Record<string, Call>;
    for (const name of [...READS, "writeRelationships"]) {
      this.#wrap(engine, name, () => new AuthzError("UNAVAILABLE", "the service is cut off"));
    }
    const database = databaseOf(service);
    const ended = () => new DatabaseError("UNAVAILABLE", "the service is cut off");
    this.#wrap(database as unknown as Record<string, Call>, "inTransaction", ended);
    const executor = database.kysely.getExecutor() as unknown as Record<string, Call>;
    this.#wrap(executor, "executeQuery", ended);
  }

  begin(at: number): void {
    this.#left = at;
  }

  end(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  #wrap(target: Record<string, Call>, name: string, error: () => Error): void {
    const call = target[name]?.bind(target);
    if (call === undefined) return;
    target[name] = async (...args) => {
      const left = this.#left--;
      if (left > 0) return call(...args);
      if (left === 0 && this.#moment === "after" && !READS.has(name)) await call(...args);
      throw error();
    };
  }
}
