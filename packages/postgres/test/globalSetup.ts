/**
 * One PostgreSQL server for all test files of a run: that of `TEST_DATABASE_URL`, whose user may create databases, or
 * else one from the install.
 */
import type { TestProject } from "vitest/node"
import { type PostgresServer, startServer } from "./PostgresServer.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly postgresUrl: string
  }
}

let server: PostgresServer | undefined

export const setup = async ({ provide }: TestProject): Promise<void> => {
  const given = process.env["TEST_DATABASE_URL"]
  if (given === undefined) server = await startServer("fsync=off", "max_connections=300")
  provide("postgresUrl", given ?? server!.url)
}

export const teardown = async (): Promise<void> => {
  await server?.remove()
}
