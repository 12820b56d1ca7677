/**
 * Tests of handlers and of whole services (`svc-access/testing`). It is not part of what runs in production.
 */
export type { TestCaller, TestService, TestUser } from "./caller.ts";
export { type FakeMethod, type FakeMethods, fakeClient } from "./fake-client.ts";
export { startTestServer, type TestBindings, type TestServerOptions } from "./start-test-server.ts";
export type { TestConfig } from "./test-config.ts";
export { type TestContext, type TestContextOptions, testContext } from "./test-context.ts";
export type { TestRelationship } from "./test-engine.ts";
export { type TestEngine, type TestEngineOptions, testEngine } from "./test-engine.ts";
export type { TestCalls, TestServer } from "./test-server.ts";
