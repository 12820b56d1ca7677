import { expect, test } from "vitest";
import { checkPluginCommand } from "../../../src/cli/init/buf-yaml.ts";

const INSTALLED = "../node_modules/svc-access";

test("on Windows, Node.js reads the file of the plugin", () => {
  expect(checkPluginCommand(INSTALLED, "win32")).toEqual([
    "node",
    "../node_modules/svc-access/bin/buf-plugin-svc-access",
  ]);
});

test.each(["linux", "darwin"] as const)("on %s, buf finds it by its name", (platform) => {
  expect(checkPluginCommand(INSTALLED, platform)).toBe("buf-plugin-svc-access");
});
