import { ProxyTracerProvider, type Tracer, trace } from "@opentelemetry/api";

/** The name of the instrumentation, as traces carry it. */
const NAME = "svc-access";

/** A tracer of the provider that the process has registered before; undefined where it has none. */
export function registeredTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME)
    : provider.getTracer(NAME);
}
