# Throughline with the driver for PostgreSQL: docker build -t throughline .
FROM node:22-slim AS build
WORKDIR /source
COPY . .
# Install scripts of dependencies are not needed, and npm pack would build a second time.
RUN npm ci --ignore-scripts && npm run build && npm pack --ignore-scripts --pack-destination /tmp

FROM node:22-slim
COPY --from=build /tmp/throughline-*.tgz /tmp/
# Next to each other, so that throughline finds the optional driver.
RUN npm install --global --ignore-scripts /tmp/throughline-*.tgz pg@8 && rm /tmp/throughline-*.tgz && npm cache clean --force
# Tools run as this user, in this folder.
RUN install --directory --owner=node --group=node /home/node/work
USER node
WORKDIR /home/node/work
EXPOSE 4319
ENTRYPOINT ["throughline"]
CMD ["--help"]
