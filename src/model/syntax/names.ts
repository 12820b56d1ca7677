import type { Report } from "../reporter.ts";
import type { Token } from "./token.ts";

const MEMBER_NAME = /^[a-z][a-z0-9_]{1,62}[a-z0-9]$/;
const TYPE_NAME = /^([a-z][a-z0-9_]{1,62}[a-z0-9]\/)*[a-z][a-z0-9_]{1,62}[a-z0-9]$/;
const TYPE_NAME_LENGTH = 128;

/** Reports the name of a relation or permission that SpiceDB would refuse. */
export function checkMemberName(what: string, name: Token, report: Report): void {
  if (!MEMBER_NAME.test(name.text)) report("MODEL_NAME_INVALID", name.position, what, name.text);
}

/** Reports the name of a definition that SpiceDB would refuse. */
export function checkTypeName(name: Token, report: Report): void {
  if (name.text.length > TYPE_NAME_LENGTH || !TYPE_NAME.test(name.text)) {
    report("MODEL_NAME_INVALID", name.position, "definition", name.text);
  }
}
