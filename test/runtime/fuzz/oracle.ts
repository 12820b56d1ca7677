/**
 * Who may call what, from docs/requirements.md (Exposure, Authentication, Identity headers) and
 * from nothing of the code. It knows the credentials that were made, and which
 * fields were sent; it says who may be seen by a handler. That somebody else is refused is not
 * its business.
 */

export type Mode = "gateway_trusted" | "idp_jwt" | "hybrid";

/** A field of a request as it was sent: one character a byte. */
export type Field = readonly [name: string, value: string];

/** What an input carries, as far as it says who calls. */
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

/** The credentials that were made, and nobody else has. */
export interface Secrets {
  readonly internal: string;
  readonly system: string;
  /** The subjects of valid tokens, by their text. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** What a handler was called with. */
export interface Seen {
  readonly rpc: string;
  readonly caller: { readonly subjectId: string; readonly source: string } | undefined;
  readonly documentId: string | undefined;
}

/** White space around a value, and what no value may hold (RFC 9113, section 8.2.1). */
const AROUND = /^[ \t]|[ \t]$/;
const FORBIDDEN = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/**
 * What a server may see of the fields that were sent over HTTP/2: nghttp2 leaves out what holds a
 * forbidden character, and some of what has white space around it, before anybody can look.
 */
export function seenOverHttp2(carried: Carried): Carried[] {
  const allowed = carried.fields.filter(([, value]) => !FORBIDDEN.test(value));
  const whole = allowed.filter(([, value]) => !AROUND.test(value));
  return [carried, { ...carried, fields: allowed }, { ...carried, fields: whole }];
}

/** The callers that a request may be of, besides nobody. */
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
  // A JWT for one subject and headers for another are nobody.
  if (jwt !== undefined && gateway !== undefined && jwt !== gateway) return callers;
  if (jwt !== undefined) callers.push({ id: jwt, by: "jwt" });
  if (gateway !== undefined) callers.push({ id: gateway, by: "gateway" });
  return callers;
}

type Exposure = "PUBLIC" | "AUTHENTICATED" | "AUTHORIZED" | "INTERNAL" | "SYSTEM";

/** As the proto of the fixture has them. */
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

/** Who holds it on one object may call these. */
const OF_ANY: ReadonlySet<string> = new Set(["ListDocuments", "SearchDocuments"]);

/** What is wrong with a handler having been called so; undefined where nothing is. */
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
      // Only alice holds anything, and only on one document.
      if (known.id !== "alice" || (known.by !== "jwt" && known.by !== "gateway")) {
        return `${known.id} holds nothing`;
      }
      if (OF_ANY.has(seen.rpc) || seen.documentId === "open") return undefined;
      return `alice holds nothing on ${JSON.stringify(seen.documentId)}`;
  }
}
