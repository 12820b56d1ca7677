import { accessGatewayStreaming } from "../../src/rules/access-gateway-streaming.ts";
import { testRule } from "./rule-tester.ts";
import { policy, streamRpc } from "./sources.ts";

const PUBLISHED = policy("exposure: PUBLIC gateway: {publish: true}");
const MARKED = policy("exposure: PUBLIC gateway: {⟦publish: true}");

const publishedAs = (protocol: string) => `
services:
  deployed: { packages: [CASE.v1], published_as: ${protocol} }`;

testRule(accessGatewayStreaming, {
  shows: "no published RPC streams from the client [ANNO-12]",
  valid: [
    streamRpc("Request", "Response", PUBLISHED),
    streamRpc("Request", "stream Response", PUBLISHED),
    streamRpc("stream Request", "Response", policy("exposure: PUBLIC")),
    streamRpc(
      "stream Request",
      "stream Response",
      policy("exposure: PUBLIC gateway {publish: false}"),
    ),
    streamRpc("stream Request", "Response"),
    {
      name: "a client stream of a service that is published as gRPC",
      rpcs: streamRpc("stream Request", "Response", PUBLISHED),
      config: publishedAs("grpc"),
    },
    {
      name: "a bidirectional stream of a service that is published as gRPC",
      rpcs: streamRpc("stream Request", "stream Response", PUBLISHED),
      config: publishedAs("grpc"),
    },
  ],
  invalid: [
    {
      rpcs: streamRpc("stream Request", "Response", MARKED),
      messages: [
        "the client of Stream streams, which HTTP cannot carry; remove gateway.publish, or write published_as: grpc",
      ],
    },
    {
      rpcs: streamRpc("stream Request", "stream Response", MARKED),
      messages: ["the client of Stream streams"],
    },
    {
      name: "a service that is published as HTTP in so many words",
      rpcs: streamRpc("stream Request", "Response", MARKED),
      config: publishedAs("http"),
      messages: ["the client of Stream streams"],
    },
    {
      name: "a service beside the one that is published as gRPC",
      rpcs: streamRpc("stream Request", "Response", PUBLISHED),
      otherRpcs: streamRpc("stream Request", "Response", MARKED),
      config: `${publishedAs("grpc")}\n  other: { packages: [CASE.other.v1] }`,
      messages: ["the client of Stream streams"],
    },
  ],
});
