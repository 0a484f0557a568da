/**
 * How the pages are built, and served while they are worked on: `npm run dev` here, beside `npm start` at the root.
 */
import tailwindcss from "@tailwindcss/vite"
import { defineConfig } from "vite"

const service = process.env["WAC_URL"] ?? "http://127.0.0.1:8080"

export default defineConfig(({ command }) => ({
  root: import.meta.dirname,
  // relative once built: a host may mount the pages anywhere, and the server completes the addresses in index.html
  base: command === "build" ? "./" : "/dashboard/",
  plugins: [tailwindcss()],
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  // Trusted Types and a strict policy allow neither inline scripts nor inlined assets
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // a test holds what a browser loads, compressed
    chunkSizeWarningLimit: Infinity,
    // "use client" is for servers that render
    rolldownOptions: {
      checks: { moduleLevelDirective: false },
      // so that a page has the generated constants that it uses, and no file of them is loaded
      optimization: { inlineConst: true },
      // every page loads all of what the entry imports: in one file it names less and packs better
      output: { codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] } }
    }
  },
  server: {
    proxy: Object.fromEntries(
      ["/internal", "/v1", "/docs", "/openapi.json", "/favicon.svg", "/setup"].map((path) => [path, service])
    )
  }
}))
