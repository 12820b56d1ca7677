# svc-iam and, to try it with, the hub of examples/hub:
#
#   docker build --target iam --tag svc-iam .
#   docker build --target hub --tag hub .
#
# Both are bundles on an image with Node.js and nothing else: no shell, no package manager, no root. They
# need a configuration (deploy/compose has one for each) and write only to /data.
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/nodejs24-debian12:nonroot

FROM ${BUILD_IMAGE} AS build
# Certificates of a proxy on the way to the registry of npm, if there is one: a file of the build image.
ARG NODE_EXTRA_CA_CERTS
WORKDIR /src
COPY package.json package-lock.json ./
COPY services/iam/package.json services/iam/
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build \
 && node scripts/link-example.ts \
 && node scripts/bundle-service.ts services/iam /out/iam \
 && node scripts/bundle-service.ts examples/hub /out/hub git/main.ts hub/main.ts \
 && mkdir /out/data

# Only what the services need, apart from all that made it.
FROM scratch AS bundles
COPY --from=build /out /

FROM ${RUNTIME_IMAGE} AS service
# Distroless images run as this user already, others may not.
USER 65532:65532
# Node.js would keep compiled code in /tmp, for commands that start often; a container starts once.
ENV NODE_ENV=production DATA=/data NODE_DISABLE_COMPILE_CACHE=1
COPY --from=bundles --chown=65532:65532 /data /data
VOLUME /data
STOPSIGNAL SIGTERM
# Of the metrics server, whose address is that of the configuration.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/nodejs/bin/node", "/app/dist/health.js"]

FROM service AS hub
ENV HEALTH_URL=http://127.0.0.1:19101/healthz
COPY --from=bundles /hub /app
EXPOSE 18001 19001 19101
ENTRYPOINT ["/nodejs/bin/node"]
CMD ["/app/dist/hub/main.js", "/etc/hub/service.yaml"]

# The last one is built if no target is named.
FROM service AS iam
ENV HEALTH_URL=http://127.0.0.1:19180/healthz
COPY --from=bundles /iam /app
EXPOSE 18080 19080 19180
ENTRYPOINT ["/nodejs/bin/node", "/app/dist/main.js"]
CMD ["serve", "/etc/svc-iam/service.yaml"]
