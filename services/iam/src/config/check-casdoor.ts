import type { ServiceConfig } from "svc-access/runtime";
import { at, type ConfigProblem } from "./config-problem.ts";
import type { IamConfig } from "./iam-config.ts";

const BLOCK = ["security", "authn", "casdoor"] as const;

/** Yields what is wrong where the identity provider is Casdoor. */
export function* checkCasdoor(
  { security }: ServiceConfig,
  { organization, login }: IamConfig,
): Iterable<ConfigProblem> {
  const { casdoor, oidc } = security.authn;
  if (casdoor === undefined) {
    yield at(BLOCK, "is missing: the provider is casdoor");
    return;
  }
  const { organization_name: name, application_name: application, client_id: id } = casdoor;
  if (/[?#]/.test(casdoor.endpoint)) {
    yield at([...BLOCK, "endpoint"], "must not have a query or a fragment");
  }
  if (name !== organization) {
    yield at(
      [...BLOCK, "organization_name"],
      `is ${name}, but iam.organization is ${organization}: both name the organization whose users log in`,
    );
  }
  if (!isName(application)) {
    yield at(
      [...BLOCK, "application_name"],
      "must be the name of the application, without its owner and '/'",
    );
  }
  if (id.includes(":")) yield at([...BLOCK, "client_id"], "must not contain ':'");
  if (oidc !== undefined && !oidc.allowed_owners.includes(name)) {
    yield at(
      ["security", "authn", "oidc", "allowed_owners"],
      `must have ${name}: without it, users of every organization of the Casdoor could log in, or none of this one`,
    );
  }
  const isOther =
    login.client_secret !== undefined && login.client_secret !== casdoor.client_secret;
  if (id === login.client_id && isOther) {
    yield at(
      ["iam", "login", "client_secret"],
      "differs from security.authn.casdoor.client_secret, but the client is the same: remove it",
    );
  }
}

/** Casdoor writes ids as `owner/name`. */
function isName(text: string): boolean {
  return !/[/\\?#\s]/.test(text) && text !== "." && text !== "..";
}
