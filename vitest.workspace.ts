import type { TestProjectInlineConfiguration } from "vitest/config"

const names = ["verifier", "core", "api", "http", "memory", "sandbox", "testkit"]

const project = (
  name: string,
  root: string,
  test: TestProjectInlineConfiguration["test"] = {}
): TestProjectInlineConfiguration => {
  // `source` first, as in `node --conditions=source`; the rest is the default list that this option replaces.
  const conditions = ["source", "module", "node", "development|production"]
  return {
    extends: true,
    root,
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: { name, include: ["test/**/*.test.ts"], ...test }
  }
}

/** The test projects, one per package. Vitest does not read this file by itself: `vitest.config.ts` imports it. */
export const projects: Array<TestProjectInlineConfiguration> = [
  ...names.map((name) => project(name, `packages/${name}`)),
  project("postgres", "packages/postgres", {
    globalSetup: [`${import.meta.dirname}/packages/postgres/test/globalSetup.ts`]
  }),
  project("server", "apps/server")
]
