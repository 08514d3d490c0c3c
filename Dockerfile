# Throughline with the driver for PostgreSQL: docker build -t throughline .
FROM node:22-slim AS build
WORKDIR /source
COPY . .
# Install scripts of dependencies are not needed, and npm pack would build a second time. "npm ci" refuses the lockfile,
# which lacks optional packages of other platforms.
RUN npm install --ignore-scripts && npm run build && mkdir /packed && npm pack --ignore-scripts --pack-destination /packed

FROM node:22-slim
COPY --from=build /packed /packed
# Next to each other, so that throughline finds the optional driver.
RUN npm install --global --ignore-scripts /packed/throughline-*.tgz pg@8 && rm -r /packed && npm cache clean --force
# Tools run as this user, in this folder.
RUN install --directory --owner=node --group=node /home/node/work
USER node
WORKDIR /home/node/work
EXPOSE 4319
ENTRYPOINT ["throughline"]
CMD ["--help"]
