import type { SubjectReference } from "svc-access/authz";
import { ServiceError } from "svc-access/runtime";
import type { SubjectReference as SubjectMessage } from "../../gen/svc/iam/v1/relationship_pb.ts";

/**
 * The subject that a message names. A set may be written in short: `group#member` as the type.
 *
 * @param field the name of the field, for the message of the error
 * @throws ServiceError INVALID_ARGUMENT for a message that is absent, or names a relation twice
 */
export function subjectOf(
  message: Pick<SubjectMessage, "type" | "id" | "relation"> | undefined,
  field: string,
): SubjectReference {
  const { type = "", id = "", relation = "" } = message ?? {};
  if (type === "" || id === "") {
    throw new ServiceError("INVALID_ARGUMENT", `${field} needs a type and an id`);
  }
  const [name = "", short = "", ...others] = type.split("#");
  if (
    others.length > 0 ||
    (short !== "" && relation !== "") ||
    (type.includes("#") && short === "")
  ) {
    throw new ServiceError("INVALID_ARGUMENT", `${field} has a type that is not valid`);
  }
  const of = relation || short;
  return { type: name, id, ...(of === "" ? {} : { relation: of }) };
}
