import { expect, test } from "vitest";
import { ConfigurationError } from "../../../src/runtime/configuration/configuration-error.ts";
import { loadServiceConfig } from "../../../src/runtime/server/load-configuration.ts";
import { Workspace } from "../../support/workspace.ts";

const text = (authz: string) => `service: notes
environment: development
server:
  http: {address: 127.0.0.1:18010}
database: {driver: sqlite, file: notes.db}
security:
  authz: ${authz}
`;

function load(authz: string) {
  using workspace = new Workspace({});
  workspace.write("service.yaml", text(authz));
  workspace.write("model.zed", "definition user {}");
  return loadServiceConfig(`${workspace.folder}/service.yaml`, { variables: {} });
}

test("a model that does not exist is reported with the place of its key", () => {
  expect(() => load("{model: model.zedd}")).toThrow(ConfigurationError);
  expect(() => load("{model: model.zedd}")).toThrow(
    /service\.yaml:7:11 security\.authz\.model: the model \S+\/model\.zedd does not exist; create it, or name another file$/,
  );
});

test.each([
  ["{model: model.zed}", "that exists"],
  ["{model: none.zed, enabled: false}", "that is not used"],
  ["{model: none.zed, dev_allow_all: true}", "that no check uses"],
  ["{}", "that is not named"],
])("%s: a model %s is not reported", (authz) => {
  expect(load(authz).config.service).toBe("notes");
});
