import { defineConfig } from "vite";

// Preact by tsconfig alone, no plugin. No inline script or style: the server's policy forbids them.
export default defineConfig({
  root: import.meta.dirname,
  base: "/",
  build: {
    outDir: "../../../dist/web",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rollupOptions: {
      input: {
        page: `${import.meta.dirname}/index.html`,
        "service-worker": `${import.meta.dirname}/service-worker.ts`,
      },
      // A worker serves the folder that it lies in, and must keep its address.
      output: {
        entryFileNames: ({ name }) => (name === "service-worker" ? "[name].js" : "assets/[name]-[hash].js"),
      },
    },
  },
});
