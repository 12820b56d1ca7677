/**
 * What is known of a connection that was not secured, by the words of Node, OpenSSL and grpc-js,
 * and how to mend it. It names no address: whoever calls the caller may get to see it.
 */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [
    /ERR_TLS_CERT_ALTNAME_INVALID/,
    "the server's certificate is for another name: call the server by a name that its certificate has",
  ],
  [/certificate has expired/, "the server's certificate has expired: renew it"],
  [
    /certificate is not yet valid/,
    "the server's certificate is not valid yet: look at the clocks of both sides",
  ],
  [
    /unable to verify the first certificate|self[- ]signed certificate|unable to get (local )?issuer certificate|certificate signature failure|unsuitable certificate purpose|unsupported certificate purpose|invalid CA certificate/,
    "the server's certificate is not signed by whom this client trusts: give the CA that has signed it as tls.ca",
  ],
  [
    /alert certificate required/,
    "the server asks for a client certificate: give one that it trusts as tls.certificate and tls.key",
  ],
  [
    /alert (unknown ca|bad certificate|certificate (expired|revoked|unknown)|unsupported certificate)/,
    "the server does not accept this client's certificate: give one that it trusts as tls.certificate and tls.key",
  ],
  [
    /wrong version number/,
    "the server does not speak TLS there: look at its address, or call it without TLS",
  ],
  [
    /alert (protocol version|handshake failure)|unsupported protocol/,
    "client and server share no version or cipher of TLS: it must be TLS 1.2 or later",
  ],
  [/no application protocol/, "the server does not speak this protocol there: look at its address"],
];

/** What to do about a connection that could not be secured; undefined where it is of another kind. */
export function tlsFailure(said: string): string | undefined {
  return FAILURES.find(([words]) => words.test(said))?.[1];
}
