import { describe, expect, test } from "vitest";
import { alternativeNames, clientCertificateNames } from "../../../src/runtime/peer/peer.ts";

describe("the text of alternative names", () => {
  test.each([
    [""],
    ["DNS"],
    ["DNS:"],
    ["edge.example.com"],
    ["DNS:a.example.com,DNS:b.example.com,"],
    ["email:edge@example.com"],
    ["DirName:CN=edge.example.com"],
    ["Registered ID:1.2.3"],
    ["othername:<unsupported>"],
    ["toString:edge"],
    ["URI:edge.example.com"],
    ["DNS:spiffe://cluster/edge"],
    ["IP Address:spiffe://cluster/edge"],
    // A text that cannot be parsed completely has no valid names.
    ['DNS:edge.example.com, DNS:"b'],
    ['DNS:edge.example.com, DNS:"b"c'],
    ['DNS:edge.example.com, DNS:"b\\"'],
    ["DNS:edge.example.com, x"],
    ['DNS:"\\x41"'],
    ['DNS:""'],
  ])("%j names nobody", (text) => expect(alternativeNames(text)).toEqual([]));

  test.each<[string, string[]]>([
    ["DNS:", []],
    ['DNS:""', []],
    ["email:edge@example.com", []],
    ["URI:edge.example.com", []],
    ["DNS:spiffe://cluster/edge", []],
    ["DNS:edge.example.com", ["edge.example.com"]],
    ["DirName:CN=x, DNS:edge.example.com", ["edge.example.com"]],
    ["DNS:a.example.com, DNS:b.example.com", ["a.example.com", "b.example.com"]],
    ["URI:spiffe://cluster/edge", ["spiffe://cluster/edge"]],
    ["IP Address:10.0.0.1", ["10.0.0.1"]],
    ["email:e@example.com, DNS:a.example.com, URI:spiffe://x/y", ["a.example.com", "spiffe://x/y"]],
    ['DNS:"a.example.com, DNS:evil.example.com"', ["a.example.com, DNS:evil.example.com"]],
    ['DNS:"a\\"b", DNS:c', ['a"b', "c"]],
    ['URI:"spiffe://x/a,b"', ["spiffe://x/a,b"]],
    ['DNS:"\\u0065dge"', ["edge"]],
  ])("%j names %j", (text, names) => expect(alternativeNames(text)).toEqual(names));
});

test.each([{}, { authorized: true, getPeerCertificate: () => ({ subject: { CN: "edge" } }) }])(
  "a connection without TLS has no names",
  (socket) => expect(clientCertificateNames(socket)).toEqual([]),
);
