import { describe, expect, test } from "vitest";
import { PageCookie } from "../../src/pages/page-cookie.ts";

const OPTIONS = {
  name: "link",
  path: "/pages",
  publicUrl: "https://iam.example.com",
  browserSeconds: 600,
};
const cookie = new PageCookie(OPTIONS);
const headersOf = (...lines: readonly string[]) => ({ all: () => lines });
const pairOf = (line = "") => line.slice(0, line.indexOf(";"));

/** What a new browser keeps of a value: the cookie, and its identity. */
function kept(value: string, of = cookie): readonly [string, string] {
  const [own, browser] = of.lines(headersOf(), value, 60);
  return [pairOf(own), pairOf(browser)];
}

test("over TLS, only the pages get it, and the identity of the browser is of this host alone", () => {
  const [own, browser, ...more] = cookie.lines(headersOf(), "a.b", 60);
  expect(own).toMatch(
    /^__Secure-link=a\.b\.[\w-]{43}; Max-Age=60; Path=\/pages; HttpOnly; SameSite=Lax; Secure$/,
  );
  expect(browser).toMatch(
    /^__Host-iam_browser=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  expect(more).toEqual([]);
  expect(cookie.valueOf(headersOf(pairOf(own), pairOf(browser)))).toBe("a.b");
  expect(cookie.removed()).toMatch(/^__Secure-link=; Max-Age=0; Path=\/pages;/);
});

describe("it has no value", () => {
  const [own, browser] = kept("secret");
  const mark = own.slice(own.lastIndexOf(".") + 1);
  const [other] = kept("other");
  const [elsewhere] = kept("secret", new PageCookie({ ...OPTIONS, name: "page" }));
  test.each([
    ["without the identity", [own]],
    ["without the cookie", [browser]],
    ["with another identity", [own, kept("x")[1]]],
    ["with the cookie of another browser", [other, browser]],
    ["with another value", [`__Secure-link=secrets.${mark}`, browser]],
    ["with an empty value", [`__Secure-link=.${mark}`, browser]],
    ["with a mark alone", [`__Secure-link=${mark}`, browser]],
    ["without a mark", ["__Secure-link=secret", browser]],
    ["with an empty mark", ["__Secure-link=secret.", browser]],
    ["with the mark of another cookie", [elsewhere.replace("page", "link"), browser]],
    ["as a name without the prefix", [own.replace("__Secure-", ""), browser]],
  ])("%s", (_, cookies) => {
    expect(cookie.valueOf(headersOf(cookies.join("; ")))).toBeUndefined();
  });

  test("with two identities, which are an error", () => {
    const both = headersOf(own, browser, kept("x")[1]);
    expect(() => cookie.valueOf(both)).toThrow("the cookie of the browser comes twice");
  });
});

test("others of its name, whatever they are, do not hide it", () => {
  const [own, browser] = kept("secret");
  const [other] = kept("other");
  for (const all of [
    [other, own, browser],
    [own, other, browser],
    [`__Secure-link=`, `${own}`, browser],
  ]) {
    expect(cookie.valueOf(headersOf(...all))).toBe("secret");
  }
});
