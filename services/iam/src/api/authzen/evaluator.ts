import {
  type AuthorizationEngine,
  AuthzError,
  type BulkCheckItem,
  type CheckRequest,
} from "svc-access/authz";
import { type CallContext, ServiceError } from "svc-access/runtime";
import type { ServiceRights } from "../permissions/service-rights.ts";
import type { EvaluationItem, EvaluationsRequest } from "./evaluation-request.ts";

/** A decision, in the form of AuthZEN. */
export interface Evaluation {
  readonly decision: boolean;
  /** Why there is no decision: then it is a denial. */
  readonly context?: {
    readonly error: { readonly status: number; readonly message: string };
  };
}

/** Whose fault the error of a check is: the question's, which is then denied. */
const OF_THE_QUESTION: ReadonlySet<string> = new Set(["INVALID_ARGUMENT", "FAILED_PRECONDITION"]);

/** Decides the questions of policy enforcement points, which are services. */
export class Evaluator {
  readonly #engine: Pick<AuthorizationEngine, "checkBulk">;
  readonly #rights: Pick<ServiceRights, "readTypes">;

  constructor(
    engine: Pick<AuthorizationEngine, "checkBulk">,
    rights: Pick<ServiceRights, "readTypes">,
  ) {
    this.#engine = engine;
    this.#rights = rights;
  }

  /**
   * Decides one question.
   *
   * @throws ServiceError FORBIDDEN if the service does not read the type of the resource; AuthzError
   * where no decision was reached
   */
  async one(check: CheckRequest, call: CallContext): Promise<Evaluation> {
    const [evaluation] = await this.#all([{ check }], call);
    if (evaluation?.context?.error.status === 403) {
      throw new ServiceError("FORBIDDEN", evaluation.context.error.message);
    }
    return evaluation as Evaluation;
  }

  /**
   * Decides several questions, in their order, until the semantic of the request ends it. A question that
   * cannot be decided is denied.
   *
   * @throws AuthzError where no decision was reached for a reason that is not a question's
   */
  async several(
    { items, semantic }: EvaluationsRequest,
    call: CallContext,
  ): Promise<readonly Evaluation[]> {
    const evaluations = await this.#all(items, call);
    if (semantic === "execute_all") return evaluations;
    const last = semantic === "permit_on_first_permit";
    const end = evaluations.findIndex(({ decision }) => decision === last);
    return end < 0 ? evaluations : evaluations.slice(0, end + 1);
  }

  async #all(items: readonly EvaluationItem[], call: CallContext): Promise<Evaluation[]> {
    const reads = this.#rights.readTypes(call);
    const asked = items.map(({ check }) => check).filter((check) => check !== undefined);
    const allowed = asked.filter(({ resource }) => reads(resource.type));
    const results = (await this.#decide(allowed, call)).values();
    return items.map(({ check, problem }) => {
      if (check === undefined) return denied(400, problem);
      const { type } = check.resource;
      if (!reads(type)) return denied(403, `the service does not read the type ${shown(type)}`);
      return evaluationOf(results.next().value as BulkCheckItem);
    });
  }

  async #decide(
    checks: readonly CheckRequest[],
    { signal }: CallContext,
  ): Promise<readonly BulkCheckItem[]> {
    if (checks.length === 0) return [];
    try {
      return (await this.#engine.checkBulk(checks, { signal })).items;
    } catch (error) {
      // So it ends where none of them could be decided.
      if (!isOfTheQuestion(error)) throw error;
      return checks.map(() => ({ error }));
    }
  }
}

function evaluationOf({ allowed, error }: BulkCheckItem): Evaluation {
  if (error === undefined) return { decision: allowed };
  if (isOfTheQuestion(error)) return denied(400, error.message);
  throw error;
}

function isOfTheQuestion(error: unknown): error is AuthzError {
  return error instanceof AuthzError && OF_THE_QUESTION.has(error.code);
}

function denied(status: number, message: string): Evaluation {
  return { decision: false, context: { error: { status, message } } };
}

/** A name from a request is shown as the start of it. */
function shown(type: string): string {
  return JSON.stringify(type.slice(0, 64));
}
