import { isMessage } from "@bufbuild/protobuf";
import { type AdmissionCheck, requirePrincipal } from "svc-access/runtime";
import { CreateGroupRequestSchema } from "../../../gen/svc/iam/v1/groups_pb.ts";
import type { PlaceRights } from "./place-rights.ts";

/**
 * Refuses a creation with an `Idempotency-Key` if its caller may not create the group. The handler decides that too,
 * but it does not run where the key was used before: whoever has lost the right since would get the response.
 */
export function refuseRepeatedCreations(
  rights: Pick<PlaceRights, "assertMayPlace">,
): AdmissionCheck {
  // Not an async function: no other call waits for a promise here.
  return (call) => {
    const { request, headers } = call;
    if (!isMessage(request, CreateGroupRequestSchema)) return undefined;
    if (headers.all("idempotency-key").length === 0) return undefined;
    return rights
      .assertMayPlace(requirePrincipal(call), request, call.signal)
      .then(() => undefined);
  };
}
