import type { TestProjectInlineConfiguration } from "vitest/config"

const names = [
  "core",
  "api",
  "checker",
  "client",
  "http",
  "memory",
  "receivers",
  "s3",
  "sandbox",
  "simulator",
  "testbed",
  "testkit",
  "whatsapp"
]

const project = (
  name: string,
  root: string,
  test: TestProjectInlineConfiguration["test"] = {}
): TestProjectInlineConfiguration => {
  // `source` first, as in `node --conditions=source`; the rest is the default list that this option replaces, but for
  // `module`: Node gets these conditions too, and some packages have modules under it that only bundlers can load
  const conditions = ["source", "node", "development|production"]
  return {
    extends: true,
    root,
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    // where Vitest loads a globalSetup
    environments: { __vitest__: { resolve: { conditions } } },
    test: { name, include: ["test/**/*.test.ts"], ...test }
  }
}

/** Builds the dashboard's pages. */
const dashboard = `${import.meta.dirname}/apps/dashboard/test/globalSetup.ts`

/** Unpacks the browser. */
const browser = `${import.meta.dirname}/apps/server/test/dashboard/globalSetup.ts`

/** Makes the files of embedded databases once. */
const newPglite = `${import.meta.dirname}/packages/postgres/test/newPglite.ts`

/** The test projects, one per package. Vitest does not read this file by itself: `vitest.config.ts` imports it. */
export const projects: Array<TestProjectInlineConfiguration> = [
  // by node:crypto as on Node, and by WebCrypto as elsewhere; isolated, since some tests replace what it loads
  project("verifier", "packages/verifier", { isolate: true, env: { HMAC: "node" } }),
  project("verifier-web", "packages/verifier", {
    isolate: true,
    env: { HMAC: "web" },
    alias: { "#hmac": `${import.meta.dirname}/packages/verifier/src/HmacWebCrypto.ts` }
  }),
  project("effect", "packages/effect", { setupFiles: [newPglite], globalSetup: [dashboard] }),
  ...names.map((name) => project(name, `packages/${name}`)),
  project("postgres", "packages/postgres", {
    setupFiles: [newPglite],
    globalSetup: [`${import.meta.dirname}/packages/postgres/test/globalSetup.ts`]
  }),
  project("server", "apps/server", {
    setupFiles: [newPglite],
    globalSetup: [dashboard, browser],
    // its condition `source` is TypeScript, which Node does not load from an installed package
    server: { deps: { inline: [/\/eventsource-parser\//, /\/client\/streamableHttp\.js/] } }
  }),
  // isolated, since some tests load the pages in several languages
  project("dashboard", "apps/dashboard", { isolate: true }),
  project("bench", "bench"),
  project("simulation", "simulation"),
  project("mutation", "mutation"),
  project("faults", "faults"),
  project("examples", "examples/receivers"),
  project("transactions", "examples/transactions", {
    // takes minutes in any form
    exclude: process.env["EXTENT"] === "full" ? [] : ["test/installed/**"],
    globalSetup: [dashboard]
  }),
  project("packaging", "packaging", {
    // takes minutes in any form
    exclude: process.env["EXTENT"] === "full" ? [] : ["test/night/**", "test/packageManagers.test.ts"],
    globalSetup: [`${import.meta.dirname}/packaging/test/globalSetup.ts`]
  })
]
