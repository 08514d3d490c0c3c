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
  },
});
