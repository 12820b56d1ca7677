import { accessPackageAssigned } from "../../src/rules/access-package-assigned.ts";
import { testRule } from "./rule-tester.ts";

const GET = "rpc Get(Request) returns (Response);";

testRule(accessPackageAssigned, {
  shows: "every package is served or only called [COMP-6]",
  valid: [
    { name: "each package, where there is no configuration", rpcs: GET, otherRpcs: GET },
    {
      name: "each package, where no services are configured",
      rpcs: GET,
      otherRpcs: GET,
      config: "environment: test",
    },
    {
      name: "packages of services",
      rpcs: GET,
      otherRpcs: GET,
      config: "services: { one: { packages: [CASE.v1] }, two: { packages: [CASE.other.v1] } }",
    },
    {
      name: "a package that is only called",
      rpcs: GET,
      otherRpcs: GET,
      config: "services: { one: { packages: [CASE.v1] } }\nclients: [CASE.other.v1]",
    },
    {
      name: "a package that is only called, where no services are configured",
      rpcs: GET,
      config: "clients: [CASE.v1]",
    },
    {
      name: "svc.iam.v1, where it is listed",
      rpcs: GET,
      package: "svc.iam.v1",
      config: "clients: [svc.iam.v1]",
    },
    {
      name: "another package without RPCs",
      rpcs: "",
      config: "services: { one: { packages: [one.v1] } }",
    },
  ],
  invalid: [
    {
      name: "a package that is in neither list",
      rpcs: GET,
      otherRpcs: "⟦rpc Get(Request) returns (Response); ⟦rpc Put(Request) returns (Response);",
      config: "services: { one: { packages: [CASE.v1] } }",
      messages: [
        "no service of svc-access.yaml has the package CASE.other.v1; add it to services.<name>.packages, or to clients if it is only called",
        "to services.<name>.packages, or to clients",
      ],
    },
    {
      name: "a misspelt package, with the name that is meant",
      rpcs: "⟦rpc Get(Request) returns (Response);",
      config: "services: { one: { packages: [CASE.v2] } }",
      messages: ['did you mean "CASE.v2"?'],
    },
    {
      name: "a misspelt client",
      rpcs: "⟦rpc Get(Request) returns (Response);",
      config: "services: { one: { packages: [one.v1] } }\nclients: [CASE.v2]",
      messages: ["has the package CASE.v1"],
    },
    {
      name: "a package below one of a service",
      rpcs: "⟦rpc Get(Request) returns (Response);",
      config: "services: { one: { packages: [CASE] } }",
      messages: ["has the package CASE.v1"],
    },
    {
      name: "no services at all, and clients of other packages",
      rpcs: "⟦rpc Get(Request) returns (Response);",
      config: "services: {}\nclients: [other.v1]",
      messages: ["has the package CASE.v1"],
    },
  ],
});
