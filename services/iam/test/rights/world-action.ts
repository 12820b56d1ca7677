import type { RelationshipUpdate, SubjectReference } from "svc-access/authz";
import type { Account } from "./plain-rights.ts";

/** What the RPCs of users and service accounts do. */
export type AccountKind =
  | "link"
  | "reset"
  | "disable"
  | "enable"
  | "delete"
  | "email"
  | "sessions"
  | "factors"
  | "audience"
  | "key"
  | "delete_key";

/** Something that an account wants to do. */
export type Action = { readonly caller: Account } & (
  | { readonly kind: "write"; readonly updates: readonly RelationshipUpdate[] }
  | { readonly kind: "add" | "remove"; readonly group: string; readonly member: SubjectReference }
  | { readonly kind: "create"; readonly organizationId: string; readonly parentId: string }
  | { readonly kind: "move"; readonly group: string; readonly parentId: string }
  | { readonly kind: "delete_group"; readonly group: string }
  | { readonly kind: "removals" }
  | {
      readonly kind: AccountKind;
      readonly account: Account;
      /** The id of a key, or the token of a link; empty without. */
      readonly of: string;
    }
);
