/** What connections fail with, by the codes and texts of Node and its libraries, and how to fix it. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, "nothing listens there: check the address and the port, and start the server"],
  [/ENOTFOUND|EAI_AGAIN/, "the name is not known: check the address"],
  [
    /EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT/,
    "the machine does not answer: check the address and the network",
  ],
  [/wrong version number|EPROTO/, "it does not use TLS: write http:// if it is on this machine"],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    "its certificate is for another name: write a name that the certificate has",
  ],
  [/CERT_HAS_EXPIRED/, "its certificate has expired: renew it"],
  [/CERT_NOT_YET_VALID/, "its certificate is not valid yet: check the clocks"],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF|UNABLE_TO_GET_ISSUER/,
    "its certificate is not of an authority that this machine trusts: name that in NODE_EXTRA_CA_CERTS",
  ],
  [
    /HPE_|Expected HTTP/,
    "what listens there does not speak HTTP: check the address and the port, and write https:// if it uses TLS",
  ],
  [
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|socket hang up|other side closed/,
    "it closed the connection: check the address and the port, and write https:// if it uses TLS",
  ],
  [
    /bad port/,
    "the port belongs to another protocol, and HTTP clients refuse it: let the server listen at another one",
  ],
];

/** Why a server cannot be used, and how to fix it; undefined for a failure of another kind. */
export function whyUnreachable(error: Error): string | undefined {
  const all: readonly Reason[] = [error, ...causesOf(error)];
  const reasons = all.map(({ message, code = "" }) => `${code} ${message}`);
  return FAILURES.find(([words]) => reasons.some((reason) => words.test(reason)))?.[1];
}

interface Reason {
  readonly message: string;
  readonly code?: unknown;
}

function causesOf({ cause }: Error): readonly Reason[] {
  if (!(cause instanceof Error)) return [];
  // One of several addresses of a name.
  const attempts: readonly Reason[] = cause instanceof AggregateError ? cause.errors : [];
  return [cause, ...attempts, ...causesOf(cause)];
}
