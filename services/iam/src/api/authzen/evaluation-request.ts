import { type CheckRequest, MAX_BULK_CHECKS } from "svc-access/authz";
import { DuplicateKeyError, parseUniqueJson, ServiceError } from "svc-access/runtime";
import * as z from "zod";

/** The most decisions of one request; more would take the loop of this process for too long. */
const MOST = Math.min(1000, MAX_BULK_CHECKS);

const NO_OBJECT = unlessMissing("must be an object");
/** The most characters of a name and of an id: each answer of many may repeat what the request has once. */
const MOST_OF_NAME = 128;
const MOST_OF_ID = 1024;
const text = (most: number) =>
  z
    .string(unlessMissing("must be a string"))
    .min(1, "must not be empty")
    .max(most, `must have at most ${most} characters`);
const name = text(MOST_OF_NAME);
const id = text(MOST_OF_ID);
/** Facts that the caller knows; the model decides by relationships alone. */
const facts = z.record(z.string(), z.unknown(), NO_OBJECT).optional();

// Unknown fields are ignored: they may come from a later version of the specification.
const entity = z.object({ type: name, id, properties: facts }, NO_OBJECT);
const action = z.object({ name, properties: facts }, NO_OBJECT);
const question = z.object({ subject: entity, action, resource: entity, context: facts }, NO_OBJECT);

const SEMANTICS = ["execute_all", "deny_on_first_deny", "permit_on_first_permit"] as const;

const defaults = z.object(
  {
    subject: entity.partial().optional(),
    action: action.partial().optional(),
    resource: entity.partial().optional(),
    context: facts,
    evaluations: z
      .array(z.unknown(), "must be an array")
      .max(MOST, `must have at most ${MOST} items`)
      .optional(),
    options: z
      .object({
        evaluations_semantic: z
          .enum(SEMANTICS, `must be one of ${SEMANTICS.join(", ")}`)
          .optional(),
      })
      .optional(),
  },
  NO_OBJECT,
);

/** When the evaluation of several questions ends. */
export type EvaluationsSemantic = (typeof SEMANTICS)[number];

/** A question, or why it is not one. */
export type EvaluationItem =
  | { readonly check: CheckRequest; readonly problem?: undefined }
  | { readonly check?: undefined; readonly problem: string };

/** A request for several decisions. */
export interface EvaluationsRequest {
  readonly items: readonly EvaluationItem[];
  readonly semantic: EvaluationsSemantic;
}

/**
 * Reads a request for one decision.
 *
 * @throws ServiceError INVALID_ARGUMENT if it is not valid
 */
export function readEvaluation(body: Uint8Array): CheckRequest {
  return questionOf(parseJson(body));
}

/**
 * Reads a request for several decisions, each of which takes what it lacks from the request.
 *
 * @returns the only question if it has no list of them
 * @throws ServiceError INVALID_ARGUMENT if the request as a whole is not valid
 */
export function readEvaluations(body: Uint8Array): EvaluationsRequest | CheckRequest {
  const json = parseJson(body);
  const { evaluations = [], options, ...shared } = valid(defaults, json);
  if (evaluations.length === 0) return questionOf(json);
  return {
    items: evaluations.map((one) => itemOf(one, shared)),
    semantic: options?.evaluations_semantic ?? "execute_all",
  };
}

type Shared = Pick<z.output<typeof defaults>, "subject" | "action" | "resource">;

function itemOf(one: unknown, shared: Shared): EvaluationItem {
  if (typeof one !== "object" || one === null || Array.isArray(one)) {
    return { problem: "the evaluation must be an object" };
  }
  const own = one as Readonly<Record<string, unknown>>;
  try {
    const check = questionOf({
      ...own,
      subject: completed(own["subject"], shared.subject),
      action: completed(own["action"], shared.action),
      resource: completed(own["resource"], shared.resource),
    });
    return { check };
  } catch (error) {
    if (error instanceof ServiceError) return { problem: error.message };
    throw error;
  }
}

/** An entity replaces the one of the request, which is left with the identifiers that it lacks. */
function completed(own: unknown, shared: object | undefined): unknown {
  if (own === undefined) return shared;
  if (shared === undefined || typeof own !== "object" || own === null) return own;
  const { properties: _, ...identifiers } = shared as { readonly properties?: unknown };
  return { ...identifiers, ...own };
}

function questionOf(json: unknown): CheckRequest {
  const { subject, action, resource } = valid(question, json);
  return {
    subject: { type: subject.type, id: subject.id },
    permission: action.name,
    resource: { type: resource.type, id: resource.id },
  };
}

/** With a key twice, whoever forwards the request may see another subject than this. */
function parseJson(body: Uint8Array): unknown {
  try {
    return parseUniqueJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new ServiceError("INVALID_ARGUMENT", problemOf(body, error), { cause: error });
  }
}

function problemOf(body: Uint8Array, error: unknown): string {
  if (body.length === 0) return "the body is empty";
  if (!(error instanceof DuplicateKeyError)) return "the body is not valid JSON";
  return "the body has an object in which a key occurs twice: send each key once";
}

function valid<Schema extends z.ZodType>(schema: Schema, json: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(json);
  if (success) return data;
  const [first] = error.issues;
  const place = first?.path.join(".") || "the request";
  throw new ServiceError("INVALID_ARGUMENT", `${place} ${first?.message ?? "is not valid"}`);
}

/** What is wrong with a value that is there. */
function unlessMissing(problem: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) =>
      input === undefined ? "is missing" : problem,
  };
}
