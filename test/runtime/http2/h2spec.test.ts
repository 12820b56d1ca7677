/** h2spec finds on both ports only what is listed here, each with its reason. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningVault, startVault } from "../support/vault-server.ts";
import {
  type Certificates,
  makeCertificates,
  opensslIsAbsent,
} from "../tls/support/certificates.ts";
import { startSecured, tlsOf } from "../tls/support/secured.ts";
import { type Findings, h2specIsAbsent, runH2spec } from "./support/h2spec.ts";

/** What is available over HTTP; the gRPC port answers every GET with 405 and no body. */
const HTTP_PATH = "/v1/notices/x";
const GRPC_PATH = "/acme.vault.v1.VaultService/GetNotice";
/** All of h2spec's cases, also the strict ones. */
const CASES = 146;

const CLOSED = "nghttp2 ignores what comes for a closed stream, as RFC 9113 lets it (section 5.1)";
const PRIORITY = "nghttp2 reads no priorities any more, which RFC 9113 has deprecated";
const STRICTER = "Node and nghttp2 end the connection, where less would do";
const BODILESS = "the gRPC port answers a GET at once, and with headers only";
const HTTP1 = "the HTTP port takes other first bytes for HTTP/1.1, and answers 400 in it";

/** The cases that fail, each with its reason; each does on some port, or it is listed in vain. */
const KNOWN: Readonly<Record<string, string>> = {
  "generic/2 Sends a WINDOW_UPDATE frame on half-closed (remote) stream": BODILESS,
  "generic/2 Sends a PRIORITY frame on half-closed (remote) stream": BODILESS,
  "http2/3.5 Sends invalid connection preface": HTTP1,
  "http2/5.1 closed: Sends a DATA frame after sending RST_STREAM frame": CLOSED,
  "http2/5.1 closed: Sends a HEADERS frame after sending RST_STREAM frame": CLOSED,
  "http2/5.1 closed: Sends a DATA frame": CLOSED,
  "http2/5.1 closed: Sends a HEADERS frame": CLOSED,
  "http2/5.1.1 Sends stream identifier that is numerically smaller than previous": CLOSED,
  "http2/5.1.2 Sends HEADERS frames that causes their advertised concurrent stream limit to be exceeded":
    BODILESS,
  "http2/5.3.1 Sends PRIORITY frame that depend on itself": PRIORITY,
  "http2/6.3 Sends a PRIORITY frame with 0x0 stream identifier": PRIORITY,
  "http2/6.7 Sends a PING frame with ACK": STRICTER,
  "http2/6.9.1 Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream":
    STRICTER,
};

/**
 * The sections where the frame that is wrong comes after a request that can be answered: which is
 * first, is chance.
 */
const MAY_BE_ANSWERED = /^http2\/(5\.1|6\.1|6\.9|6\.9\.1|8\.1|8\.1\.2\.1|8\.1\.2\.6) /;
/** What came was of a response: its headers, its last data, or that the rest of the request is not wanted. */
const ANSWER =
  /(?:HEADERS Frame \(length:\d+, flags:0x0[45]|DATA Frame \(length:\d+, flags:0x01|RST_STREAM Frame \(length:4, flags:0x00), stream_id:\d+\)$/;

function isOutrun(name: string, outcome: string): boolean {
  return MAY_BE_ANSWERED.test(name) && ANSWER.test(outcome);
}

const isAbsent = h2specIsAbsent() || opensslIsAbsent();

describe.skipIf(isAbsent)("h2spec", () => {
  const found = new Map<string, Findings>();
  let certificates: Certificates;
  let vaults: RunningVault[];
  beforeAll(async () => {
    certificates = makeCertificates();
    const own = certificates.authority("ca").issue("server", { names: "DNS:localhost" });
    const plain = await startVault();
    const secured = await startSecured({ tls: tlsOf(own) });
    vaults = [plain, secured];
    const runs = [
      ["gRPC", plain.grpc, GRPC_PATH, false],
      ["gRPC with TLS", secured.grpc, GRPC_PATH, true],
      ["HTTP", plain.http, HTTP_PATH, false],
      ["HTTP with TLS", secured.http, HTTP_PATH, true],
    ] as const;
    await Promise.all(
      runs.map(async ([name, port, path, isTls]) => {
        found.set(name, await runH2spec({ port, path, isTls }));
      }),
    );
  });
  afterAll(async () => {
    for (const vault of vaults) await vault.stop();
    certificates.remove();
  });

  test.each(["gRPC", "gRPC with TLS", "HTTP", "HTTP with TLS"])(
    "finds nothing else: %s",
    (name) => {
      const { cases, failed } = found.get(name) as Findings;
      expect(cases).toBe(CASES);
      const others = [...failed].filter(
        ([one, outcome]) => !(one in KNOWN || isOutrun(one, outcome)),
      );
      expect(others).toEqual([]);
    },
  );

  test("has all listed deviations", () => {
    const failed = new Set([...found.values()].flatMap((one) => [...one.failed.keys()]));
    expect(Object.keys(KNOWN).filter((name) => !failed.has(name))).toEqual([]);
  });
});
