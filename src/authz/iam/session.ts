import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConsistencySchema } from "../../gen/proto/svc/iam/v1/relationship_pb.ts";
import type { Model } from "../../model/index.ts";
import { abortError } from "../engine/abort-error.ts";
import type { AskedServer } from "../engine/asked-server.ts";
import type { AuthzError, AuthzErrorCode } from "../engine/authz-error.ts";
import type { CallOptions, Revision } from "../engine/requests.ts";
import { RunningCalls, type StoppableCall } from "../engine/running-calls.ts";
import { invalid, RequestValidator } from "../engine/validate-request.ts";
import { KnownRevision } from "./known-revision.ts";
import { mapCallError } from "./map-error.ts";
import type { PermissionCalls } from "./permission-calls.ts";

/** How fresh a call must be, as IAM gets it. */
export type Consistency = MessageInitShape<typeof ConsistencySchema> | undefined;

/** How long a call of the engine may take, including all its requests and retries. */
const DEADLINE_MS = 5000;

/** How IAM refuses a revision that it does not have. */
const REVISION_REFUSALS: ReadonlySet<AuthzErrorCode> = new Set([
  "INVALID_ARGUMENT",
  "OUT_OF_RANGE",
  "FAILED_PRECONDITION",
]);

/** What every call to IAM needs. */
export class IamSession {
  readonly model: Model;
  readonly calls: PermissionCalls;
  /** Whom the calls reach, for messages. */
  readonly server: AskedServer;
  /** Refuses invalid requests before IAM is asked, so that all engines report the same errors. */
  readonly validator: RequestValidator;
  readonly running = new RunningCalls();
  readonly known = new KnownRevision();

  constructor(model: Model, calls: PermissionCalls, server: AskedServer) {
    this.model = model;
    this.calls = calls;
    this.server = server;
    this.validator = new RequestValidator(model);
  }

  /** Runs one call of the engine: it ends with its deadline, its caller and the engine. */
  run<Result>(
    options: CallOptions | undefined,
    work: (options: StoppableCall) => Promise<Result>,
  ): Promise<Result> {
    return this.running.run(options ?? {}, DEADLINE_MS, async (call) => {
      // Also if the request is refused.
      if (call.atLeastAsFresh !== undefined) assertRevision(call.atLeastAsFresh);
      return work(call);
    });
  }

  /** Makes an RPC. @throws AuthzError */
  async ask<Response>(
    { signal }: StoppableCall,
    rpc: (options: { readonly signal: AbortSignal }) => Promise<Response>,
  ): Promise<Response> {
    try {
      return await rpc({ signal });
    } catch (error) {
      throw this.errorOf(error, signal);
    }
  }

  /** Makes an RPC that reads, and sees what this engine wrote before. @throws AuthzError */
  async read<Response extends { readonly revision: Revision }>(
    call: StoppableCall,
    rpc: (consistency: Consistency, options: { readonly signal: AbortSignal }) => Promise<Response>,
  ): Promise<Response> {
    const { atLeastAsFresh: given, newest } = call;
    const at = this.known.read(given, newest);
    const readAs = async ({ consistency, seen }: Pick<typeof at, "consistency" | "seen">) => {
      const response = await this.ask(call, (options) => rpc(consistency, options));
      seen(response.revision);
      return response;
    };
    try {
      return await readAs(at);
    } catch (error) {
      const { code } = error as AuthzError;
      if (!at.isOwn || !REVISION_REFUSALS.has(code)) throw error;
      return readAs(this.known.readWithoutKnown(given));
    }
  }

  errorOf(error: unknown, signal: AbortSignal): AuthzError {
    return signal.aborted ? abortError(signal) : mapCallError(error, this.server);
  }
}

/** @throws AuthzError INVALID_ARGUMENT for what cannot be sent */
export function assertRevision(revision: unknown): asserts revision is Revision {
  if (typeof revision !== "string") throw invalid("the revision token is malformed");
}
