/** Why a connection to a server fails, as far as the texts of Node, OpenSSL and grpc-js say. */
export type ConnectionFailure =
  | "refused"
  | "unknown name"
  | "no route"
  | "broken"
  | "closed before use"
  | "certificate for another name"
  | "certificate expired"
  | "certificate not valid yet"
  | "certificate not trusted"
  | "client certificate required"
  | "client certificate refused"
  | "no TLS there"
  | "no common TLS version"
  | "another protocol";

/** In the order in which they are looked for: the first that fits counts. */
const TEXTS: readonly (readonly [RegExp, ConnectionFailure])[] = [
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/,
    "certificate for another name",
  ],
  [/certificate has expired/, "certificate expired"],
  [/certificate is not yet valid/, "certificate not valid yet"],
  [
    /unable to verify the first certificate|self[- ]signed certificate|unable to get (local )?issuer certificate|certificate signature failure|unsuitable certificate purpose|unsupported certificate purpose|invalid CA certificate/,
    "certificate not trusted",
  ],
  [/alert certificate required/, "client certificate required"],
  [
    /alert (unknown ca|bad certificate|certificate (expired|revoked|unknown)|unsupported certificate)/,
    "client certificate refused",
  ],
  [/wrong version number/, "no TLS there"],
  // grpc-js, when the server ends a connection before HTTP/2 begins, as one with TLS does.
  [/Last error: Failed to connect\b/, "closed before use"],
  [/alert (protocol version|handshake failure)|unsupported protocol/, "no common TLS version"],
  [/no application protocol/, "another protocol"],
  [/ECONNREFUSED/, "refused"],
  [/ENOTFOUND|EAI_AGAIN|Name resolution failed/, "unknown name"],
  [/EHOSTUNREACH|ENETUNREACH|ETIMEDOUT/, "no route"],
  [/ECONNRESET|EPIPE|Connection dropped/, "broken"],
];

/** The failure that a text is about; undefined for other texts. */
export function connectionFailure(said: string): ConnectionFailure | undefined {
  return TEXTS.find(([words]) => words.test(said))?.[1];
}
