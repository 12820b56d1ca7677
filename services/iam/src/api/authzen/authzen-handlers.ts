import { AuthzError } from "svc-access/authz";
import {
  type CallContext,
  type ErrorResponse,
  type ProcessLogger,
  type RawHandler,
  type RawRequest,
  type RawResponse,
  type RefusedRequest,
  ServiceError,
} from "svc-access/runtime";
import { readEvaluation, readEvaluations } from "./evaluation-request.ts";
import type { Evaluator } from "./evaluator.ts";

/** Where the metadata is, by the specification. */
export const METADATA_PATH = "/.well-known/authzen-configuration";
/** Where one decision is asked for. */
export const EVALUATION_PATH = "/access/v1/evaluation";
/** Where several are. */
export const EVALUATIONS_PATH = "/access/v1/evaluations";

/** What the handlers need. */
export interface AuthzenOptions {
  /** `iam.public_url`. */
  readonly origin: string;
  readonly evaluator: Pick<Evaluator, "one" | "several">;
  readonly logger: Pick<ProcessLogger, "warn">;
}

const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;
/** A request identifier is sent back as it came: printable, and no longer than this. */
const REQUEST_ID = /^[\x20-\x7e]{1,1024}$/;
const LARGEST_BODY = 1024 * 1024;
const METADATA_SECONDS = 3600;
/** Errors are texts. */
const TEXT = { "Content-Type": "text/plain; charset=utf-8" };

/**
 * The Access Evaluation and Access Evaluations APIs of AuthZEN 1.0 (OpenID Authorization API 1.0), and
 * the metadata of this policy decision point. The rules are the standard's: unknown fields are ignored,
 * a denial is a response like any other, and an error is a status with a text.
 */
export function authzenHandlers({ origin, evaluator, logger }: AuthzenOptions): RawHandler[] {
  const metadata = JSON.stringify({
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}${EVALUATION_PATH}`,
    access_evaluations_endpoint: `${origin}${EVALUATIONS_PATH}`,
  });
  const answering =
    (answer: (body: Uint8Array, call: CallContext) => Promise<unknown>): RawHandler["handle"] =>
    async (request, call) => {
      if (request.method !== "POST") return otherMethod(request, "POST");
      assertService(call);
      try {
        return json(await answer(await bodyOf(request), call), requestIdOf(request));
      } catch (error) {
        throw decisionError(error, logger);
      }
    };
  return [
    {
      path: METADATA_PATH,
      renderError,
      handle(request) {
        const { method } = request;
        if (method !== "GET" && method !== "HEAD") return otherMethod(request, "GET, HEAD");
        const headers = {
          "Content-Type": "application/json",
          "Cache-Control": `public, max-age=${METADATA_SECONDS}`,
          ...requestIdOf(request),
        };
        return { status: 200, headers, body: metadata };
      },
    },
    {
      path: EVALUATION_PATH,
      renderError,
      handle: answering((body, call) => evaluator.one(readEvaluation(body), call)),
    },
    {
      path: EVALUATIONS_PATH,
      renderError,
      handle: answering(async (body, call) => {
        const request = readEvaluations(body);
        if (!("items" in request)) return evaluator.one(request, call);
        return { evaluations: await evaluator.several(request, call) };
      }),
    },
  ];
}

/** A policy enforcement point is a service that sends its internal token. */
function assertService({ principal }: CallContext): void {
  if (principal === undefined) {
    throw new ServiceError("UNAUTHORIZED", "send the internal token of a service");
  }
  if (principal.source !== "internal" || principal.subjectType !== "service") {
    throw new ServiceError("FORBIDDEN", "only services ask for decisions");
  }
}

/** @throws ServiceError INVALID_ARGUMENT for another content type, PAYLOAD_TOO_LARGE */
async function bodyOf(request: RawRequest): Promise<Uint8Array> {
  const [type = "", ...others] = request.headers.all("content-type");
  if (others.length > 0 || !JSON_TYPE.test(type)) {
    throw new ServiceError("INVALID_ARGUMENT", "Content-Type must be application/json");
  }
  const body = await request.body();
  if (body.length <= LARGEST_BODY) return body;
  throw new ServiceError("PAYLOAD_TOO_LARGE", `the body must have at most ${LARGEST_BODY} bytes`);
}

function requestIdOf({ headers }: Pick<RawRequest, "headers">): Readonly<Record<string, string>> {
  const [id, ...others] = headers.all("x-request-id");
  const isSentBack = id !== undefined && others.length === 0 && REQUEST_ID.test(id);
  return isSentBack ? { "X-Request-ID": id } : {};
}

/** The refusal of another method, in the form of the standard's errors; or which methods there are. */
function otherMethod(request: RawRequest, allowed: string): RawResponse {
  const headers = { Allow: `${allowed}, OPTIONS`, "Cache-Control": "no-store" };
  if (request.method === "OPTIONS") return { status: 204, headers };
  return {
    status: 405,
    headers: { ...headers, ...TEXT, ...requestIdOf(request) },
    body: `only ${allowed} is allowed`,
  };
}

function json(value: unknown, headers: Readonly<Record<string, string>>): RawResponse {
  return {
    status: 200,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
    body: JSON.stringify(value),
  };
}

/** An error is a status with a text. */
function renderError({ message }: ServiceError, request: RefusedRequest): ErrorResponse {
  return { headers: { ...TEXT, ...requestIdOf(request) }, body: message };
}

/** The error of a decision: UNAVAILABLE where the engine makes none. */
function decisionError(error: unknown, logger: AuthzenOptions["logger"]): unknown {
  if (!(error instanceof AuthzError) || error.code === "CANCELLED") return error;
  logger.warn({ error }, "AuthZEN: no decision was made");
  return new ServiceError("UNAVAILABLE", "no decision was made", {
    cause: error,
    retryAfterSeconds: 1,
  });
}
