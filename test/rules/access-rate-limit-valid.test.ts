import { accessRateLimitValid } from "../../src/rules/access-rate-limit-valid.ts";
import { testRule } from "./rule-tester.ts";

const rpc = (policy: string, mark = "") => `
  ${mark}rpc Get(Request) returns (Response) {
    option (svc.access.v1.policy) = {exposure: PUBLIC ${policy}};
  }`;

testRule(accessRateLimitValid, {
  shows: "qps and burst [ANNO-9]",
  valid: [
    rpc(""),
    rpc("rate_limit: {qps: 1}"),
    rpc("rate_limit: {qps: 5, burst: 5}"),
    rpc("rate_limit: {qps: 5, burst: 2147483647}"),
  ],
  invalid: [
    { rpcs: rpc("rate_limit: {}", "⟦"), messages: ["rate_limit of Get has no qps"] },
    { rpcs: rpc("rate_limit: {⟦qps: 0}"), messages: ["rate_limit.qps is 0"] },
    { rpcs: rpc("rate_limit: {⟦qps: -3}"), messages: ["rate_limit.qps is -3"] },
    {
      rpcs: rpc("rate_limit: {qps: 5, ⟦burst: 4}"),
      messages: ["rate_limit.burst is 4; it must be at least qps, 5"],
    },
    {
      rpcs: rpc("rate_limit: {⟦burst: 0, qps: 1}"),
      messages: ["rate_limit.burst is 0; it must be at least qps, 1"],
    },
    {
      name: "all that is wrong with one limit",
      rpcs: rpc("rate_limit: {⟦qps: 0, ⟦burst: 0}"),
      messages: ["rate_limit.qps is 0", "rate_limit.burst is 0; it must be at least 1"],
    },
    {
      name: "a burst without a qps",
      rpcs: rpc("rate_limit {⟦burst: -2147483648}", "⟦"),
      messages: [
        "rate_limit of Get has no qps",
        "rate_limit.burst is -2147483648; it must be at least 1",
      ],
    },
    {
      name: "an option that is written piece by piece",
      rpcs: `
  rpc Get(Request) returns (Response) {
    option (svc.access.v1.policy).exposure = PUBLIC;
    option (svc.access.v1.policy).rate_limit.qps = 5;
    ⟦option (svc.access.v1.policy).rate_limit.burst = 2;
  }`,
      messages: ["rate_limit.burst is 2"],
    },
  ],
});
