import { createRequire } from "node:module";

/** By which all copies of OpenTelemetry's API find what is registered. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

type OpenTelemetry = typeof import("@opentelemetry/api");

let api: OpenTelemetry | undefined;

/** Whether anything is registered with OpenTelemetry, by whichever copy of its API. */
export function isRegistered(): boolean {
  return REGISTERED in globalThis;
}

/**
 * OpenTelemetry's API. It is a hundred files, so it is loaded only where something is registered: who
 * did that has loaded it.
 */
export function openTelemetry(): OpenTelemetry {
  api ??= createRequire(import.meta.url)("@opentelemetry/api") as OpenTelemetry;
  return api;
}
