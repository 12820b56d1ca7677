/** Trust in identity headers by the name of a client certificate, on both transports. */
import { request } from "node:http";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rawCall, rawSession } from "../grpc/support/raw-call.ts";
import type { RunningVault } from "../support/vault-server.ts";
import {
  type Authority,
  type Certificates,
  type CertificateText,
  type Identity,
  makeCertificates,
  opensslIsAbsent,
} from "./support/certificates.ts";
import { ALICE, startSecured, TRANSPORTS, tlsOf, whoCalls } from "./support/secured.ts";

const GATEWAY = "gateway.internal";
const URI = "spiffe://cluster/ns/edge/sa/envoy";
const TRUSTED = [GATEWAY, "*.edge.internal", URI];
/** The header in which a proxy describes a client certificate. */
const FORWARDED = {
  "x-forwarded-client-cert": `Hash=00;Subject="CN=${GATEWAY}";URI=${URI};DNS=${GATEWAY}`,
  "x-client-cert": GATEWAY,
  "x-ssl-client-verify": "SUCCESS",
  "x-ssl-client-s-dn": `CN=${GATEWAY}`,
};

/** Certificates that the client CA has signed, but whose names are not trusted. */
const OTHER_NAMES: Readonly<Record<string, CertificateText>> = {
  "of another name": { names: "DNS:client.internal" },
  "without a name": {},
  "with the name as common name beside alternative names": {
    commonName: GATEWAY,
    names: "DNS:client.internal",
  },
  "with the name as common name beside an alternative name of another kind": {
    commonName: GATEWAY,
    names: "email:someone@example.com",
  },
  "with the name among several common names": { commonName: ["client.internal", GATEWAY] },
  "with the URI as common name": { commonName: URI.replaceAll("/", "\\/") },
  "of a longer name": { names: `DNS:${GATEWAY}.evil.example` },
  "of a name with a prefix": { names: `DNS:evil${GATEWAY},DNS:evil-${GATEWAY}` },
  "of a name with a final dot": { names: `DNS:${GATEWAY}.` },
  "of a name with one label more than the pattern": { names: "DNS:a.b.edge.internal" },
  "of the pattern's own domain": { names: "DNS:edge.internal" },
  "of a pattern that matches the name": { names: "DNS:*.internal,DNS:*.edge.internal" },
  "of a URI in another case": { names: `URI:${URI.replace("envoy", "Envoy")}` },
  "of a longer URI": { names: `URI:${URI}/x` },
  "with the name as e-mail address": { names: `email:${GATEWAY}` },
  "with the name as URI": { names: `URI:${GATEWAY}` },
  "with the URI as DNS name": { names: `DNS:${URI}` },
  "with the name as other name": { names: `otherName:1.2.3.4;UTF8:${GATEWAY}` },
  "with the name in a directory name": {
    names: "dirName:holder",
    lines: ["[holder]", `CN=${GATEWAY}`],
  },
  "with the name after a comma in another one": {
    names: "@several",
    lines: ["[several]", `URI.1=http://a/,DNS:${GATEWAY}`, `DNS.2=x,DNS:${GATEWAY}`],
  },
};

describe.skipIf(opensslIsAbsent())("a client certificate [TRANS-7]", () => {
  let certificates: Certificates;
  let ca: Authority;
  let server: Identity;
  let gateway: Identity;
  let mutual: RunningVault;
  const issued = new Map<string, Identity>();
  /** A certificate of the client CA, the same for both transports. */
  const issue = (what: string, text: CertificateText) => {
    const known = issued.get(what) ?? ca.issue(what.replaceAll(" ", "-"), text);
    issued.set(what, known);
    return known;
  };
  const as = (own?: Identity) => {
    return {
      ca: ca.certificate,
      minVersion: "TLSv1.2" as const,
      ...(own && { cert: own.certificate, key: own.key }),
    };
  };

  beforeAll(async () => {
    certificates = makeCertificates();
    ca = certificates.authority("ca");
    server = ca.issue("server", { names: "DNS:localhost" });
    gateway = ca.issue("gateway", { names: `DNS:${GATEWAY}`, usage: "clientAuth" });
    mutual = await startSecured({ tls: tlsOf(server, ca), trustedPeers: TRUSTED });
  });
  afterAll(async () => {
    await mutual?.stop();
    certificates?.remove();
  });

  describe.each(TRANSPORTS)("over %s", (transport) => {
    test.each<[string, (name: string) => Identity | undefined]>([
      ["that is missing", () => undefined],
      [
        "that only its own key has signed",
        (name) => certificates.selfSigned(name, { names: `DNS:${GATEWAY}` }),
      ],
      [
        "of another CA",
        (name) => certificates.authority(`${name}-ca`).issue(name, { names: `DNS:${GATEWAY}` }),
      ],
      [
        "of another CA with the same name",
        (name) => {
          const other = certificates.authority(`${name}-ca`, { commonName: "ca" });
          return other.issue(name, { names: `DNS:${GATEWAY}` });
        },
      ],
      ["that has expired", (name) => ca.issue(name, { names: `DNS:${GATEWAY}`, days: -1 })],
      [
        "that is for servers only",
        (name) => ca.issue(name, { names: `DNS:${GATEWAY}`, usage: "serverAuth" }),
      ],
    ])("%s gets no connection", async (what, make) => {
      const own = make(`${transport}-${what.replaceAll(" ", "-")}`);
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
        const answer = await whoCalls(transport, mutual, { ...as(own), maxVersion });
        expect(answer).toMatch(/^refused: /);
      }
    });

    test.each(Object.entries(OTHER_NAMES))("%s identifies no caller", async (what, text) => {
      const own = issue(what, text);
      expect(await whoCalls(transport, mutual, as(own))).toBe("401");
      expect(await whoCalls(transport, mutual, as(own), { ...ALICE, ...FORWARDED })).toBe("401");
    });

    test("with a NUL in its names identifies no caller", async () => {
      const inName = ca.issueWithNul(`${transport}-nul`, { names: `DNS:${GATEWAY}!nul!.evil` });
      expect(await whoCalls(transport, mutual, as(inName))).toBe("401");
      const inCommonName = { commonName: `${GATEWAY}!nul!.evil` };
      const other = ca.issueWithNul(`${transport}-nul-cn`, inCommonName);
      expect(await whoCalls(transport, mutual, as(other))).toBe("401");
    });

    test.each<[string, CertificateText]>([
      ["the name", { names: `DNS:${GATEWAY}` }],
      ["the name in another case", { names: "DNS:Gateway.INTERNAL" }],
      ["a name that the pattern matches", { names: "DNS:a.edge.internal" }],
      ["the URI", { names: `URI:${URI}` }],
      ["the name among others", { names: `DNS:x,URI:http://a/,DNS:${GATEWAY}` }],
      ["the name as common name, and no others", { commonName: GATEWAY }],
    ])("with %s is believed", async (what, text) => {
      const own = issue(what, text);
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
        expect(await whoCalls(transport, mutual, { ...as(own), maxVersion })).toBe("200 alice");
      }
    });

    test("is not requested without a client CA, and identifies no caller", async () => {
      const vault = await startSecured({ tls: tlsOf(server), trustedPeers: TRUSTED });
      try {
        expect(await whoCalls(transport, vault, as(gateway))).toBe("401");
        expect(await whoCalls(transport, vault, as())).toBe("401");
      } finally {
        await vault.stop();
      }
    });
  });

  test("is trusted only by the server that requests it", async () => {
    const tls = { http: tlsOf(server, ca), grpc: tlsOf(server) };
    const vault = await startSecured({ tls, trustedPeers: TRUSTED });
    try {
      expect(await whoCalls("http", vault, as(gateway))).toBe("200 alice");
      expect(await whoCalls("grpc", vault, as(gateway))).toBe("401");
    } finally {
      await vault.stop();
    }
  });

  test("in headers over plain TCP identifies no caller", async () => {
    const vault = await startSecured({ tls: { http: undefined }, trustedPeers: TRUSTED });
    try {
      const headers = { ...ALICE, ...FORWARDED };
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const target = { host: "127.0.0.1", port: vault.http, path: "/v1/profile", headers };
        const asked = request(target, (response) => resolve(response.resume().statusCode));
        asked.on("error", reject).end();
      });
      expect(status).toBe(401);
      const session = rawSession(vault.grpc);
      const answer = await rawCall(session, "/acme.vault.v1.VaultService/GetProfile", headers);
      session.destroy();
      expect(answer.reason).toBe("UNAUTHORIZED");
    } finally {
      await vault.stop();
    }
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)(
    "also applies to a resumed session (%s)",
    async (maxVersion) => {
      const session = await new Promise<Buffer>((resolve, reject) => {
        const options = { ...as(gateway), host: "localhost", port: mutual.http, maxVersion };
        const socket = connect(options, () => {
          socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        });
        let ticket: Buffer | undefined;
        socket.on("session", (one) => {
          ticket = one;
        });
        socket.on("error", reject).resume();
        socket.on("close", () => (ticket ? resolve(ticket) : reject(new Error("no session"))));
      });
      expect(await whoCalls("http", mutual, { ...as(), maxVersion, session })).toBe("200 alice");
      // A session of one server is not valid for the other.
      expect(await whoCalls("grpc", mutual, { ...as(), maxVersion, session })).toMatch(
        /^refused: /,
      );
    },
  );
});
