/**
 * Who may call what, derived only from docs/requirements.md (Exposure, Authentication, Identity
 * headers), not from the code. It knows the created credentials and the sent fields, and
 * decides which callers a handler may see. It does not check that other callers are refused.
 */

export type Mode = "gateway_trusted" | "idp_jwt" | "hybrid";

/** A sent field of a request, with one character per byte. */
export type Field = readonly [name: string, value: string];

/** The parts of an input that identify the caller. */
export interface Carried {
  readonly mode: Mode;
  readonly isTrusted: boolean;
  readonly fields: readonly Field[];
}

/** A caller that a handler may see. */
export interface Caller {
  readonly id: string;
  readonly by: "gateway" | "jwt" | "internal" | "system";
}

/** The created credentials, which no one else has. */
export interface Secrets {
  readonly internal: string;
  readonly system: string;
  /** The subjects of valid tokens, by their text. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** The arguments of a handler call. */
export interface Seen {
  readonly rpc: string;
  readonly caller: { readonly subjectId: string; readonly source: string } | undefined;
  readonly documentId: string | undefined;
}

/** White space around a value, and characters that no value may have (RFC 9113, section 8.2.1). */
const AROUND = /^[ \t]|[ \t]$/;
const FORBIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * The fields that a server may see over HTTP/2: nghttp2 drops fields with a forbidden
 * character, and some with surrounding white space, before the server sees them.
 */
export function seenOverHttp2(carried: Carried): Carried[] {
  const allowed = carried.fields.filter(([, value]) => !FORBIDDEN.test(value));
  const whole = allowed.filter(([, value]) => !AROUND.test(value));
  return [carried, { ...carried, fields: allowed }, { ...carried, fields: whole }];
}

/** The callers that a request may identify, besides none. */
export function callersOf({ mode, isTrusted, fields }: Carried, secrets: Secrets): Caller[] {
  const values = (name: string): string[] =>
    fields
      .filter(([one]) => one.toLowerCase() === name)
      .map(([, value]) => value.replace(/^[ \t]+|[ \t]+$/g, ""));
  const only = (name: string): string => {
    const all = values(name);
    return all.length === 1 ? (all[0] as string) : "";
  };
  const callers: Caller[] = [];
  const token = only("x-svc-internal-token");
  if (token === secrets.internal) callers.push({ id: "hub", by: "internal" });
  if (token === secrets.system) callers.push({ id: "system", by: "system" });

  let gateway: string | undefined;
  if (isTrusted && mode !== "idp_jwt") {
    const isVerified = only("x-svc-auth-verified").toLowerCase() === "true";
    const explicit = isVerified ? [only("x-svc-principal"), only("x-svc-user-id")] : [];
    const claims = [only("x-svc-external-id"), only("x-svc-external-sub")];
    gateway = [...explicit, ...claims].find((id) => id !== "");
  }
  const bearer = only("authorization");
  const jwt =
    mode !== "gateway_trusted" && bearer.startsWith("Bearer ")
      ? secrets.tokens.get(bearer.slice("Bearer ".length))
      : undefined;
  // A JWT for one subject and headers for another identify none.
  if (jwt !== undefined && gateway !== undefined && jwt !== gateway) return callers;
  if (jwt !== undefined) callers.push({ id: jwt, by: "jwt" });
  if (gateway !== undefined) callers.push({ id: gateway, by: "gateway" });
  return callers;
}

type Exposure = "PUBLIC" | "AUTHENTICATED" | "AUTHORIZED" | "INTERNAL" | "SYSTEM";

/** The policies of the fixture's proto. */
export const EXPOSURE_OF: Readonly<Record<string, Exposure>> = {
  GetNotice: "PUBLIC",
  GetProfile: "AUTHENTICATED",
  GetDocument: "AUTHORIZED",
  ListDocuments: "AUTHORIZED",
  UpdateDocument: "AUTHORIZED",
  PollDocument: "AUTHORIZED",
  WatchDocument: "AUTHORIZED",
  UnlockDocument: "AUTHORIZED",
  SearchDocuments: "AUTHORIZED",
  InspectDocuments: "INTERNAL",
  DumpDocuments: "SYSTEM",
  Reconcile: "INTERNAL",
  UploadDocument: "INTERNAL",
  Reset: "SYSTEM",
  Converse: "AUTHENTICATED",
};

/** The RPCs that a permission on any one object allows. */
const OF_ANY: ReadonlySet<string> = new Set(["ListDocuments", "SearchDocuments"]);

/** The violation in a handler call; undefined if there is none. */
export function violationOf(seen: Seen, callers: readonly Caller[]): string | undefined {
  const exposure = EXPOSURE_OF[seen.rpc];
  const { caller } = seen;
  if (exposure === undefined) return `there is no ${seen.rpc}`;
  if (caller === undefined) return exposure === "PUBLIC" ? undefined : "nobody was let in";
  const known = callers.find(
    ({ id, by }) =>
      id === caller.subjectId && (by === "system" ? "internal" : by) === caller.source,
  );
  if (known === undefined) return `${caller.subjectId} (${caller.source}) has not called`;
  switch (exposure) {
    case "PUBLIC":
    case "AUTHENTICATED":
      return undefined;
    case "INTERNAL":
      return known.by === "internal" ? undefined : `INTERNAL for ${known.by}`;
    case "SYSTEM":
      return known.by === "system" ? undefined : `SYSTEM for ${known.by}`;
    case "AUTHORIZED":
      // Only alice has permissions, and only on one document.
      if (known.id !== "alice" || (known.by !== "jwt" && known.by !== "gateway")) {
        return `${known.id} holds nothing`;
      }
      if (OF_ANY.has(seen.rpc) || seen.documentId === "open") return undefined;
      return `alice holds nothing on ${JSON.stringify(seen.documentId)}`;
  }
}
