/** Where the login is kept. */
import { expect, test } from "vitest";
import { loginFile } from "../../../src/commands/login/saved-login.ts";

const HOMELESS = () => {
  // What Node throws for a user whom the system does not know, without HOME.
  throw Object.assign(new Error("A system error occurred: uv_os_homedir returned ENOENT"), {
    code: "ERR_SYSTEM_ERROR",
  });
};

test.each([
  ["no variable", {}],
  ["empty variables", { SVC_IAM_LOGIN_FILE: "", XDG_STATE_HOME: "" }],
  ["a state folder that is not absolute", { XDG_STATE_HOME: "state" }],
])("a user without a home and with %s learns which variables to set", (_, env) => {
  expect(() => loginFile(env, HOMELESS)).toThrow(
    /^this user has no home folder, where the login is kept: set HOME or SVC_IAM_LOGIN_FILE$/,
  );
});

test.each([
  ["a file", { SVC_IAM_LOGIN_FILE: "/run/login.json" }, "/run/login.json"],
  ["a state folder", { XDG_STATE_HOME: "/run/state" }, "/run/state/svc-iam/login.json"],
])("a user without a home who names %s needs none", (_, env, file) => {
  expect(loginFile(env, HOMELESS)).toBe(file);
});
