/** Models that the embedded engine refuses; test/authz/contract tests its calls. */
import { expect, it } from "vitest";
import { engineOf } from "./engine-of.ts";

it.each([
  [
    "a caveat",
    `caveat odd(n int) { n == 1 }
definition user {}
definition doc {
  relation reader: user with odd
}`,
    "the caveat odd",
  ],
  [
    "an expiration",
    `use expiration
definition user {}
definition doc {
  relation reader: user with expiration
}`,
    "an expiration",
  ],
])("a model with %s is refused", async (_, schema, what) => {
  await expect(engineOf(schema)).rejects.toMatchObject({
    code: "UNIMPLEMENTED",
    message: expect.stringContaining(`doc#reader accepts subjects with ${what}`),
  });
});
