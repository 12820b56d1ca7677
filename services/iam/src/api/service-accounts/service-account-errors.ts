import { ServiceError } from "svc-access/runtime";
import { ChangedMeanwhileError } from "../../ground/rpc/lost-race.ts";

/** The error for an account that does not exist. */
export function noAccount(): ServiceError {
  return new ServiceError("RESOURCE_NOT_FOUND", "the service account does not exist");
}

/** The error for a change of something else than what was read. */
export function changedMeanwhile(): ChangedMeanwhileError {
  return new ChangedMeanwhileError(
    "the service account was changed meanwhile: read it again, and repeat the change",
  );
}

/** The error for a change of an account of the configuration. */
export function isDeclared(): ServiceError {
  return new ServiceError(
    "FAILED_PRECONDITION",
    "the configuration declares the service account (iam.clients): change it there",
  );
}
