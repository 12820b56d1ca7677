import type { DescService } from "@bufbuild/protobuf";
import { ClientChain } from "../chain/client-chain.ts";
import { type ServiceClient, typedClient } from "../typed-client.ts";
import type { GrpcClientOptions } from "./grpc-client-options.ts";
import { GrpcTransport } from "./grpc-transport.ts";

/**
 * A client of a service over gRPC. Errors are `ServiceError`s with the code that the
 * server gave.
 *
 * @example
 * const skills = createGrpcClient(SkillService, { target: "hub:19001", internalToken });
 * const { skill } = await skills.getSkill({ skillId: "s1" }, { context });
 */
export function createGrpcClient<Service extends DescService>(
  service: Service,
  options: GrpcClientOptions,
): ServiceClient<Service> {
  return typedClient(service, new ClientChain(new GrpcTransport(options), options, options.target));
}
