import type { Tracer } from "@opentelemetry/api";
import { isRegistered, openTelemetry } from "./open-telemetry.ts";

/** The name of the instrumentation, as traces carry it. */
const NAME = "svc-access";

/** A tracer of the provider that the process has registered before; undefined where it has none. */
export function registeredTracer(): Tracer | undefined {
  if (!isRegistered()) return undefined;
  const { ProxyTracerProvider, trace } = openTelemetry();
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME)
    : provider.getTracer(NAME);
}
