import { create } from "@bufbuild/protobuf";
import type { CheckResult } from "svc-access/authz";
import { reusableMessage } from "svc-access/runtime";
import {
  type CheckPermissionResponse,
  CheckPermissionResponseSchema,
} from "../../../gen/svc/iam/v1/permission_pb.ts";

/**
 * The responses of checks. Between two writes all decisions are made at one revision, and of these
 * there are two, which are written once.
 */
export class CheckAnswers {
  #revision: string | undefined;
  #allowed: CheckPermissionResponse | undefined;
  #denied: CheckPermissionResponse | undefined;

  /** The response that says what was decided. */
  of({ allowed, revision }: CheckResult): CheckPermissionResponse {
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#allowed = undefined;
      this.#denied = undefined;
    }
    return allowed
      ? (this.#allowed ??= answer(true, revision))
      : (this.#denied ??= answer(false, revision));
  }
}

function answer(allowed: boolean, revision: string): CheckPermissionResponse {
  return reusableMessage(create(CheckPermissionResponseSchema, { allowed, revision }));
}
