# The image of the service. Build it with: docker build -t haversack .
#
# A tag moves. For a release, pin the base by its digest, and let a bot raise it:
#   docker build --build-arg NODE_IMAGE=node:26-bookworm-slim@sha256:… .
# Distroless was looked at: it would take away a shell that nothing here uses, but its Node follows the
# official image late, and the compile cache made below is good for exactly one build of Node.
ARG NODE_IMAGE=node:26-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts: the packages bring what they need, and the image brings Node.
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --prefer-offline --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.ts scripts/bundle-output.ts scripts/start-groups.ts scripts/third-party-licenses.ts ./scripts/
COPY skills ./skills
COPY src ./src
COPY views ./views
COPY models.toml prices.toml ./
COPY workers ./workers
# The JavaScript of the published package, and then what it needs to run.
RUN node scripts/build.ts
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM ${NODE_IMAGE} AS runtime
WORKDIR /app
# 0.0.0.0 is for the container's own network. It needs keys: without HAVERSACK_KEYS_FILE the service
# does not start. The caches are part of the image; the data folder is a volume.
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/var/cache/haversack/compiled \
    HAVERSACK_HOST=0.0.0.0 \
    HAVERSACK_CACHE_DIR=/var/cache/haversack \
    HAVERSACK_DATA_DIR=/var/lib/haversack
RUN mkdir -p /var/lib/haversack /var/cache/haversack \
    && chmod 0700 /var/lib/haversack \
    && chown 65532:65532 /var/lib/haversack /var/cache/haversack
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
# Fills both caches, packed vocabularies and compiled modules, which a read-only root could not keep:
# starts the service on loopback and ends it as soon as it prints its address. Its data is thrown away.
# The modules' cache is good for this user only; the vocabularies may be read by any, as where a cluster
# chooses the user.
RUN HAVERSACK_HOST=127.0.0.1 HAVERSACK_PORT=0 HAVERSACK_WORKERS=1 HAVERSACK_DATA_DIR=/tmp/warm-up node --eval \
    "process.stdout.write = () => process.kill(process.pid, 'SIGTERM'); import('/app/dist/src/cli.js')" haversack serve \
    && chmod -R a+rX /var/cache/haversack \
    && rm -rf /tmp/warm-up
VOLUME /var/lib/haversack
EXPOSE 8787
HEALTHCHECK --interval=15s --timeout=3s --start-period=15s --retries=3 \
    CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.HAVERSACK_PORT || 8787}/readyz`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node is process 1: it gets the signals, and its exit code is the container's.
ENTRYPOINT ["node", "/app/dist/src/cli.js"]
CMD ["serve"]
# Last, since they change with every build.
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Haversack" \
      org.opencontainers.image.description="Packs LLM tool results into fewer tokens, losslessly and provably" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
