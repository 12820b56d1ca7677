import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  type Message,
  setExtension,
  toBinary,
} from "@bufbuild/protobuf";
import { Int64ValueSchema } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { HttpRoute } from "../../../../src/runtime/index.ts";
import { IS_THOROUGH, runs } from "../../../support/effort.ts";
import { type Caller, type Callers, everyCaller } from "../unusual-protos/every-caller.ts";
import { EditionService, NewSchema } from "../unusual-protos/gen/unusual/edition/v1/edition_pb.ts";
import {
  bindEditionService,
  EditionServiceRoutes,
} from "../unusual-protos/gen/unusual/edition/v1/edition_server.ts";
import {
  type All,
  AllSchema,
  BodiesSchema,
  FlatSchema,
  KindService,
} from "../unusual-protos/gen/unusual/kinds/v1/kinds_pb.ts";
import {
  bindKindService,
  KindServiceRoutes,
} from "../unusual-protos/gen/unusual/kinds/v1/kinds_server.ts";
import {
  extra,
  extras,
  LegacyService,
  OldSchema,
  Scope_nested_extension,
} from "../unusual-protos/gen/unusual/legacy/v1/legacy_pb.ts";
import {
  bindLegacyService,
  LegacyServiceRoutes,
} from "../unusual-protos/gen/unusual/legacy/v1/legacy_server.ts";
import { PathService } from "../unusual-protos/gen/unusual/paths/v1/paths_pb.ts";
import {
  bindPathService,
  PathServiceRoutes,
} from "../unusual-protos/gen/unusual/paths/v1/paths_server.ts";
import { randomMessage } from "../unusual-protos/random-message.ts";
import { startUnusual, type UnusualServer } from "../unusual-protos/unusual-server.ts";

const RUNS = { numRuns: runs(100, 2) };

let server: UnusualServer;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await startUnusual([
    bindKindService,
    bindLegacyService,
    bindEditionService,
    bindPathService,
  ]);
});
beforeEach(() => {
  server.answer = async (request) => request;
});
afterAll(async () => {
  for (const close of closing) await close();
  await server.stop();
});

/** What calls a service by every protocol: the routes of HTTP, and all others. */
function callers(service: DescService, routes: readonly HttpRoute[]): Callers {
  const { callers: all, close } = everyCaller(service, routes, server);
  closing.push(close);
  return all;
}

/**
 * The HTTP client with some of the others. Few messages go by all protocols, many by HTTP and one other: what reads
 * them from a route is what differs by message, and each protocol still gets some of them.
 */
function someOf({ http, ...others }: Callers): fc.Arbitrary<Callers> {
  const names = Object.keys(others);
  const count = IS_THOROUGH ? 1 : names.length;
  return fc
    .shuffledSubarray(names, { minLength: count, maxLength: count })
    .map(
      (some) =>
        ({ http, ...Object.fromEntries(some.map((name) => [name, others[name]])) }) as Callers,
    );
}

/** Calls an RPC by each, and compares what arrived and what came back. */
async function expectSame(
  all: Callers,
  { localName, input, output }: DescMethod,
  request: Message,
): Promise<void> {
  const results: Record<string, unknown> = {};
  for (const [name, caller] of Object.entries(all)) {
    server.seen.length = 0;
    const answer = await caller[localName]?.(request);
    const arrived = server.seen.map((call) => bytesOf(input, call.request));
    results[name] = { arrived, answer: bytesOf(output, answer) };
  }
  const [first] = Object.values(results) as { arrived: string[] }[];
  expect(first?.arrived).toHaveLength(1);
  expect(results).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, first])));
}

/** Any of the messages arrives as the same. */
const sameMessages = (all: Callers, method: DescMethod, messages: fc.Arbitrary<Message>) =>
  fc.asyncProperty(someOf(all), messages, (some, one) => expectSame(some, method, one));

function bytesOf(desc: DescMessage, message: Message | undefined): string {
  return Buffer.from(toBinary(desc, message as Message)).toString("hex");
}

describe("a message arrives over an HTTP route as over every other protocol", () => {
  it("in a query", async () => {
    const all = callers(KindService, KindServiceRoutes);
    await fc.assert(
      sameMessages(all, KindService.method.query, randomMessage(FlatSchema, { queryOnly: true })),
      RUNS,
    );
  });

  it("in a path and a query", async () => {
    const all = callers(KindService, KindServiceRoutes);
    await fc.assert(
      sameMessages(
        all,
        KindService.method.path,
        randomMessage(FlatSchema, { queryOnly: true, pathSafe: true }),
      ),
      RUNS,
    );
  });

  it("in a body", async () => {
    const all = callers(KindService, KindServiceRoutes);
    await fc.assert(
      sameMessages(all, KindService.method.whole, randomMessage(AllSchema, { any: FlatSchema })),
      RUNS,
    );
  });

  it("in a path, a query and a field of the body", async () => {
    const all = callers(KindService, KindServiceRoutes);
    const request = fc
      .tuple(
        randomMessage(AllSchema, { queryOnly: true, pathSafe: true }),
        fc.option(randomMessage(AllSchema, { any: FlatSchema })),
      )
      .map(([outer, rest]) => create(AllSchema, { ...outer, rest: rest ?? undefined } as object));
    await fc.assert(sameMessages(all, KindService.method.part, request), RUNS);
  });

  it.each(KindServiceRoutes.filter(({ rpc }) => rpc.endsWith("/Fields")))(
    "in $path",
    async (route) => {
      const all = callers(KindService, [route]);
      const field = BodiesSchema.fields.find(({ name }) => name === route.body);
      const name = field?.oneof?.localName ?? field?.localName ?? "";
      const request = randomMessage(BodiesSchema, { any: FlatSchema }).map((one) => {
        const value = (one as any)[name];
        const isOther = field?.oneof !== undefined && value?.case !== field.localName;
        return create(BodiesSchema, isOther ? {} : { [name]: value });
      });
      await fc.assert(
        fc.asyncProperty(someOf(all), request, async (some, one) => {
          // JSON has one null for the absence of a Value and for its being null.
          if (name === "anything" && (one as any)[name] === undefined) return;
          await expectSame(some, KindService.method.fields, one);
        }),
        { numRuns: runs(30, 1) },
      );
    },
  );

  it.each(KindServiceRoutes.filter(({ rpc }) => rpc.endsWith("/Stream")))(
    "and comes back in a stream, by $path",
    async (route) => {
      const every = callers(KindService, [route]);
      server.answer = async function* (request) {
        yield request;
        yield { rest: request };
      };
      const all = async (caller: Caller, request: Message) => {
        const messages: Message[] = [];
        const stream = caller["stream"]?.(request) as unknown as AsyncIterable<Message>;
        for await (const one of stream) {
          // By response_body only that field comes.
          const isPart = route.responseBody !== undefined;
          messages.push(isPart ? create(AllSchema, { rest: (one as All).rest as All }) : one);
        }
        return messages.map((one) => bytesOf(AllSchema, one));
      };
      const property = fc.asyncProperty(
        someOf(every),
        randomMessage(AllSchema, { any: FlatSchema }),
        async (some, request) => {
          const results: Record<string, string[]> = {};
          for (const [name, caller] of Object.entries(some)) {
            results[name] = await all(caller, request);
          }
          const { http } = results;
          expect(results).toEqual(
            Object.fromEntries(Object.keys(some).map((name) => [name, http])),
          );
        },
      );
      await fc.assert(property, { numRuns: runs(40, 2) });
    },
  );

  it("of proto2, with groups, defaults and extensions", async () => {
    const all = callers(LegacyService, LegacyServiceRoutes);
    const request = fc
      .tuple(
        randomMessage(OldSchema),
        fc.option(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
        fc.array(fc.string()),
      )
      .map(([old, number, texts]) => {
        if (number !== null) setExtension(old as any, extra, number);
        if (texts.length > 0) setExtension(old as any, extras, texts);
        if (texts.length > 1) setExtension(old as any, Scope_nested_extension, texts[0] ?? "");
        return old;
      });
    await fc.assert(sameMessages(all, LegacyService.method.save, request), RUNS);
  });

  it("of editions, with presence, delimited messages and closed enums", async () => {
    const all = callers(EditionService, EditionServiceRoutes);
    const body = sameMessages(all, EditionService.method.save, randomMessage(NewSchema));
    const query = sameMessages(
      all,
      EditionService.method.load,
      randomMessage(NewSchema, { queryOnly: true }),
    );
    await fc.assert(body, RUNS);
    await fc.assert(query, RUNS);
  });

  it("that is one of the types with their own JSON form", async () => {
    const all = callers(KindService, KindServiceRoutes);
    const { time, value, wrapper, struct, any, nothing } = KindService.method;
    for (const method of [time, value, wrapper, struct, any, nothing]) {
      server.answer = async (request) => (method === wrapper ? { value: 5n } : request);
      const property = sameMessages(all, method, randomMessage(method.input, { any: FlatSchema }));
      await fc.assert(property, { numRuns: runs(30, 1) });
    }
  });

  it("in a path only, if the message is a wrapper", async () => {
    const routes = KindServiceRoutes.filter(
      ({ rpc, method }) => rpc.endsWith("/Wrapper") && method === "GET",
    );
    server.answer = async () => ({ value: 5n });
    for (const route of routes) {
      const all = callers(KindService, [route]);
      const property = fc.asyncProperty(
        someOf(all),
        fc.string({ minLength: 1 }),
        async (some, value) => {
          if (
            route.variables.length > 0 &&
            /^\.\.?$|[\u0000-\u001f\u007f-\u009f]|^\.\.?[/\\]|[/\\]\.\.?$|[/\\]\.\.?[/\\]/.test(
              value,
            )
          )
            return;
          await expectSame(some, KindService.method.wrapper, {
            $typeName: "google.protobuf.StringValue",
            value,
          } as Message);
        },
      );
      await fc.assert(property, { numRuns: runs(50, 2) });
    }
  });

  it("in a path only, if the message is a wrapper of a number", async () => {
    const routes = KindServiceRoutes.filter(({ rpc }) => rpc.endsWith("/Number"));
    for (const route of routes) {
      const all = callers(KindService, [route]);
      const property = sameMessages(
        all,
        KindService.method.number,
        randomMessage(Int64ValueSchema),
      );
      await fc.assert(property, { numRuns: runs(30, 1) });
    }
  });

  it("through templates with several segments, nested variables, wildcards and verbs", async () => {
    const all = callers(PathService, PathServiceRoutes);
    const segment = fc
      .string({ minLength: 1 })
      .map((value) => value.replace(/[\u0000-\u001f\u007f-\u009f/\\]/g, "_"))
      .filter((value) => !/^\.\.?$/.test(value));
    const { several, cancel, nested, single, rest, escaped } = PathService.method;
    const property = fc.asyncProperty(
      someOf(all),
      segment,
      segment,
      fc.bigInt(-5n, 2n ** 63n - 1n),
      async (some, a, b, number) => {
        const names = (name: string) =>
          ({ $typeName: "unusual.paths.v1.PathRequest", name, number }) as unknown as Message;
        await expectSame(some, several, names(`projects/${a}/locations/${b}`));
        await expectSame(some, several, names(`folders/${a}`));
        await expectSame(some, several, names(`organizations/${a}/${b}/${a}`));
        await expectSame(some, cancel, names(`operations/${a}:cancel/${b}`));
        await expectSame(some, cancel, names(`projects/${a}/locations/${b}`));
        await expectSame(some, single, names(`${a}/${b}`));
        await expectSame(some, rest, names(`${a}/${b}`));
        await expectSame(some, escaped, names(a));
        await expectSame(some, nested, {
          ...names(""),
          inner: { ...names(a), inner: names(`a/${b}`) },
        } as Message);
      },
    );
    await fc.assert(property, { numRuns: runs(40, 2) });
  });
});
