export type { UnroutedObserver, UnroutedRequest } from "../operation/unrouted-request.ts";
