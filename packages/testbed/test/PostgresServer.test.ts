import { assert, it } from "vitest"
import * as PostgresServer from "../src/PostgresServer.ts"

it("a server that does not start rejects with the reason", async () => {
  const error = await PostgresServer.start("max_connections=many").then(
    () => new Error("it started"),
    (error: unknown) => error
  )
  assert.include(String(error), "PostgreSQL does not start")
  assert.include(String(error), "max_connections")
})
