import { userInfo } from "node:os";
import type { AuditPrincipal, Principal } from "svc-access/runtime";

/** The subject type of the person who works on the store by `--offline`. No token and no gateway names it. */
export const OPERATOR = "operator";

/** Whether a caller is the operator: it is not a user, and its rights are those of the machine. */
export function isOperator({ subjectType }: Pick<Principal, "subjectType">): boolean {
  return subjectType === OPERATOR;
}

/** The name of the operator: that of the user of this machine. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container, a user may have a number only.
    return `uid-${process.getuid?.() ?? "unknown"}`;
  }
}

/** Who a command works as that needs no login: whoever can read the configuration and its keys. */
export function operatorPrincipal(organization: string): AuditPrincipal {
  return { type: OPERATOR, id: operatorName(), source: "internal", organization };
}
