import type { X509Certificate } from "node:crypto";
import { expect, test } from "vitest";
import {
  readCertificates,
  readPrivateKey,
  validityProblems,
} from "../../../src/runtime/tls/certificate-list.ts";

const validBetween = (from: string, to: string) =>
  ({
    validFrom: `Jan  1 00:00:00 ${from} GMT`,
    validTo: `Feb  3 04:05:06 ${to} GMT`,
  }) as X509Certificate;
const good = validBetween("2020", "2999");
const old = validBetween("2019", "2020");
const early = validBetween("2998", "2999");

test.each<[string, readonly X509Certificate[], readonly string[]]>([
  ["one that is valid", [good], []],
  ["several that are", [good, good], []],
  ["one that has expired", [old], ["has expired on 2020-02-03T04:05:06Z; renew it"]],
  [
    "one that is not valid yet",
    [early],
    ["is not valid before 2998-01-01T00:00:00Z; check the clock"],
  ],
  [
    "some among others",
    [good, old, early],
    [
      "holds certificate 2 of 3, which has expired on 2020-02-03T04:05:06Z; renew it",
      "holds certificate 3 of 3, which is not valid before 2998-01-01T00:00:00Z; check the clock",
    ],
  ],
])("of the times of %s is shown what is wrong", (_, certificates, reported) => {
  expect(validityProblems(certificates)).toEqual(reported);
});

test.each([
  ["", "is empty; put the certificates into it"],
  [" \n\t\n", "is empty; put the certificates into it"],
  ["junk", "contains no PEM certificate"],
  ["-----BEGIN EC PRIVATE KEY-----\n", "contains a private key, but no certificate"],
  ["-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----", "is damaged: certificate 1"],
])("the certificates %j are refused: %s", (pem, problem) => {
  expect(readCertificates(Buffer.from(pem))).toEqual({
    problem: expect.stringContaining(problem),
  });
});

test.each([
  ["", "is empty; put the private key into it"],
  [" \n\t\n", "is empty; put the private key into it"],
  ["junk", "contains no PEM private key"],
  ["-----BEGIN CERTIFICATE-----\n", "contains a certificate, but no private key"],
  ["-----BEGIN ENCRYPTED PRIVATE KEY-----\n", "is encrypted, which is not supported"],
  [
    "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n",
    "is encrypted, which is not supported",
  ],
])("the key %j is refused: %s", (pem, problem) => {
  expect(readPrivateKey(Buffer.from(pem))).toEqual({ problem: expect.stringContaining(problem) });
});
