import type { Principal } from "svc-access/runtime";

/** The subject type of whoever works on the store by `--offline`. No token and no gateway names it. */
export const OPERATOR = "operator";

/** Whether a caller is the operator: it is not a user, and its rights are those of the machine. */
export function isOperator({ subjectType }: Pick<Principal, "subjectType">): boolean {
  return subjectType === OPERATOR;
}
